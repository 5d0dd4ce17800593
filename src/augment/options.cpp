#include "augment/options.h"

#include <algorithm>
#include <numbers>

#include "base/error.h"

namespace maskfit::augment {
namespace {

void read_preprocessing(const spec::AugmentationConfig::Preprocessing& from, Options& options) {
  options.output = {static_cast<int>(from.output_image_width()),
                    static_cast<int>(from.output_image_height())};
  options.channels = from.output_image_channel() == 1 ? 1 : 3;
  options.scale_width = from.scale_width();
  options.scale_height = from.scale_height();
  options.crop = {static_cast<int>(from.crop_left()), static_cast<int>(from.crop_top()),
                  static_cast<int>(from.crop_right()), static_cast<int>(from.crop_bottom())};
  const int width = options.crop.right - options.crop.left, height = options.crop.bottom - options.crop.top;
  if (options.crop.given() && (width != options.output.width || height != options.output.height)) {
    throw base::Error(base::ExitCode::kRefused,
                      fmt::format("the crop is {} x {} pixels, the network's input {} x {}", width, height,
                                  options.output.width, options.output.height),
                      "augmentation_config.preprocessing.crop_right",
                      "make both the same size, or leave the four crop fields out");
  }
}

void read_spatial(const spec::AugmentationConfig::SpatialAugmentation& from, Options& options) {
  options.hflip_probability = from.hflip_probability();
  options.vflip_probability = from.vflip_probability();
  options.zoom_min = from.has_zoom_min() ? from.zoom_min() : 1;
  options.zoom_max = from.has_zoom_max() ? from.zoom_max() : std::max(1.0f, options.zoom_min);
  options.translate_max_x = from.translate_max_x();
  options.translate_max_y = from.translate_max_y();
  options.rotate_max = from.rotate_rad_max();
  options.rotate_probability = from.rotate_probability() == 0 ? 1 : from.rotate_probability();
  options.scale_jitter = from.scale_jitter();
  options.aspect_jitter = from.aspect_jitter();
  options.free_placement = from.has_placement();
  if (!options.free_placement) return;
  const auto& placement = from.placement();
  const auto read = [](bool has, float value) { return has ? value : 1.0f; };
  options.scale_min = read(placement.has_scale_min(), placement.scale_min());
  options.scale_max = read(placement.has_scale_max(), placement.scale_max());
  options.mosaic_scale_min = read(placement.has_mosaic_scale_min(), placement.mosaic_scale_min());
  options.mosaic_scale_max = read(placement.has_mosaic_scale_max(), placement.mosaic_scale_max());
}

void read_color(const spec::AugmentationConfig::ColorAugmentation& from, Options& options) {
  options.brightness_stddev = from.color_shift_stddev();
  options.hue_max = from.hue_rotation_max();
  options.saturation_max = from.saturation_shift_max();
  options.contrast_max = from.contrast_scale_max();
  options.contrast_center = from.contrast_center();
  options.grayscale_probability = from.grayscale_probability();
}

// The quirks of the reference, all in one place.
void restore_quirks(Options& options) {
  options.rotate_max *= static_cast<float>(std::numbers::pi / 180);
  options.vflip_probability = 0;
  options.labels.min_width = options.labels.min_height = 0;
  options.labels.rotated_box = RotatedBox::kTwoCorners;
  if (options.crop.given()) options.labels.outside = Outside::kReferenceCrop;
}

}  // namespace

Options options_from_spec(const spec::AugmentationConfig& config, bool reference_exact) {
  Options options;
  read_preprocessing(config.preprocessing(), options);
  read_spatial(config.spatial_augmentation(), options);
  read_color(config.color_augmentation(), options);
  options.mosaic_probability = config.mosaic_probability();
  options.labels.min_width = config.preprocessing().min_bbox_width();
  options.labels.min_height = config.preprocessing().min_bbox_height();
  options.labels.min_visible_share = config.min_visible_share();
  // A crop takes parts of the scene away for good, so its boxes are cut with it; the reference does so, too.
  if (options.crop.given() || config.min_visible_share() > 0) options.labels.outside = Outside::kClip;
  if (reference_exact) restore_quirks(options);
  return options;
}

}  // namespace maskfit::augment
