#include "base/rng.h"

#include <cmath>
#include <numbers>
#include <numeric>

#include "base/error.h"

namespace maskfit::base {
namespace {

// SplitMix64's finaliser: spreads a 64-bit seed over the 32 bits of a Philox key.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

}  // namespace

Rng::Rng(std::uint64_t seed, Purpose purpose, std::uint64_t epoch, std::uint64_t sample) {
  const std::uint64_t mixed = mix(seed);
  key_[0] = static_cast<std::uint32_t>(mixed);
  key_[1] = static_cast<std::uint32_t>(mixed >> 32) ^ (static_cast<std::uint32_t>(purpose) * 0x9E3779B9u);
  counter_[0] = 0;
  counter_[1] = static_cast<std::uint32_t>(epoch);
  counter_[2] = static_cast<std::uint32_t>(sample);
  counter_[3] = static_cast<std::uint32_t>(sample >> 32);
}

void Rng::refill() {
  std::uint32_t c[4] = {counter_[0], counter_[1], counter_[2], counter_[3]};
  std::uint32_t k[2] = {key_[0], key_[1]};
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = 0xD2511F53ull * c[0];
    const std::uint64_t p1 = 0xCD9E8D57ull * c[2];
    const std::uint32_t n0 = static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ k[0];
    const std::uint32_t n2 = static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ k[1];
    c[1] = static_cast<std::uint32_t>(p1);
    c[3] = static_cast<std::uint32_t>(p0);
    c[0] = n0;
    c[2] = n2;
    k[0] += 0x9E3779B9u;
    k[1] += 0xBB67AE85u;
  }
  for (int i = 0; i < 4; ++i) block_[i] = c[i];
  ++counter_[0];
  used_ = 0;
}

std::uint32_t Rng::next_u32() {
  if (used_ == 4) refill();
  return block_[used_++];
}

float Rng::uniform() {
  return static_cast<float>(next_u32() >> 8) * 0x1.0p-24f;
}

float Rng::uniform(float low, float high) {
  return low + (high - low) * uniform();
}

std::int64_t Rng::uniform_int(std::int64_t low, std::int64_t high) {
  MASKFIT_CHECK(low <= high, "low={} high={}", low, high);
  const std::uint64_t span = static_cast<std::uint64_t>(high - low) + 1;
  const std::uint64_t draw = (static_cast<std::uint64_t>(next_u32()) << 32) | next_u32();
  // The bias of a 64-bit remainder is below 2^-32 for every span that occurs here.
  return low + static_cast<std::int64_t>(span == 0 ? draw : draw % span);
}

float Rng::normal() {
  const double u1 = (static_cast<double>(next_u32()) + 1.0) * 0x1.0p-32;  // (0, 1]
  const double u2 = static_cast<double>(next_u32()) * 0x1.0p-32;
  return static_cast<float>(std::sqrt(-2.0 * std::log(u1)) * std::cos(2.0 * std::numbers::pi * u2));
}

float Rng::truncated_normal(float sigma) {
  float x = normal();
  while (std::abs(x) > 2.0f) x = normal();
  return x * sigma;
}

std::vector<std::int64_t> Rng::permutation(std::int64_t n) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  for (std::int64_t i = n - 1; i > 0; --i) std::swap(order[i], order[uniform_int(0, i)]);
  return order;
}

}  // namespace maskfit::base
