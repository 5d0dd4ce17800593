#pragma once

// What may happen to training pictures: the augmentation section of a spec, checked and in plain numbers.

#include "augment/matrices.h"
#include "image/image.h"
#include "spec/augmentation.pb.h"

namespace maskfit::augment {

// Boxes that no longer lie wholly inside the output.
enum class Outside {
  kKeep,           // neither cut nor removed; the rasteriser copes (reference, no crop in the spec)
  kClip,           // cut at the output's edge; see min_visible_share
  kReferenceCrop,  // cut to the crop rectangle in the coordinates before the crop (a quirk of the reference)
};

struct LabelOptions {
  RotatedBox rotated_box = RotatedBox::kEllipse;
  Outside outside = Outside::kKeep;
  // kClip: a truth of which a smaller share of its area is left becomes `ignore`; one with nothing left goes.
  float min_visible_share = 0;
  // Truths smaller than this in the output are left out, px. Before any change of the picture, truths
  // narrower or lower than one canvas pixel are left out in any case.
  float min_width = 0, min_height = 0;
};

struct CropRect {
  int left = 0, top = 0, right = 0, bottom = 0;  // px; all 0: none
  bool given() const { return left != 0 || top != 0 || right != 0 || bottom != 0; }
};

struct Options {
  image::Size output;  // the network's input, px
  int channels = 3;    // 3 or 1; colours change only with 3

  // Always applied, to validation pictures as well.
  float scale_width = 0, scale_height = 0;  // factors before the crop; 0: none
  CropRect crop;                            // its size is `output`

  // Random, see make_plan.h for the distributions.
  float hflip_probability = 0, vflip_probability = 0;
  float translate_max_x = 0, translate_max_y = 0;  // px
  float zoom_min = 1, zoom_max = 1;                // above 1 the scene gets smaller
  float scale_jitter = 0, aspect_jitter = 0;       // exponents
  float rotate_max = 0;                            // radians
  float rotate_probability = 1;
  float brightness_stddev = 0;                  // full scale
  float hue_max = 0;                            // degrees
  float saturation_max = 0;                     // factor 1 +- this
  float contrast_max = 0, contrast_center = 0;  // factor 1 +- this about the grey level
  float grayscale_probability = 0;

  float mosaic_probability = 0;

  // Free placement (placement.h) instead of the steps zoom and translation, for single pictures and mosaics.
  bool free_placement = false;
  float scale_min = 1, scale_max = 1;                // of a single picture, canvas pixels -> output pixels
  float mosaic_scale_min = 1, mosaic_scale_max = 1;  // of each picture of a mosaic

  LabelOptions labels;
};

// `reference_exact` restores five quirks of the reference's loader: the rotation limit is taken for degrees,
// vflip_probability, min_bbox_width and min_bbox_height are ignored, boxes turn by two corners, and a crop
// cuts boxes in the coordinates before the crop. Throws base::Error (kRefused) when the crop has not the size
// of the output.
Options options_from_spec(const spec::AugmentationConfig& config, bool reference_exact);

}  // namespace maskfit::augment
