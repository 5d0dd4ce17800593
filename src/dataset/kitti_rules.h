#pragma once

// Which faces of Kaggle's medical masks, MAFA, FDDB and WIDER FACE become Mask and No-Mask in the data set of
// the reference's face-mask project, and what its label lines look like. `kReference` is what that project's
// scripts do, faults included; `kCorrect` what they mean (docs/converting.md lists the differences).

#include <array>
#include <string>

#include "formats/fddb.h"
#include "formats/mafa.h"
#include "formats/widerface.h"
#include "image/image.h"

namespace maskfit::dataset {

enum class KittiRules { kCorrect, kReference };

enum class FaceUse {
  kMask,
  kNoMask,
  kExcluded,  // a face that is seen but must not get a label of the two classes
  kNothing,   // no face: a box without an area
};

using Corners = std::array<double, 4>;  // x1, y1, x2, y2

// `name` of an object of a Pascal VOC file. The reference knows "mask" and "none"; correct are the names of
// later versions of the set, too (with_mask, without_mask, ...), in any case.
FaceUse kaggle_use(const std::string& name, KittiRules rules);
// Mask: covered by something man-made in more than two regions. No-Mask: touched by a hand or hair in fewer
// than two. The reference takes unknown (-1) for both. `mask_degree`: from how many regions on.
inline constexpr int kMafaMaskDegree = 3;
FaceUse mafa_train_use(const formats::MafaFace& face, KittiRules rules, int mask_degree = kMafaMaskDegree);
FaceUse mafa_test_use(const formats::MafaFace& face, KittiRules rules, int mask_degree = kMafaMaskDegree);
// No-Mask unless occluded; correct also excludes invalid faces.
FaceUse wider_use(const formats::WiderFace& face, KittiRules rules);
// Whether the project takes pictures of this event ("2--Demonstration").
bool wider_event_is_used(const std::string& event);

// The reference cuts radii, centre and angle to whole numbers, reads the angle as degrees, takes the major
// axis for vertical and makes the box one pixel longer to the right and below.
Corners fddb_reference_box(const formats::FddbEllipse& ellipse);

// The reference's line for a box on a picture of size `from` that is stretched to `to`, without its end.
// Kaggle, MAFA and FDDB: rounded half to even. WIDER FACE: not rounded, as Python prints a float.
std::string reference_label_line(FaceUse use, const Corners& box, image::Size from, image::Size to);
std::string reference_wider_line(const Corners& box, image::Size from, image::Size to);

}  // namespace maskfit::dataset
