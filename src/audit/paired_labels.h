#pragma once

// The labels of two samples that show the same picture, perhaps in another size or mirrored.

#include <string>
#include <vector>

#include "dataset/dataset.h"

namespace maskfit::audit {

// "" when both have the same objects: every box of the one has one of the other with the same class and an
// IoU of a half at least. Else the first difference in words. Boxes to ignore match anything.
std::string label_difference(const dataset::Sample& a, const dataset::Sample& b, bool mirrored);

// Areas of a's boxes over those of b's, both relative to their pictures, for each face that both have.
std::vector<double> area_ratios(const dataset::Sample& a, const dataset::Sample& b, bool mirrored);

}  // namespace maskfit::audit
