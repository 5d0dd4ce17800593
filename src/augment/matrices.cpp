#include "augment/matrices.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"

namespace maskfit::augment {
namespace {

template <std::size_t N, class M>
M multiply_square(const M& a, const M& b) {
  M product{};
  for (std::size_t i = 0; i < N; ++i) {
    for (std::size_t j = 0; j < N; ++j) {
      for (std::size_t k = 0; k < N; ++k) product[i * N + j] += a[i * N + k] * b[k * N + j];
    }
  }
  return product;
}

template <class To, class From>
To convert(const From& from) {
  To to;
  std::transform(from.begin(), from.end(), to.begin(),
                 [](auto x) { return static_cast<typename To::value_type>(x); });
  return to;
}

// The product keeps luma: K0 repeats it in every channel, K1 is the rest of the colour, K2 that rest turned
// by 90 degrees.
constexpr std::array<double, 9> kLuma{.299, .299, .299, .587, .587, .587, .114, .114, .114};
constexpr std::array<double, 9> kChroma{.701, -.299, -.299, -.587, .413, -.587, -.114, -.114, .886};
constexpr std::array<double, 9> kTurnedChroma{.168, -.328, 1.25, .330, .035, -1.05, -.497, .292, -.203};

struct Point {
  double x, y;
};

Point map(const Mat3& m, double x, double y) {
  return {x * m[0] + y * m[3] + m[6], x * m[1] + y * m[4] + m[7]};
}

}  // namespace

Mat3 multiply(const Mat3& a, const Mat3& b) {
  return multiply_square<3>(a, b);
}
Mat4 multiply(const Mat4& a, const Mat4& b) {
  return multiply_square<4>(a, b);
}
Matrix3 to_float(const Mat3& m) {
  return convert<Matrix3>(m);
}
Matrix4 to_float(const Mat4& m) {
  return convert<Matrix4>(m);
}
Mat3 to_double(const Matrix3& m) {
  return convert<Mat3>(m);
}

Mat3 inverse(const Mat3& m) {
  MASKFIT_CHECK(m[2] == 0 && m[5] == 0 && m[8] == 1, "third column {} {} {}", m[2], m[5], m[8]);
  const double determinant = m[0] * m[4] - m[1] * m[3];
  MASKFIT_CHECK(determinant != 0, "determinant {}", determinant);
  const double a = m[4] / determinant, b = -m[1] / determinant, c = -m[3] / determinant,
               d = m[0] / determinant;
  return {a, b, 0, c, d, 0, -m[6] * a - m[7] * c, -m[6] * b - m[7] * d, 1};
}

Mat3 flip(bool horizontal, bool vertical, double width, double height) {
  return {horizontal ? -1.0 : 1.0, 0, 0, 0, vertical ? -1.0 : 1.0, 0, horizontal ? width : 0.0,
          vertical ? height : 0.0, 1};
}

Mat3 translation(double x, double y) {
  return {1, 0, 0, 0, 1, 0, x, y, 1};
}

Mat3 scaling(double factor_x, double factor_y) {
  return {factor_x, 0, 0, 0, factor_y, 0, 0, 0, 1};
}

Mat3 rotation(double radians, double width, double height) {
  const double c = std::cos(radians), s = std::sin(radians);
  return {c, s, 0, -s, c, 0, (height * s - width * c + width) / 2, (height - height * c - width * s) / 2, 1};
}

Mat3 zoom(double ratio_x, double ratio_y, double x, double y) {
  return multiply(translation(-x, -y), scaling(ratio_x, ratio_y));
}

Mat4 brightness(double shift) {
  Mat4 m = kIdentity4;
  m[12] = m[13] = m[14] = shift;
  return m;
}

Mat4 contrast(double change, double center) {
  Mat4 m = kIdentity4;
  m[0] = m[5] = m[10] = 1 + change;
  m[12] = m[13] = m[14] = -change * center;
  return m;
}

Mat4 hue_saturation(double degrees, double saturation) {
  const double angle = degrees * std::numbers::pi / 180;
  const double along = saturation * std::cos(angle), across = saturation * std::sin(angle);
  Mat4 m = kIdentity4;
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t column = 0; column < 3; ++column) {
      const std::size_t i = row * 3 + column;
      m[row * 4 + column] = kLuma[i] + along * kChroma[i] + across * kTurnedChroma[i];
    }
  }
  return m;
}

boxes::Box transform(const boxes::Box& box, const Mat3& m, RotatedBox mode) {
  double x1, x2, y1, y2;
  if (mode == RotatedBox::kEllipse) {
    const Point center = map(m, (box.x1 + box.x2) / 2.0, (box.y1 + box.y2) / 2.0);
    const double half_width = box.width() / 2.0, half_height = box.height() / 2.0;
    // The ellipse's extent along an axis is the length of the two semi-axes' images along it.
    const double extent_x = std::hypot(half_width * m[0], half_height * m[3]);
    const double extent_y = std::hypot(half_width * m[1], half_height * m[4]);
    x1 = center.x - extent_x, x2 = center.x + extent_x;
    y1 = center.y - extent_y, y2 = center.y + extent_y;
  } else {
    const Point a = map(m, box.x1, box.y1), b = map(m, box.x2, box.y2);
    std::tie(x1, x2) = std::minmax({a.x, b.x});
    std::tie(y1, y2) = std::minmax({a.y, b.y});
    if (mode == RotatedBox::kEnclosing) {
      const Point c = map(m, box.x1, box.y2), d = map(m, box.x2, box.y1);
      x1 = std::min({x1, c.x, d.x}), x2 = std::max({x2, c.x, d.x});
      y1 = std::min({y1, c.y, d.y}), y2 = std::max({y2, c.y, d.y});
    }
  }
  return {static_cast<float>(x1), static_cast<float>(y1), static_cast<float>(x2), static_cast<float>(y2)};
}

}  // namespace maskfit::augment
