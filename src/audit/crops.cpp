#include "audit/crops.h"

#include <algorithm>
#include <cmath>

#include "image/resize.h"

namespace maskfit::audit {
namespace {

constexpr int kGrid = 40;               // places compared along each axis
constexpr float kSmallestPart = 0.35f;  // of a side
constexpr float kFirstStep = 0.04f, kLastStep = 0.005f;

float at(const GreyPicture& picture, float x, float y) {
  const float fx = std::clamp(x - 0.5f, 0.0f, static_cast<float>(picture.width - 1));
  const float fy = std::clamp(y - 0.5f, 0.0f, static_cast<float>(picture.height - 1));
  const int x0 = static_cast<int>(fx), y0 = static_cast<int>(fy);
  const int x1 = std::min(x0 + 1, picture.width - 1), y1 = std::min(y0 + 1, picture.height - 1);
  const float ax = fx - static_cast<float>(x0), ay = fy - static_cast<float>(y0);
  const float* top = picture.values.data() + static_cast<std::size_t>(y0) * picture.width;
  const float* bottom = picture.values.data() + static_cast<std::size_t>(y1) * picture.width;
  return (1 - ay) * ((1 - ax) * top[x0] + ax * top[x1]) + ay * ((1 - ax) * bottom[x0] + ax * bottom[x1]);
}

// The part on kGrid x kGrid places, with mean 0 and length 1; all 0 for a part without contrast.
std::vector<float> normalised(const GreyPicture& picture, const boxes::Box& part) {
  std::vector<float> values;
  values.reserve(kGrid * kGrid);
  double sum = 0, squares = 0;
  const auto w = static_cast<float>(picture.width), h = static_cast<float>(picture.height);
  for (int j = 0; j < kGrid; ++j) {
    const float y = (part.y1 + (static_cast<float>(j) + 0.5f) / kGrid * part.height()) * h;
    for (int i = 0; i < kGrid; ++i) {
      const float x = (part.x1 + (static_cast<float>(i) + 0.5f) / kGrid * part.width()) * w;
      const float value = at(picture, x, y);
      values.push_back(value);
      sum += value;
      squares += static_cast<double>(value) * value;
    }
  }
  const double mean = sum / (kGrid * kGrid);
  const double length = std::sqrt(std::max(0.0, squares - sum * mean));
  for (float& value : values) value = length > 1e-3 ? static_cast<float>((value - mean) / length) : 0.0f;
  return values;
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
    for (const float side : {0.92f, 0.84f, 0.76f, 0.68f, 0.6f}) {
      for (const float y : {0.0f, 0.5f, 1.0f}) {
        for (const float x : {0.0f, 0.5f, 1.0f}) {
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
  GreyPicture picture{kPrintSide, kPrintSide, {whole.begin(), whole.end()}};
  Print print{};
  for (int j = 0; j < kPrintSide; ++j) {
    const float y = part.y1 * kPrintSide + (static_cast<float>(j) + 0.5f) * part.height();
    for (int i = 0; i < kPrintSide; ++i) {
      const float x = part.x1 * kPrintSide + (static_cast<float>(i) + 0.5f) * part.width();
      print[static_cast<std::size_t>(j) * kPrintSide + i] =
          static_cast<std::uint8_t>(std::lround(at(picture, x, y)));
    }
  }
  return print;
}

GreyPicture grey_picture(const image::Image& picture, int side) {
  const image::Image small = image::resize_antialias(picture, {side, side});
  GreyPicture grey{side, side, {}};
  grey.values.reserve(static_cast<std::size_t>(side) * side);
  for (std::size_t i = 0; i < small.pixels.size(); i += 3) {
    grey.values.push_back(0.299f * small.pixels[i] + 0.587f * small.pixels[i + 1] +
                          0.114f * small.pixels[i + 2]);
  }
  return grey;
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
  const std::vector<float> wanted = normalised(small, {0, 0, 1, 1});
  double best = product(normalised(whole, *part), wanted);
  for (float step = kFirstStep; step >= kLastStep; step /= 2) {
    // Four rounds of a step at most, so that no part wanders far.
    for (int round = 0; round < 4; ++round) {
      const boxes::Box start = *part;
      for (const boxes::Box& moved : moves(start, step)) {
        const double likeness = product(normalised(whole, moved), wanted);
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
