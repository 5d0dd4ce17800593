#pragma once

// The part of CPython's `random` that the reference's converter draws from: MT19937 (Matsumoto and Nishimura,
// "Mersenne Twister", ACM TOMACS 8, 1998) seeded by init_by_array. Only for folds that must come out in the
// reference's order; everything else draws from base::Rng.

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace maskfit::dataset {

class PythonRandom {
 public:
  // random.seed(seed) for a seed of at most 32 bits.
  explicit PythonRandom(std::uint32_t seed);

  std::uint32_t next_u32();
  // Uniform in [0, n): as many bits as n has, drawn until below n. REQUIRES n > 0.
  std::uint32_t below(std::uint32_t n);

  // random.shuffle: from the end, each item changes places with one at or before it.
  template <typename Item>
  void shuffle(std::vector<Item>& items) {
    for (std::size_t i = items.size(); i-- > 1;) {
      std::swap(items[i], items[below(static_cast<std::uint32_t>(i + 1))]);
    }
  }

 private:
  static constexpr std::size_t kSize = 624;
  void twist();

  std::array<std::uint32_t, kSize> state_;
  std::size_t used_ = kSize;
};

}  // namespace maskfit::dataset
