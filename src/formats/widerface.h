#pragma once

// WIDER FACE's annotations (Yang, Luo, Loy, Tang: "WIDER FACE: A Face Detection Benchmark", CVPR 2016), which
// are published twice: wider_face_{train,val}.mat and wider_face_{train,val}_bbx_gt.txt. The text is
//
//   event/name.jpg
//   number of faces
//   x y w h blur expression illumination invalid occlusion pose      (one line a face)
//
// A picture without faces has the number 0 and, in the published file, one line of zeros after it; without
// that line it is read as well.

#include <string>
#include <string_view>
#include <vector>

#include "base/finding.h"
#include "boxes/box.h"

namespace maskfit::formats {

struct WiderFace {
  double x = 0, y = 0, width = 0, height = 0;  // pixels of the stored picture
  int blur = 0;                                // 0 clear, 1 normal, 2 heavy
  int expression = 0;                          // 1 exaggerated
  int illumination = 0;                        // 1 extreme
  int invalid = 0;                             // 1: not to be used
  int occlusion = 0;                           // 0 none, 1 partial, 2 heavy
  int pose = 0;                                // 1 atypical
  int line = 0;  // 1-based line of the text; in the .mat the number of the face in its picture

  boxes::Box box_in_image() const;  // half open, not clipped
};

struct WiderPicture {
  std::string event;  // "0--Parade"
  std::string path;   // "0--Parade/0_Parade_a_1.jpg"
  std::vector<WiderFace> faces;
  int line = 0;  // of the text; in the .mat the picture's number
};

// Whether the text begins like one; looks at the first lines only.
bool is_wider_text(std::string_view text);

// A record that cannot be read in whole (a face missing or more than stated, a number that is none) adds a
// refused finding and is left out; reading goes on at the next path. `findings` may not be null.
std::vector<WiderPicture> parse_wider_text(std::string_view text, const std::string& file,
                                           base::Findings* findings);

// Attributes that the file does not hold stay 0. Throws base::Error (kRefused) for a file that is not
// MATLAB's or lacks event_list, file_list or face_bbx_list.
std::vector<WiderPicture> parse_wider_mat(std::string_view bytes, const std::string& file,
                                          base::Findings* findings);

}  // namespace maskfit::formats
