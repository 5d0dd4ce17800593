#pragma once

// MAFA's annotations (Ge, Li, Ye, Luo: "Detecting Masked Faces in the Wild with LLE-CNNs", CVPR 2017): two
// MATLAB files, LabelTrainAll.mat (variable label_train, 21 columns a face) and LabelTestAll.mat (LabelTest,
// 18 columns). Every column is kept, as written; which faces are of use is the reader's affair.

#include <string>
#include <string_view>
#include <vector>

#include "base/finding.h"
#include "boxes/box.h"

namespace maskfit::formats {

// Left, top, width and height in pixels of the stored picture; all -1 where there is none.
struct MafaRect {
  int x = -1, y = -1, width = -1, height = -1;
  bool operator==(const MafaRect&) const = default;
};

enum class MafaFaceType { kNotStated = 0, kMasked = 1, kUnmasked = 2, kInvalid = 3 };  // test file only
enum class MafaOccluder { kUnknown = -1, kSimple = 1, kComplex = 2, kBody = 3 };       // kBody: a hand, hair

struct MafaFace {
  MafaRect face;
  MafaFaceType type = MafaFaceType::kNotStated;
  int left_eye_x = -1, left_eye_y = -1, right_eye_x = -1, right_eye_y = -1;  // train file only
  MafaRect occluder;          // x and y count from the face's corner
  int occluder_type = -1;     // as written; see MafaOccluder
  int occlusion_degree = -1;  // hidden regions of the face, 1 .. 3; -1 unknown
  int gender = -1, race = -1;
  int orientation = -1;  // 1 left, 2 left front, 3 front, 4 right front, 5 right
  MafaRect glasses;      // x and y count from the face's corner
  int line = 0;          // 1-based number of the face in its picture

  boxes::Box box_in_image() const;  // of the face; half open, not clipped
};

struct MafaPicture {
  std::string original_name;  // train file only
  std::string name;           // "train_00000003.jpg"
  std::vector<MafaFace> faces;
  int record = 0;  // 1-based place in the file
};

enum class MafaPart { kTrain, kTest };

struct MafaFile {
  MafaPart part = MafaPart::kTrain;
  std::vector<MafaPicture> pictures;
};

// A record that cannot be read adds a refused finding (its `line` is the record's number) and is left out.
// Throws base::Error (kRefused) for a file that is not MATLAB's or holds neither variable. `findings` may not
// be null.
MafaFile parse_mafa(std::string_view bytes, const std::string& file, base::Findings* findings);

// One face from its row of 21 or 18 numbers. REQUIRES that many numbers, each within +-1e6.
MafaFace mafa_face(MafaPart part, const std::vector<double>& row);

}  // namespace maskfit::formats
