#pragma once

// Which faces of MAFA and WIDER FACE are a mask, which are none, and which are neither and stay in the
// dataset as regions to ignore. A face left out altogether would be learnt as background, so none is.

#include <map>
#include <string>

#include "dataset/dataset.h"
#include "formats/mafa.h"
#include "formats/widerface.h"

namespace maskfit::dataset {

// The spellings of the classes that these sets, which have none, are given.
inline constexpr const char* kMaskClass = "mask";
inline constexpr const char* kNoMaskClass = "no-mask";

enum class RulePreset {
  // MAFA: covered by a man-made thing (1, 2) to a known degree: mask; by hands or hair (3) to degree 1:
  // no-mask; in the
  // test part the stated type decides, and degree and thing must be known for a mask. WIDER FACE: no-mask
  // where
  // nothing covers the face and it is not marked as invalid.
  kCorrect,
  // What the reference's converter selects, with its faults: things and degrees that are unknown (-1) pass;
  // of WIDER
  // FACE 24 events, invalid faces too, and pictures with one to three uncovered faces only; MAFA's pictures
  // that are
  // higher than wide are refused. What it would leave unlabelled is ignored.
  kReference,
  // Every face that is not marked as invalid; MAFA's by what covers it, to any degree.
  kAll,
};

struct FaceRules {
  RulePreset preset = RulePreset::kCorrect;
  float min_face = 0;     // pixels; boxes of any format whose shorter side is less are ignored
  int max_blur = 2;       // WIDER FACE: 0 clear .. 2 heavy; more is ignored
  int max_occlusion = 0;  // WIDER FACE: 0 none .. 2 heavy; more is ignored. kAll: 2
  int mask_degree = 3;    // MAFA: from this degree on a covered face is a mask. kAll: 1
};
FaceRules rules_of(RulePreset preset);

// What a rule makes of a face: its class, and why it is ignored ("" when it is not).
struct FaceVerdict {
  std::string class_name;
  std::string ignored_because;
};
FaceVerdict judge(const formats::MafaFace& face, formats::MafaPart part, const FaceRules& rules);
FaceVerdict judge(const formats::WiderFace& face, const FaceRules& rules);

// Why a whole picture is left out, or "". Only kReference does that.
std::string refused_picture(const formats::WiderPicture& picture, const FaceRules& rules);
std::string refused_mafa_size(int width, int height, const FaceRules& rules);

}  // namespace maskfit::dataset
