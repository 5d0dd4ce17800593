#include "augment/apply.h"

#include <algorithm>
#include <vector>

#include "augment/matrices.h"
#include "augment/row_kernels.h"
#include "base/error.h"

namespace maskfit::augment {
namespace {

constexpr float kPerLevel = 1.0f / 255.0f;  // 8-bit level to 0..1
constexpr int kPadding = 2;                 // pixels of fill at either end of a blended row

// The output rows of one tile, and where in `planes` the pixel (rect.x1, y) of each channel lies.
struct Target {
  float* chw;
  image::Size size;
  int channels;

  float* at(int channel, int x, int y) const {
    return chw + (static_cast<std::size_t>(channel) * size.height + y) * size.width + x;
  }
};

// Where an output coordinate falls between two source pixels: `low` and low + 1. What lies far outside is
// moved to just outside, where all neighbours are fill as well.
struct Between {
  int low;
  float weight_high;
};

Between between(float place, int length) {
  const float inside = std::clamp(place, -2.0f, static_cast<float>(length));
  int low = static_cast<int>(inside);
  if (static_cast<float>(low) > inside) --low;  // towards minus infinity
  return {low, inside - static_cast<float>(low)};
}

void fill_tile(const Target& target, const Rect& rect, float fill) {
  for (int c = 0; c < target.channels; ++c) {
    for (int y = rect.y1; y < rect.y2; ++y) std::fill_n(target.at(c, rect.x1, y), rect.x2 - rect.x1, fill);
  }
}

// A source row blended with the next one, padded with fill at both ends.
class BlendedRow {
 public:
  BlendedRow(const image::Image& source, float fill)
      : source_(source),
        fill_(fill),
        values_(static_cast<std::size_t>(source.width + 2 * kPadding) * source.channels, fill) {
    zeros_.assign(static_cast<std::size_t>(source.width) * source.channels, 0);
  }

  // Blends the pixels [first, first + count) of the two rows. False when both rows are outside.
  bool blend(const Between& rows, int first, int pixels) {
    const bool low_inside = rows.low >= 0 && rows.low < source_.height;
    const bool high_inside = rows.low >= -1 && rows.low + 1 < source_.height;
    if (!low_inside && !high_inside) return false;
    const int offset = first * source_.channels, count = pixels * source_.channels;
    float* out = values_.data() + kPadding * source_.channels + offset;
    const float weight_low = 1 - rows.weight_high;
    blend_rows(low_inside ? source_.row(rows.low) + offset : zeros_.data(),
               high_inside ? source_.row(rows.low + 1) + offset : zeros_.data(), weight_low * kPerLevel,
               rows.weight_high * kPerLevel, count, out);
    // A row outside took part as zeros; its fill is added here, since it need not be a whole 8-bit level.
    const float outside = (low_inside ? 0 : weight_low) + (high_inside ? 0 : rows.weight_high);
    if (outside > 0) {
      for (int i = 0; i < count; ++i) out[i] += outside * fill_;
    }
    return true;
  }

  const float* values() const { return values_.data(); }

 private:
  const image::Image& source_;
  float fill_;
  std::vector<float> values_;
  std::vector<std::uint8_t> zeros_;
};

// Rows and columns of the output are rows and columns of the source: one vertical blend a row, then one
// horizontal one.
void warp_axis_aligned(const Tile& tile, const image::Image& source, float fill, const Target& target) {
  if (tile.output_rect.x1 == tile.output_rect.x2) return;
  const Matrix3& m = tile.source_from_output;
  const Rect& rect = tile.output_rect;
  std::vector<ColumnTap> taps;
  taps.reserve(static_cast<std::size_t>(rect.x2 - rect.x1));
  for (int x = rect.x1; x < rect.x2; ++x) {
    const Between columns = between((static_cast<float>(x) + 0.5f) * m[0] + m[6] - 0.5f, source.width);
    taps.push_back({(columns.low + kPadding) * source.channels, columns.weight_high});
  }
  const auto [left, right] = std::minmax_element(
      taps.begin(), taps.end(), [](const ColumnTap& a, const ColumnTap& b) { return a.offset < b.offset; });
  const int first = std::clamp(left->offset / source.channels - kPadding, 0, source.width);
  const int last = std::clamp(right->offset / source.channels - kPadding + 2, first, source.width);
  BlendedRow row(source, fill);
  for (int y = rect.y1; y < rect.y2; ++y) {
    const Between rows = between((static_cast<float>(y) + 0.5f) * m[4] + m[7] - 0.5f, source.height);
    if (!row.blend(rows, first, last - first)) {
      fill_tile(target, {rect.x1, y, rect.x2, y + 1}, fill);
    } else if (source.channels == 3) {
      gather_rgb(row.values(), taps.data(), rect.x2 - rect.x1, target.at(0, rect.x1, y),
                 target.at(1, rect.x1, y), target.at(2, rect.x1, y));
    } else {
      gather_grey(row.values(), taps.data(), rect.x2 - rect.x1, target.at(0, rect.x1, y));
    }
  }
}

// Blends the four neighbours of one place.
template <int Channels>
void sample_at_edge(const image::Image& source, const Between& column, const Between& row, float fill,
                    float* out) {
  if (column.low < -1 || column.low >= source.width || row.low < -1 || row.low >= source.height) {
    std::fill_n(out, Channels, fill);
    return;
  }
  std::fill_n(out, Channels, 0.0f);
  for (int dy = 0; dy < 2; ++dy) {
    for (int dx = 0; dx < 2; ++dx) {
      const float weight = (dx != 0 ? column.weight_high : 1 - column.weight_high) *
                           (dy != 0 ? row.weight_high : 1 - row.weight_high);
      const int x = column.low + dx, y = row.low + dy;
      const bool inside = x >= 0 && x < source.width && y >= 0 && y < source.height;
      const std::uint8_t* pixel = inside ? source.row(y) + x * Channels : nullptr;
      for (int c = 0; c < Channels; ++c) out[c] += weight * (inside ? pixel[c] * kPerLevel : fill);
    }
  }
}

// Where the output pixels of one row lie on the source: (x + .5) * m + row, for each axis.
struct RowMap {
  float step_x, row_x, step_y, row_y;

  float source_x(int x) const { return (static_cast<float>(x) + 0.5f) * step_x + row_x; }
  float source_y(int x) const { return (static_cast<float>(x) + 0.5f) * step_y + row_y; }
};

// The run [*begin, *end) of output pixels whose neighbours all lie inside the source, one column to spare
// (the kernel reads four bytes a pixel). The map is monotonic, so there is one run at most.
void find_inside(const RowMap& map, const image::Image& source, int* begin, int* end) {
  const auto width = static_cast<float>(source.width - 2), height = static_cast<float>(source.height - 1);
  const auto inside = [&](int x) {
    const float sx = map.source_x(x), sy = map.source_y(x);
    return sx >= 0 && sx < width && sy >= 0 && sy < height;
  };
  while (*begin < *end && !inside(*begin)) ++*begin;
  while (*begin < *end && !inside(*end - 1)) --*end;
}

template <int Channels>
void warp_edge(const RowMap& map, const image::Image& source, float fill, const Target& target, int y, int x1,
               int x2) {
  for (int x = x1; x < x2; ++x) {
    const Between column = between(map.source_x(x), source.width);
    const Between row = between(map.source_y(x), source.height);
    float pixel[Channels];
    sample_at_edge<Channels>(source, column, row, fill, pixel);
    for (int c = 0; c < Channels; ++c) *target.at(c, x, y) = pixel[c];
  }
}

template <int Channels>
void warp_general(const Tile& tile, const image::Image& source, float fill, const Target& target) {
  const Matrix3& m = tile.source_from_output;
  const Rect& rect = tile.output_rect;
  const std::ptrdiff_t stride = static_cast<std::ptrdiff_t>(source.width) * Channels;
  for (int y = rect.y1; y < rect.y2; ++y) {
    const float place = static_cast<float>(y) + 0.5f;
    const RowMap map{m[0], place * m[3] + m[6] - 0.5f, m[1], place * m[4] + m[7] - 0.5f};
    int begin = rect.x1, end = Channels == 3 ? rect.x2 : rect.x1;
    find_inside(map, source, &begin, &end);
    warp_edge<Channels>(map, source, fill, target, y, rect.x1, begin);
    if (begin < end) {
      sample_rgb({source.pixels.data(), stride, map.step_x, map.row_x, map.step_y, map.row_y}, begin,
                 end - begin, target.at(0, begin, y), target.at(1, begin, y), target.at(2, begin, y));
    }
    warp_edge<Channels>(map, source, fill, target, y, end, rect.x2);
  }
}

void warp_tile(const Tile& tile, const image::Image& source, float fill, const Target& target) {
  const Matrix3& m = tile.source_from_output;
  const Rect& r = tile.output_rect;
  MASKFIT_CHECK(r.x1 >= 0 && r.y1 >= 0 && r.x1 <= r.x2 && r.y1 <= r.y2 && r.x2 <= target.size.width &&
                    r.y2 <= target.size.height,
                "rect={},{},{},{} output={}x{}", r.x1, r.y1, r.x2, r.y2, target.size.width,
                target.size.height);
  MASKFIT_CHECK(m[2] == 0 && m[5] == 0 && m[8] == 1, "third column {} {} {}", m[2], m[5], m[8]);
  MASKFIT_CHECK(source.channels == target.channels, "channels={} first={}", source.channels, target.channels);
  if (m[1] == 0 && m[3] == 0) {
    warp_axis_aligned(tile, source, fill, target);
  } else if (source.channels == 3) {
    warp_general<3>(tile, source, fill, target);
  } else {
    warp_general<1>(tile, source, fill, target);
  }
}

bool tiles_cover(const Plan& plan, image::Size output) {
  std::int64_t covered = 0;
  for (const Tile& tile : plan.tiles) {
    const Rect& r = tile.output_rect;
    covered += static_cast<std::int64_t>(r.x2 - r.x1) * (r.y2 - r.y1);
  }
  return covered >= static_cast<std::int64_t>(output.width) * output.height;
}

}  // namespace

void apply(const Plan& plan, std::span<const image::Image* const> sources, image::Size output, float* chw) {
  MASKFIT_CHECK(!plan.tiles.empty() && plan.tiles.size() == sources.size(), "tiles={} sources={}",
                plan.tiles.size(), sources.size());
  const Target target{chw, output, sources[0]->channels};
  MASKFIT_CHECK(target.channels == 3 || target.channels == 1, "channels={}", target.channels);
  if (!tiles_cover(plan, output)) fill_tile(target, {0, 0, output.width, output.height}, plan.fill);
  for (std::size_t i = 0; i < plan.tiles.size(); ++i)
    warp_tile(plan.tiles[i], *sources[i], plan.fill, target);
  if (target.channels != 3 || plan.color == to_float(kIdentity4)) return;
  for (int y = 0; y < output.height; ++y) {
    transform_colors(plan.color, output.width, target.at(0, 0, y), target.at(1, 0, y), target.at(2, 0, y));
  }
}

}  // namespace maskfit::augment
