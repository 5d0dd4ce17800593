#pragma once

// The one coordinate convention of the product: boxes are x1,y1,x2,y2 in float pixels of the upright picture,
// half open (width = x2 - x1). The frame is in the variable's name: box_in_image, box_in_network,
// box_in_grid. Formats with inclusive pixels (KITTI, VOC) are converted in `formats` and nowhere else.

#include <vector>

namespace maskfit::boxes {

struct Box {
  float x1 = 0, y1 = 0, x2 = 0, y2 = 0;

  float width() const { return x2 - x1; }
  float height() const { return y2 - y1; }
  // 0 for a degenerate box.
  float area() const { return width() > 0 && height() > 0 ? width() * height() : 0; }
  bool operator==(const Box&) const = default;
};

// A box a network found. class_index is the place of the class in that model's list of names.
struct Detection {
  Box box;
  int class_index = 0;
  float confidence = 0;
};

// A box a person drew. `ignore`: masked out of the loss, neither rewarded nor punished in evaluation.
struct Truth {
  Box box;
  int class_index = 0;
  bool ignore = false;

  bool operator==(const Truth&) const = default;
};

using Detections = std::vector<Detection>;
using Truths = std::vector<Truth>;

float intersection_area(const Box& a, const Box& b);
// Intersection over union of continuous areas; `regulariser` is added to the union (the reference's
// clustering adds 1e-5 or 0.01). 0 when the union is 0.
float iou(const Box& a, const Box& b, float regulariser = 0);
// The reference's evaluation and NMS convention: every side is one pixel longer, side = max(0, x2 - x1 + 1).
float iou_inclusive(const Box& a, const Box& b);
// Cut to [0,width] x [0,height]; a box outside becomes degenerate.
Box clip(const Box& box, float width, float height);
Box scale(const Box& box, float factor_x, float factor_y);

// The output grid over the network's input: cell (column i, row j) starts at pixel (i*stride_x, j*stride_y).
struct GridGeometry {
  int input_width = 0, input_height = 0;  // network input, pixels
  int grid_width = 0, grid_height = 0;    // output cells

  float stride_x() const { return static_cast<float>(input_width) / static_cast<float>(grid_width); }
  float stride_y() const { return static_cast<float>(input_height) / static_cast<float>(grid_height); }
  int cells() const { return grid_width * grid_height; }
};

Box grid_from_network(const Box& box_in_network, const GridGeometry& geometry);

}  // namespace maskfit::boxes
