#pragma once

// Which pictures a limited number of faces is taken from, and which faces of them are written.

#include <cstdint>
#include <string>
#include <vector>

#include "dataset/kitti_rules.h"

namespace maskfit::dataset {

enum class KittiSet { kKaggle, kMafa, kFddb, kWider };
enum class KittiPart { kTrain, kVal };

struct KittiFace {
  FaceUse use = FaceUse::kNothing;
  Corners box_in_stored{};  // pixels of the picture as stored: these sets were drawn without EXIF
};

// What becomes of faces that are seen in a picture but get no label of the two classes.
enum class ExcludedFaces {
  kSkipPicture,
  kDontCare,    // written as DontCare
  kBackground,  // not written: they train as background, as in the reference
};

struct SelectionOptions {
  KittiRules rules = KittiRules::kCorrect;
  ExcludedFaces excluded = ExcludedFaces::kSkipPicture;
  bool keep_portrait = false;  // MAFA's pictures that are higher than wide
  int wider_max_faces = 3;     // pictures of WIDER FACE with more faces are left out; 0: no maximum
  double min_face = 0;         // pixels of the output; smaller faces are excluded
  image::Size output{960, 544};
  bool letterbox = false;  // one scale for both axes instead of a stretch
};

// Faces of each class: how many there are, or how many may still come.
struct FaceCounts {
  std::int64_t mask = 0, no_mask = 0;
  bool operator==(const FaceCounts&) const = default;
};

struct PictureDecision {
  bool write = false;
  std::string why_not;            // "portrait", "the limit is reached", ...
  std::vector<KittiFace> labels;  // kMask, kNoMask, and kExcluded for DontCare; boxes in the stored picture
  FaceCounts counts;              // what is to be added to the source's counts
  std::int64_t dropped = 0;       // faces without a pixel on the output
};

// Correct rules: the counts are exactly the faces written. `taken` is what the source has given so far,
// `limit` what it may give in all (negative: nothing). With kReference the counts are that project's: MAFA
// counts faces of pictures that it then discards and never its unmasked test faces, FDDB counts pictures,
// WIDER FACE tests its limit a picture and Kaggle has none.
PictureDecision decide_picture(KittiSet set, KittiPart part, const std::vector<KittiFace>& faces,
                               image::Size stored, const FaceCounts& taken, const FaceCounts& limit,
                               const SelectionOptions& options);

// The scale of each axis from the stored picture to the output.
std::array<double, 2> output_scale(image::Size stored, const SelectionOptions& options);

}  // namespace maskfit::dataset
