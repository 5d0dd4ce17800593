#include "dataset/fingerprint.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "image/resize.h"

namespace maskfit::dataset {
namespace {

constexpr int kLow = 8;  // coefficients along each axis

// [u][x]: cos(pi (2x + 1) u / 64).
using Cosines = std::array<std::array<float, kPrintSide>, kLow>;

Cosines make_cosines() {
  Cosines cosines{};
  for (int u = 0; u < kLow; ++u) {
    for (int x = 0; x < kPrintSide; ++x) {
      cosines[u][x] = static_cast<float>(std::cos(std::numbers::pi * (2 * x + 1) * u / (2.0 * kPrintSide)));
    }
  }
  return cosines;
}

struct Moments {
  double mean = 0, deviation = 0;
};

Moments moments(const Print& print) {
  std::int64_t sum = 0, squares = 0;
  for (const std::uint8_t value : print) {
    sum += value;
    squares += value * value;
  }
  const auto n = static_cast<double>(print.size());
  const double mean = static_cast<double>(sum) / n;
  return {mean, std::sqrt(std::max(0.0, static_cast<double>(squares) / n - mean * mean))};
}

}  // namespace

image::Image luma(const image::Image& picture) {
  MASKFIT_CHECK(picture.channels == 3, "channels={}", picture.channels);
  image::Image grey{picture.width, picture.height, 1, {}};
  grey.pixels.resize(picture.pixels.size() / 3);
  const std::uint8_t* rgb = picture.pixels.data();
  for (std::uint8_t& value : grey.pixels) {
    // 2^16 times the weights, which add up to 1.
    value = static_cast<std::uint8_t>((19595u * rgb[0] + 38470u * rgb[1] + 7471u * rgb[2] + 32768u) >> 16);
    rgb += 3;
  }
  return grey;
}

Print print_of(const image::Image& picture) {
  const image::Image small = image::resize_antialias(luma(picture), {kPrintSide, kPrintSide});
  Print print{};
  std::copy(small.pixels.begin(), small.pixels.end(), print.begin());
  return print;
}

Print mirrored(const Print& print) {
  Print turned{};
  for (int y = 0; y < kPrintSide; ++y) {
    const auto row = print.begin() + static_cast<std::ptrdiff_t>(y) * kPrintSide;
    std::reverse_copy(row, row + kPrintSide, turned.begin() + static_cast<std::ptrdiff_t>(y) * kPrintSide);
  }
  return turned;
}

std::uint64_t hash_of(const Print& print) {
  static const Cosines cosines = make_cosines();
  std::array<std::array<float, kLow>, kPrintSide> rows{};  // [y][u]
  for (int y = 0; y < kPrintSide; ++y) {
    for (int u = 0; u < kLow; ++u) {
      float sum = 0;
      for (int x = 0; x < kPrintSide; ++x)
        sum += cosines[u][x] * static_cast<float>(print[static_cast<std::size_t>(y) * kPrintSide + x]);
      rows[y][u] = sum;
    }
  }
  std::uint64_t hash = 0;
  for (int v = 0; v < kLow; ++v) {
    for (int u = 0; u < kLow; ++u) {
      float sum = 0;
      for (int y = 0; y < kPrintSide; ++y) sum += cosines[v][y] * rows[y][u];
      if (sum > 0 && (u != 0 || v != 0)) hash |= std::uint64_t{1} << (8 * v + u);
    }
  }
  return hash;
}

int distance(std::uint64_t a, std::uint64_t b) {
  return std::popcount(a ^ b);
}

double contrast(const Print& print) {
  return moments(print).deviation;
}

double correlation(const Print& a, const Print& b) {
  std::int64_t products = 0;
  for (std::size_t i = 0; i < a.size(); ++i) products += a[i] * b[i];
  const Moments ma = moments(a), mb = moments(b);
  if (ma.deviation == 0 || mb.deviation == 0) return 0;
  const double covariance = static_cast<double>(products) / static_cast<double>(a.size()) - ma.mean * mb.mean;
  return covariance / (ma.deviation * mb.deviation);
}

}  // namespace maskfit::dataset
