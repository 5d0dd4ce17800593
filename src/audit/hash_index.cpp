#include "audit/hash_index.h"

#include <algorithm>
#include <bit>

#include "base/error.h"

namespace maskfit::audit {
namespace {

constexpr std::uint32_t kValues = 1u << 16;

std::uint32_t band_of(std::uint64_t hash, int band) {
  return static_cast<std::uint32_t>(hash >> (16 * band)) & (kValues - 1);
}

// All values of 16 bits with at most `bits` bits set, the fewest first.
std::vector<std::uint32_t> masks(int bits) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t value = 0; value < kValues; ++value) {
    if (std::popcount(value) <= bits) all.push_back(value);
  }
  std::sort(all.begin(), all.end(), [](std::uint32_t a, std::uint32_t b) {
    return std::pair(std::popcount(a), a) < std::pair(std::popcount(b), b);
  });
  return all;
}

}  // namespace

HashIndex::HashIndex(std::vector<std::uint64_t> hashes) : hashes_(std::move(hashes)) {
  for (int b = 0; b < kBands; ++b) {
    Band& band = bands_[b];
    band.starts.assign(kValues + 1, 0);
    for (const std::uint64_t hash : hashes_) ++band.starts[band_of(hash, b) + 1];
    for (std::uint32_t value = 0; value < kValues; ++value) band.starts[value + 1] += band.starts[value];
    std::vector<std::uint32_t> next(band.starts.begin(), band.starts.end() - 1);
    band.occupied.assign(kValues / 64, 0);
    for (std::uint32_t value = 0; value < kValues; ++value) {
      if (band.starts[value + 1] > band.starts[value])
        band.occupied[value / 64] |= std::uint64_t{1} << (value % 64);
    }
    band.members.resize(hashes_.size());
    for (std::uint32_t i = 0; i < hashes_.size(); ++i) band.members[next[band_of(hashes_[i], b)]++] = i;
  }
}

void HashIndex::near(std::uint64_t hash, int radius, std::uint32_t below,
                     const std::function<void(std::uint32_t, int)>& found) const {
  MASKFIT_CHECK(radius >= 0 && radius <= kMaxRadius, "radius={}", radius);
  static const std::vector<std::uint32_t> masks_of_bits[] = {masks(0), masks(1), masks(2)};
  const int in_band = radius / kBands;
  for (int b = 0; b < kBands; ++b) {
    const Band& band = bands_[b];
    for (const std::uint32_t mask : masks_of_bits[in_band]) {
      const std::uint32_t value = band_of(hash, b) ^ mask;
      if ((band.occupied[value / 64] >> (value % 64) & 1) == 0) continue;
      for (std::uint32_t k = band.starts[value]; k < band.starts[value + 1]; ++k) {
        const std::uint32_t i = band.members[k];
        if (i >= below) break;  // members of a bucket ascend
        const std::uint64_t differs = hashes_[i] ^ hash;
        const int bits = std::popcount(differs);
        if (bits > radius) continue;
        // Reported by the first band that is near enough, so once.
        bool earlier = false;
        for (int e = 0; e < b && !earlier; ++e) earlier = std::popcount(band_of(differs, e)) <= in_band;
        if (!earlier) found(i, bits);
      }
    }
  }
}

}  // namespace maskfit::audit
