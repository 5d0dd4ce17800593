#include "augment/make_plan.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "augment/matrices.h"
#include "base/error.h"
#include "base/rng.h"

namespace maskfit::augment {
namespace {

constexpr float kMosaicCenterLow = 0.3f, kMosaicCenterHigh = 0.7f;  // of the output's sides
constexpr float kMosaicZoom = 2;                                    // beyond covering the rectangle

base::Rng rng_for(const PlanRequest& request, base::Purpose purpose) {
  return {request.seed, purpose, request.epoch, request.draw};
}

// Steps 1 and 2: where an output pixel lies on the canvas when nothing is random. The size of the canvas does
// not matter, as both start at its top left corner.
Mat3 scale_and_crop(const Options& options) {
  Mat3 m = kIdentity3;
  if (options.scale_width != 0 || options.scale_height != 0) {
    const double factor_x = options.scale_width != 0 ? options.scale_width : 1;
    const double factor_y = options.scale_height != 0 ? options.scale_height : 1;
    m = scaling(1 / factor_x, 1 / factor_y);
  }
  return multiply(translation(options.crop.left, options.crop.top), m);
}

double exp_jitter(base::Rng& rng, float limit) {
  return std::exp(rng.uniform(-limit, limit));
}

int int_shift(base::Rng& rng, float limit) {
  const auto bound = static_cast<std::int64_t>(limit);
  return static_cast<int>(rng.uniform_int(-bound, bound));
}

// Steps 3 to 6 on top of `m`. Every number is drawn whether it is needed or not: an option then never changes
// what the others draw.
Mat3 draw_spatial(const Options& options, base::Rng& rng, Mat3 m) {
  const double width = options.output.width, height = options.output.height;
  const bool horizontal = rng.bernoulli(options.hflip_probability);
  const bool vertical = rng.bernoulli(options.vflip_probability);
  m = multiply(flip(horizontal, vertical, width, height), m);

  const int shift_x = int_shift(rng, options.translate_max_x);
  const int shift_y = int_shift(rng, options.translate_max_y);
  m = multiply(translation(shift_x, shift_y), m);

  // Two draws in one expression would come in an order that the compiler chooses.
  const double drawn_ratio = rng.uniform(options.zoom_min, options.zoom_max);
  const double ratio = drawn_ratio / exp_jitter(rng, options.scale_jitter);
  const double stretch = std::sqrt(exp_jitter(rng, options.aspect_jitter));
  const double ratio_x = ratio / stretch, ratio_y = ratio * stretch;
  const double x = rng.uniform() * (width - width / ratio_x);
  const double y = rng.uniform() * (height - height / ratio_y);
  m = multiply(zoom(ratio_x, ratio_y, x, y), m);

  const bool turned = rng.uniform() <= options.rotate_probability;
  const double angle = rng.uniform(-options.rotate_max, options.rotate_max);
  if (turned && options.rotate_max > 0) m = multiply(rotation(angle, width, height), m);
  return m;
}

Matrix4 draw_color(const Options& options, const PlanRequest& request) {
  if (options.channels != 3) return to_float(kIdentity4);
  base::Rng rng = rng_for(request, base::Purpose::kColorAugmentation);
  const double shift = rng.truncated_normal(options.brightness_stddev);
  const double hue = rng.truncated_normal(options.hue_max / 2);
  const double saturation = 1 + rng.uniform(-options.saturation_max, options.saturation_max);
  const double change = rng.truncated_normal(options.contrast_max / 2);
  const bool gray = rng.bernoulli(options.grayscale_probability);
  return to_float(multiply(
      multiply(contrast(change, options.contrast_center), hue_saturation(hue, gray ? 0 : saturation)),
      brightness(shift)));
}

Rect whole(image::Size output) {
  return {0, 0, output.width, output.height};
}

// The four rectangles of a mosaic, left to right, top to bottom, around a point of the middle of the output.
std::array<Rect, 4> draw_rects(image::Size output, base::Rng& rng) {
  const auto inside = [&rng](int side) {
    return static_cast<int>(
        std::lround(static_cast<float>(side) * rng.uniform(kMosaicCenterLow, kMosaicCenterHigh)));
  };
  const int x = inside(output.width), y = inside(output.height);
  return {Rect{0, 0, x, y}, Rect{x, 0, output.width, y}, Rect{0, y, x, output.height},
          Rect{x, y, output.width, output.height}};
}

// One picture of a mosaic: covers `rect` and shows part of the sample there.
Tile mosaic_tile(const Options& options, const Rect& rect, std::int64_t sample, base::Rng& rng) {
  const double width = options.output.width, height = options.output.height;
  const double rect_width = rect.x2 - rect.x1, rect_height = rect.y2 - rect.y1;
  const bool horizontal = rng.bernoulli(options.hflip_probability);
  const bool vertical = rng.bernoulli(options.vflip_probability);
  const double stretch = std::sqrt(exp_jitter(rng, options.aspect_jitter));
  // The smallest factor on the scene at which it still fills the rectangle both ways, and something more.
  const double cover = std::max(rect_width / (width * stretch), rect_height / (height / stretch));
  const double factor = cover * std::pow(kMosaicZoom, rng.uniform());
  const double scene_width = width * factor * stretch, scene_height = height * factor / stretch;
  const double x = rect.x1 + rng.uniform() * (rect_width - scene_width);
  const double y = rect.y1 + rng.uniform() * (rect_height - scene_height);
  Mat3 m = multiply(flip(horizontal, vertical, width, height), scale_and_crop(options));
  m = multiply(zoom(width / scene_width, height / scene_height, x, y), m);
  return {sample, to_float(m), rect};
}

struct ScaleRange {
  float low, high;
};

// A picture of any size anywhere in `rect`: one that is larger than the rectangle is cut by it, one that is
// smaller leaves grey around it.
Tile free_tile(const Options& options, const PlanRequest& request, const Rect& rect, std::int64_t sample,
               ScaleRange scales, base::Rng& rng) {
  const image::Size content = request.content_size ? request.content_size(sample) : options.output;
  const double width = content.width, height = content.height;
  const double scale = std::exp(rng.uniform(std::log(scales.low), std::log(scales.high)));
  const double stretch = std::sqrt(exp_jitter(rng, options.aspect_jitter));
  const bool horizontal = rng.bernoulli(options.hflip_probability);
  const bool vertical = rng.bernoulli(options.vflip_probability);
  const bool turned = rng.uniform() <= options.rotate_probability;
  const double drawn_angle = rng.uniform(-options.rotate_max, options.rotate_max);
  const double angle = turned ? drawn_angle : 0;
  const double scale_x = scale * stretch, scale_y = scale / stretch;
  // Where the picture's centre comes to lie along one axis: uniformly over all places at which the picture
  // lies inside the rectangle, or covers it.
  const auto center = [&rng](double low, double high, double size) {
    const double room = (high - low) - size;
    return low + std::min(room, 0.0) + std::abs(room) * rng.uniform() + size / 2;
  };
  const double x = center(rect.x1, rect.x2, width * scale_x);
  const double y = center(rect.y1, rect.y2, height * scale_y);
  Mat3 m = translation(width / 2, height / 2);
  m = multiply(scaling((horizontal ? -1 : 1) / scale_x, (vertical ? -1 : 1) / scale_y), m);
  m = multiply(rotation(angle, 0, 0), m);
  m = multiply(translation(-x, -y), m);
  return {sample, to_float(m), rect};
}

}  // namespace

Plan plan_without_augmentation(const Options& options, std::int64_t sample) {
  Plan plan;
  plan.tiles.push_back({sample, to_float(scale_and_crop(options)), whole(options.output)});
  return plan;
}

Plan mosaic_plan(const Options& options, const PlanRequest& request) {
  MASKFIT_CHECK(request.sample_count >= 1, "sample_count={}", request.sample_count);
  base::Rng rng = rng_for(request, base::Purpose::kMosaic);
  rng.uniform();  // make_plan's throw for "mosaic or not"
  Plan plan;
  for (const Rect& rect : draw_rects(options.output, rng)) {
    const std::int64_t other = rng.uniform_int(0, request.sample_count - 1);
    const std::int64_t sample = plan.tiles.empty() ? request.sample : other;
    if (options.free_placement) {
      plan.tiles.push_back(free_tile(options, request, rect, sample,
                                     {options.mosaic_scale_min, options.mosaic_scale_max}, rng));
    } else {
      plan.tiles.push_back(mosaic_tile(options, rect, sample, rng));
    }
  }
  plan.color = draw_color(options, request);
  return plan;
}

Plan make_plan(const Options& options, const PlanRequest& request) {
  if (request.sample_count > 0 &&
      rng_for(request, base::Purpose::kMosaic).bernoulli(options.mosaic_probability)) {
    return mosaic_plan(options, request);
  }
  base::Rng rng = rng_for(request, base::Purpose::kSpatialAugmentation);
  Plan plan = plan_without_augmentation(options, request.sample);
  if (options.free_placement) {
    plan.tiles[0] = free_tile(options, request, whole(options.output), request.sample,
                              {options.scale_min, options.scale_max}, rng);
  } else {
    plan.tiles[0].source_from_output = to_float(draw_spatial(options, rng, scale_and_crop(options)));
  }
  plan.color = draw_color(options, request);
  return plan;
}

}  // namespace maskfit::augment
