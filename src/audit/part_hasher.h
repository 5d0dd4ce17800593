#pragma once

// Hashes of many rectangles of a print at once. Private to this folder; see hashes_of_parts().

#include <array>
#include <cstdint>
#include <vector>

#include "dataset/fingerprint.h"

namespace maskfit::audit {

class PartHasher {
 public:
  // `intervals`: start and end of each, as shares of an axis; each `group` of them in turn is combined with
  // itself. REQUIRES intervals.size() to be a multiple of `group`.
  PartHasher(const std::vector<std::array<float, 2>>& intervals, std::size_t group);

  // Of the rectangles (horizontal interval x vertical interval) of each group: those of its first vertical
  // interval first, from left to right.
  std::vector<std::uint64_t> hashes(const dataset::Print& print) const;

 private:
  static constexpr std::size_t kLow = 8;  // coefficients along each axis
  static constexpr std::size_t kSide = dataset::kPrintSide;

  std::size_t group_, intervals_;
  // [interval][u][place]: coefficient u of the interval, as weights of the print's places; and the same
  // transposed for products along rows, [place][interval][u].
  std::vector<float> weights_, transposed_;
};

}  // namespace maskfit::audit
