#pragma once

// What an import does to boxes before they enter a dataset: bring them to the upright picture, cut them to
// it, and leave out what is no box.

#include <string>
#include <vector>

#include "base/finding.h"
#include "dataset/dataset.h"
#include "image/image.h"

namespace maskfit::dataset {

// A box as a label file states it.
struct DrawnBox {
  LabeledBox labeled;
  int line = 0;  // in the label file
};

// A picture as its file states it.
struct PictureFrame {
  image::Size upright;
  image::Size stored;
  int orientation = 1;  // EXIF
};

// A box on the stored picture, seen on the upright one.
boxes::Box turn_upright(const boxes::Box& box_in_stored, image::Size stored, int orientation);

// Finds out on which picture the boxes were drawn (upright, stored, or another size of either) from the size
// that the label states (0 x 0: none) and where the boxes lie, and brings them to the upright one. Adds a
// finding for what was done or had to be guessed. False, with a refused finding, when the boxes cannot belong
// to this picture.
bool bring_upright(const PictureFrame& frame, image::Size stated, const std::string& label_file,
                   std::vector<DrawnBox>* boxes, base::Findings* findings);

// Swaps reversed corners, cuts boxes to the picture and drops what is smaller than a pixel then, each with a
// finding.
void mend_boxes(image::Size upright, const std::string& label_file, std::vector<DrawnBox>* boxes,
                base::Findings* findings);

}  // namespace maskfit::dataset
