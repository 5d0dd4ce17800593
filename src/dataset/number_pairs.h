#pragma once

// Labels that go with pictures by the numbers in their names (test_label_4 with test_img_4), held against the
// sizes of these pictures.
//
// YOLO's numbers are parts of a picture's sides. Tools compute them from whole pixels, so multiplied by twice
// the sides of the picture that was drawn on they are whole numbers, and multiplied by another picture's
// sides they are not. Sets are published whose labels were numbered apart from their pictures, off by one:
// paired by number alone, every box would lie on the wrong picture.

#include <cstddef>
#include <string>
#include <vector>

#include "formats/yolo.h"
#include "image/image.h"

namespace maskfit::dataset {

// A picture and a label of one number.
struct NumberPair {
  image::Size size;                     // of the picture, as stored
  std::vector<formats::YoloBox> boxes;  // of the label
};

// Whether all boxes can have been drawn in whole pixels of a picture of this size. No box fits any.
bool drawn_on(const std::vector<formats::YoloBox>& boxes, image::Size size);

struct NumberVerdict {
  // Label i belongs to picture (i + shift) mod n. Not 0 only where labels contradict their own pictures, at
  // least three sizes occur, and this is the one shift with which all of them fit.
  std::size_t shift = 0;
  // With shift 0: labels that do not fit their own picture but another one.
  std::vector<std::size_t> contradicted;
};

// REQUIRES pairs in the order of their numbers.
NumberVerdict judge_numbers(const std::vector<NumberPair>& pairs);

// The last whole number in a name, -1 when there is none.
long long last_number(const std::string& name);

}  // namespace maskfit::dataset
