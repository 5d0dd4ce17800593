#include "audit/crops.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "audit/part_hasher.h"
#include "image/resize.h"

namespace maskfit::audit {

using dataset::kPrintSide;

namespace {

constexpr int kGrid = 40;               // places compared along each axis; >= kPrintSide
constexpr float kSmallestPart = 0.35f;  // of a side
// What parts are made of: intervals of an axis, by length and by where they lie (start, middle, end).
constexpr float kSides[] = {0.92f, 0.84f, 0.76f, 0.68f, 0.6f};
constexpr float kPlaces[] = {0.0f, 0.5f, 1.0f};
constexpr float kFirstStep = 0.04f, kLastStep = 0.005f;

// Between which two of `size` values a place lies, and how near to the second.
struct Between {
  std::size_t low = 0, high = 0;
  float share = 0;
};

Between between(float place, int size) {
  const float f = std::clamp(place - 0.5f, 0.0f, static_cast<float>(size - 1));
  const int low = static_cast<int>(f);
  return {static_cast<std::size_t>(low), static_cast<std::size_t>(std::min(low + 1, size - 1)),
          f - static_cast<float>(low)};
}

// Values of the part on `side` x `side` places in the middle of as many cells, row by row.
void resampled(const GreyPicture& picture, const boxes::Box& part, int side, std::vector<float>* values) {
  const auto w = static_cast<float>(picture.width), h = static_cast<float>(picture.height);
  std::array<Between, kGrid> columns{};
  for (int i = 0; i < side; ++i) {
    const float x = part.x1 + (static_cast<float>(i) + 0.5f) / static_cast<float>(side) * part.width();
    columns[static_cast<std::size_t>(i)] = between(x * w, picture.width);
  }
  values->clear();
  for (int j = 0; j < side; ++j) {
    const float y = part.y1 + (static_cast<float>(j) + 0.5f) / static_cast<float>(side) * part.height();
    const Between row = between(y * h, picture.height);
    const float* top = picture.values.data() + row.low * static_cast<std::size_t>(picture.width);
    const float* bottom = picture.values.data() + row.high * static_cast<std::size_t>(picture.width);
    for (int i = 0; i < side; ++i) {
      const Between& column = columns[static_cast<std::size_t>(i)];
      const float upper = top[column.low] + column.share * (top[column.high] - top[column.low]);
      const float lower = bottom[column.low] + column.share * (bottom[column.high] - bottom[column.low]);
      values->push_back(upper + row.share * (lower - upper));
    }
  }
}

// The part on kGrid x kGrid places, with mean 0 and length 1; all 0 for a part without contrast.
void normalised(const GreyPicture& picture, const boxes::Box& part, std::vector<float>* values) {
  resampled(picture, part, kGrid, values);
  double sum = 0, squares = 0;
  for (const float value : *values) {
    sum += value;
    squares += static_cast<double>(value) * value;
  }
  const double mean = sum / (kGrid * kGrid);
  const double length = std::sqrt(std::max(0.0, squares - sum * mean));
  for (float& value : *values) value = length > 1e-3 ? static_cast<float>((value - mean) / length) : 0.0f;
}

double product(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

bool allowed(const boxes::Box& part) {
  return part.x1 >= 0 && part.y1 >= 0 && part.x2 <= 1 && part.y2 <= 1 && part.width() >= kSmallestPart &&
         part.height() >= kSmallestPart;
}

// The moves of one step: each edge alone, and the whole part along each axis.
std::vector<boxes::Box> moves(const boxes::Box& part, float step) {
  std::vector<boxes::Box> all;
  for (const float s : {-step, step}) {
    all.push_back({part.x1 + s, part.y1, part.x2, part.y2});
    all.push_back({part.x1, part.y1 + s, part.x2, part.y2});
    all.push_back({part.x1, part.y1, part.x2 + s, part.y2});
    all.push_back({part.x1, part.y1, part.x2, part.y2 + s});
    all.push_back({part.x1 + s, part.y1, part.x2 + s, part.y2});
    all.push_back({part.x1, part.y1 + s, part.x2, part.y2 + s});
  }
  std::erase_if(all, [](const boxes::Box& moved) { return !allowed(moved); });
  return all;
}

}  // namespace

const std::vector<boxes::Box>& tried_parts() {
  static const std::vector<boxes::Box> parts = [] {
    std::vector<boxes::Box> all;
    for (const float side : kSides) {
      for (const float y : kPlaces) {
        for (const float x : kPlaces) {
          const float left = x * (1 - side), top = y * (1 - side);
          all.push_back({left, top, left + side, top + side});
        }
      }
    }
    return all;
  }();
  return parts;
}

Print print_of_part(const Print& whole, const boxes::Box& part) {
  const GreyPicture picture{kPrintSide, kPrintSide, {whole.begin(), whole.end()}};
  std::vector<float> values;
  resampled(picture, part, kPrintSide, &values);
  Print print{};
  std::transform(values.begin(), values.end(), print.begin(),
                 [](float value) { return static_cast<std::uint8_t>(std::lround(value)); });
  return print;
}

std::vector<std::uint64_t> hashes_of_parts(const Print& whole) {
  static const std::vector<std::array<float, 2>> intervals = [] {
    std::vector<std::array<float, 2>> all;
    for (const float side : kSides) {
      for (const float place : kPlaces) all.push_back({place * (1 - side), place * (1 - side) + side});
    }
    return all;
  }();
  static const PartHasher hasher(intervals, std::size(kPlaces));
  return hasher.hashes(whole);
}

GreyPicture grey_picture(const image::Image& picture, int side) {
  const image::Image small = image::resize_antialias(dataset::luma(picture), {side, side});
  return {side, side, {small.pixels.begin(), small.pixels.end()}};
}

GreyPicture mirrored(const GreyPicture& picture) {
  GreyPicture turned = picture;
  for (int y = 0; y < picture.height; ++y) {
    const auto row = turned.values.begin() + static_cast<std::ptrdiff_t>(y) * picture.width;
    std::reverse(row, row + picture.width);
  }
  return turned;
}

double place_part(const GreyPicture& whole, const GreyPicture& small, boxes::Box* part) {
  std::vector<float> wanted, tried;
  normalised(small, {0, 0, 1, 1}, &wanted);
  normalised(whole, *part, &tried);
  double best = product(tried, wanted);
  for (float step = kFirstStep; step >= kLastStep; step /= 2) {
    // Four rounds of a step at most, so that no part wanders far.
    for (int round = 0; round < 4; ++round) {
      const boxes::Box start = *part;
      for (const boxes::Box& moved : moves(start, step)) {
        normalised(whole, moved, &tried);
        const double likeness = product(tried, wanted);
        if (likeness > best) {
          best = likeness;
          *part = moved;
        }
      }
      if (*part == start) break;
    }
  }
  return best;
}

}  // namespace maskfit::audit
