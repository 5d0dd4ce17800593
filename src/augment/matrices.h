#pragma once

// The reference's spatial and colour matrices, in double precision; a Plan stores them as float.
//
// Points are row vectors: [x, y, 1] * M, continuous pixel coordinates (a pixel's centre is at +0.5). The
// spatial steps map OUTPUT to SOURCE, and a new step is multiplied from the left, M = step * M, so the
// picture goes through the steps in the order in which they were added. Colours are row vectors [r, g, b, 1]
// * K in 0..1.

#include <array>

#include "augment/plan.h"
#include "boxes/box.h"

namespace maskfit::augment {

using Mat3 = std::array<double, 9>;   // row-major
using Mat4 = std::array<double, 16>;  // row-major

constexpr Mat3 kIdentity3{1, 0, 0, 0, 1, 0, 0, 0, 1};
constexpr Mat4 kIdentity4{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};

Mat3 multiply(const Mat3& a, const Mat3& b);
Mat4 multiply(const Mat4& a, const Mat4& b);
// Inverse of an affine map (third column 0, 0, 1). Throws base::CheckFailed for another one, or a singular
// one.
Mat3 inverse(const Mat3& affine);
Matrix3 to_float(const Mat3& m);
Matrix4 to_float(const Mat4& m);
Mat3 to_double(const Matrix3& m);

// Mirrors a canvas of width x height pixels (0 x 0: about the origin).
Mat3 flip(bool horizontal, bool vertical, double width, double height);
Mat3 translation(double x, double y);
Mat3 scaling(double factor_x, double factor_y);
// Turns by `radians` about the centre of a canvas of width x height pixels (0 x 0: about the origin).
Mat3 rotation(double radians, double width, double height);
// translation(-x, -y) * scaling(ratio_x, ratio_y): output pixel (x, y) shows the source's corner, and a ratio
// above 1 makes the scene smaller.
Mat3 zoom(double ratio_x, double ratio_y, double x, double y);

// Adds `shift` to every channel.
Mat4 brightness(double shift);
// Multiplies the distance to `center` by 1 + change.
Mat4 contrast(double change, double center);
// Turns the hue and multiplies the saturation, keeping the luma (.299, .587, .114).
Mat4 hue_saturation(double degrees, double saturation);

// How a box follows a rotation. Without rotation all three are the same.
enum class RotatedBox {
  kTwoCorners,  // the box's own two corners, then min/max per axis: too narrow one way, too wide the other
                // (reference)
  kEnclosing,   // around all four turned corners: grows with every turn
  kEllipse,     // around the turned ellipse inside the box: fits heads, which have no corners
};

// `box` through the affine map `output_from_source`.
boxes::Box transform(const boxes::Box& box, const Mat3& output_from_source, RotatedBox mode);

}  // namespace maskfit::augment
