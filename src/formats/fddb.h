#pragma once

// FDDB's annotations (Jain, Learned-Miller: "FDDB: A Benchmark for Face Detection in Unconstrained Settings",
// 2010): ten text files FDDB-fold-NN-ellipseList.txt,
//
//   2002/08/11/big/img_591                                                     path without its ending
//   1                                                                          number of faces
//   major_radius minor_radius angle center_x center_y 1                        (one line a face)
//
// The angle between the major axis and the horizontal is in radians. The twins FDDB-fold-NN.txt list the
// paths alone.

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/finding.h"

namespace maskfit::formats {

struct FddbEllipse {
  double major_radius = 0, minor_radius = 0;  // pixels, half axes
  double angle = 0;                           // radians
  double center_x = 0, center_y = 0;          // pixels of the stored picture
  int line = 0;                               // 1-based

  // x1, y1, x2, y2 of the tightest upright box, not clipped. With a, b the radii and t the angle the extent
  // is sqrt(a^2 cos^2 t + b^2 sin^2 t) to each side and sqrt(a^2 sin^2 t + b^2 cos^2 t) up and down.
  std::array<double, 4> tight_box() const;
};

struct FddbPicture {
  std::string path;  // "2002/08/11/big/img_591", without ".jpg"
  std::vector<FddbEllipse> faces;
  int line = 0;
};

// Whether the text begins like an ellipse list; looks at the first lines only.
bool is_fddb_text(std::string_view text);

// A record that cannot be read in whole adds a refused finding and is left out. `findings` may not be null.
std::vector<FddbPicture> parse_fddb(std::string_view text, const std::string& file, base::Findings* findings);

// The paths of a list without ellipses (FDDB-fold-NN.txt); empty when a line is no path.
std::vector<std::string> parse_fddb_paths(std::string_view text);

}  // namespace maskfit::formats
