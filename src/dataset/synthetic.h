#pragma once

// Drawn pictures of people with and without face masks, with exact boxes: data for demonstrations, tests and
// benchmarks that need no download and no consent of anybody.
//
// Heads are drawn in an illustrator's style (skin, hair, eyes, glasses, beards, hats, four kinds of masks)
// before rooms, streets, landscapes and patterns, among distractors (balls, balloons, boxes, a mask that
// nobody wears), turned, partly hidden, in varied light. A mask under the chin is no mask. Classes are "mask"
// and "no-mask".

#include <cstdint>
#include <filesystem>
#include <vector>

#include "dataset/dataset.h"
#include "image/image.h"

namespace maskfit::dataset {

struct SyntheticOptions {
  int pictures = 320;
  image::Size size{320, 192};  // px
  std::uint64_t seed = 1;

  double val_percent = 20;  // of the pictures, drawn by assign_splits with `seed`

  // People. Every 16th picture or so shows nobody.
  int max_heads = 4;
  float min_face_height = 30, max_face_height = 110;  // px; log-uniform
  float mask_share = 0.5f;                            // of the faces
  float chin_mask_share = 0.06f;                      // of the faces without a mask: worn under the chin
  float max_turn = 0.3f;                              // radians, either way
  float max_yaw = 0.6f;                               // 1: the nose is at the face's edge

  // What makes it harder.
  int max_distractors = 5;
  float max_hidden = 0.25f;           // of a face, by nearer people or the picture's edge
  float occluder_probability = 0.2f;  // a thing in front of a face's edge, e.g. a cup
  float noise = 0.03f;                // largest noise amplitude, full scale
  float light_range = 0.35f;          // exposure is 1 +- up to this
};

struct SyntheticPicture {
  image::Image image;
  std::vector<LabeledBox> boxes;  // the outline of the face from hairline to chin, cut to the picture
};

// Picture `index`: a pure function of (options, index).
SyntheticPicture draw_synthetic(const SyntheticOptions& options, std::int64_t index);

// Draws all pictures into FOLDER/images and writes the manifest. The same options give the same bytes, on any
// number of threads. Throws base::Error (kUsage) for options that cannot be met.
Dataset write_synthetic(const SyntheticOptions& options, const std::filesystem::path& folder);

}  // namespace maskfit::dataset
