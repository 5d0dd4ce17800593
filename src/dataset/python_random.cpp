#include "dataset/python_random.h"

#include <bit>

#include "base/error.h"

namespace maskfit::dataset {
namespace {

constexpr std::size_t kShift = 397;
constexpr std::uint32_t kMatrix = 0x9908B0DFu, kUpper = 0x80000000u, kLower = 0x7FFFFFFFu;

}  // namespace

PythonRandom::PythonRandom(std::uint32_t seed) {
  // init_genrand(19650218), then init_by_array with the key [seed].
  state_[0] = 19650218u;
  for (std::uint32_t i = 1; i < kSize; ++i) {
    state_[i] = 1812433253u * (state_[i - 1] ^ (state_[i - 1] >> 30)) + i;
  }
  std::size_t i = 1;
  const auto advance = [&] {
    if (++i == kSize) {
      state_[0] = state_[kSize - 1];
      i = 1;
    }
  };
  for (std::size_t k = 0; k < kSize; ++k, advance()) {
    state_[i] = (state_[i] ^ ((state_[i - 1] ^ (state_[i - 1] >> 30)) * 1664525u)) + seed;
  }
  for (std::size_t k = 0; k < kSize - 1; ++k, advance()) {
    state_[i] =
        (state_[i] ^ ((state_[i - 1] ^ (state_[i - 1] >> 30)) * 1566083941u)) - static_cast<std::uint32_t>(i);
  }
  state_[0] = kUpper;
}

void PythonRandom::twist() {
  for (std::size_t i = 0; i < kSize; ++i) {
    const std::uint32_t y = (state_[i] & kUpper) | (state_[(i + 1) % kSize] & kLower);
    state_[i] = state_[(i + kShift) % kSize] ^ (y >> 1) ^ ((y & 1) != 0 ? kMatrix : 0);
  }
  used_ = 0;
}

std::uint32_t PythonRandom::next_u32() {
  if (used_ == kSize) twist();
  std::uint32_t y = state_[used_++];
  y ^= y >> 11;
  y ^= (y << 7) & 0x9D2C5680u;
  y ^= (y << 15) & 0xEFC60000u;
  return y ^ (y >> 18);
}

std::uint32_t PythonRandom::below(std::uint32_t n) {
  MASKFIT_CHECK(n > 0, "n={}", n);
  const int bits = std::bit_width(n);
  std::uint32_t draw = 0;
  do {
    draw = next_u32() >> (32 - bits);
  } while (draw >= n);
  return draw;
}

}  // namespace maskfit::dataset
