#pragma once

// One picture's labels as the reference's tf.train.Example and back: docs/tfrecord-format.md lists the
// features.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dataset/dataset.h"
#include "formats/tf_example.h"

namespace maskfit::dataset {

// The converter's test of a box: cut to whole pixels, left is still left of right and top above bottom.
bool survives_truncation(const boxes::Box& box);

// Boxes that fail the test are left out, their places in sample.boxes go to *dropped (may be null).
// Coordinates are stored as they are, classes in lower case, boxes to ignore as "dontcare".
formats::Example frame_example(const Sample& sample, const std::string& frame_id,
                               std::vector<std::size_t>* dropped);

// What a record says of a frame.
struct Frame {
  std::string id;             // frame/id
  int width = 0, height = 0;  // as stored, before EXIF; 0 x 0 when the record does not tell
  std::vector<LabeledBox> boxes;
};

// Boxes come from target/coordinates_x1 .. _y2, or, where those are missing, as the bounds of the polygons of
// target/coordinates/x, /y, /index. "dontcare" boxes are ignored ones. Throws base::Error (kRefused) with the
// feature at fault: no frame/id, a feature of another kind, lists of different lengths, a number that is not
// finite.
Frame frame_of(const formats::Example& example, const std::string& name_for_errors);

}  // namespace maskfit::dataset
