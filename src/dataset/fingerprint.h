#pragma once

// What a picture looks like in few bytes: a perceptual hash to find candidates by, and a small grey picture
// to compare them with.

#include <array>
#include <cstdint>

#include "image/image.h"

namespace maskfit::dataset {

inline constexpr int kPrintSide = 32;

// The whole picture squeezed to 32 x 32 grey values, row by row.
using Print = std::array<std::uint8_t, kPrintSide * kPrintSide>;

// 0.299 R + 0.587 G + 0.114 B of an RGB picture, as a picture of one channel.
image::Image luma(const image::Image& picture);

// The picture's luma(), squeezed. REQUIRES an RGB picture.
Print print_of(const image::Image& picture);
Print mirrored(const Print& print);

// Bit 8 v + u is the sign of the print's two-dimensional DCT-II coefficient (u, v), 0 <= u, v < 8; bit 0, the
// mean's, is always 0. Scaling, recompression and evenly changed light move few bits.
std::uint64_t hash_of(const Print& print);
// The hash of the mirrored picture: a coefficient of odd u changes its sign and no other does.
constexpr std::uint64_t mirrored(std::uint64_t hash) {
  return hash ^ 0xAAAAAAAAAAAAAAAAULL;
}
// Bits that differ, 0 .. 63.
int distance(std::uint64_t a, std::uint64_t b);

// Standard deviation of the grey values, 0 .. 127.5.
double contrast(const Print& print);
// Correlation of the grey values, -1 .. 1: 1 for the same picture in any light. 0 for one without contrast.
double correlation(const Print& a, const Print& b);

}  // namespace maskfit::dataset
