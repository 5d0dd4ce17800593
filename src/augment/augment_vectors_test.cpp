#include <gtest/gtest.h>

#include "augment/apply.h"
#include "augment/matrices.h"
#include "augment/truths.h"
#include "image/canvas.h"
#include "tests/support/vectors.h"

namespace maskfit::augment {
namespace {

using nlohmann::json;
using support::number;
using support::vector_group;

template <class M>
void expect_matrix(const M& actual, const json& rows, double tolerance) {
  std::size_t i = 0;
  for (const json& row : rows) {
    for (const json& value : row) EXPECT_NEAR(actual.at(i++), number(value), tolerance);
  }
  EXPECT_EQ(i, actual.size());
}

void expect_box(const boxes::Box& actual, const json& expected, double tolerance) {
  EXPECT_NEAR(actual.x1, number(expected[0]), tolerance);
  EXPECT_NEAR(actual.y1, number(expected[1]), tolerance);
  EXPECT_NEAR(actual.x2, number(expected[2]), tolerance);
  EXPECT_NEAR(actual.y2, number(expected[3]), tolerance);
}

boxes::Box box_of(const json& b) {
  return {static_cast<float>(number(b[0])), static_cast<float>(number(b[1])),
          static_cast<float>(number(b[2])), static_cast<float>(number(b[3]))};
}

// A size that the vector leaves out is null: about the origin.
double side(const json& input, const char* name) {
  return input.at(name).is_null() ? 0 : number(input.at(name));
}

Mat3 spatial_matrix(const json& input) {
  const std::string kind = input.at("kind");
  if (kind == "flip") {
    return flip(input.at("horizontal"), input.at("vertical"), side(input, "width"), side(input, "height"));
  }
  if (kind == "rotation")
    return rotation(number(input.at("theta_rad")), side(input, "width"), side(input, "height"));
  if (kind == "translation") return translation(number(input.at("x")), number(input.at("y")));
  EXPECT_EQ(kind, "zoom");
  return zoom(number(input.at("ratio")), number(input.at("ratio")), 0, 0);
}

TEST(AugmentVectors, SpatialMatrix) {
  MASKFIT_REQUIRE_VECTORS();
  for (const json& v : vector_group("spatial_matrix")) {
    SCOPED_TRACE(v.at("id").get<std::string>());
    expect_matrix(spatial_matrix(v.at("input")), v.at("expected").at("matrix"), v.at("tolerance"));
  }
}

TEST(AugmentVectors, ColorMatrix) {
  MASKFIT_REQUIRE_VECTORS();
  for (const json& v : vector_group("color_matrix")) {
    SCOPED_TRACE(v.at("id").get<std::string>());
    const json& input = v.at("input");
    const double tolerance = v.at("tolerance");
    if (input.at("kind") == "contrast") {
      expect_matrix(contrast(number(input.at("contrast")), number(input.at("center"))),
                    v.at("expected").at("matrix"), tolerance);
    } else if (input.contains("cases")) {
      for (std::size_t i = 0; i < input.at("cases").size(); ++i) {
        const json& c = input.at("cases")[i];
        expect_matrix(hue_saturation(number(c[0]), number(c[1])), v.at("expected").at("matrices")[i],
                      tolerance);
      }
    } else {
      expect_matrix(hue_saturation(number(input.at("hue_deg")), number(input.at("saturation"))),
                    v.at("expected").at("matrix"), tolerance);
    }
  }
}

void check_spatial_compose(const json& input, const json& expected, double tolerance) {
  const double width = number(input.at("width")), height = number(input.at("height"));
  const double ratio = number(input.at("zoom_ratio"));
  Mat3 m = multiply(flip(input.at("flip_horizontal"), false, width, height), kIdentity3);
  m = multiply(translation(number(input.at("translation")[0]), number(input.at("translation")[1])), m);
  m = multiply(
      zoom(ratio, ratio, number(input.at("zoom_translate")[0]), number(input.at("zoom_translate")[1])), m);
  m = multiply(rotation(number(input.at("rotation_deg")) * 3.14159265358979323846 / 180, width, height), m);
  expect_matrix(m, expected.at("stm_output_to_input"), tolerance);
  for (std::size_t i = 0; i < input.at("boxes").size(); ++i) {
    // Boxes are float32: 1e-6 of a coordinate of some hundred pixels is below its resolution.
    expect_box(transform(box_of(input.at("boxes")[i]), inverse(m), RotatedBox::kTwoCorners),
               expected.at("boxes_after")[i], 1e-4);
  }
}

void check_color_compose(const json& input, const json& expected, double tolerance) {
  const Mat4 k =
      multiply(multiply(contrast(number(input.at("contrast")), number(input.at("contrast_center"))),
                        hue_saturation(number(input.at("hue_deg")), number(input.at("saturation")))),
               brightness(number(input.at("brightness"))));
  expect_matrix(k, expected.at("matrix"), tolerance);
  for (std::size_t i = 0; i < input.at("pixels_rgb").size(); ++i) {
    const json& rgb = input.at("pixels_rgb")[i];
    for (std::size_t c = 0; c < 3; ++c) {
      const double value =
          number(rgb[0]) * k[c] + number(rgb[1]) * k[4 + c] + number(rgb[2]) * k[8 + c] + k[12 + c];
      EXPECT_NEAR(std::clamp(value, 0.0, 1.0), number(expected.at("pixels")[i][c]), tolerance);
    }
  }
}

// The vector's picture holds k/12; in 8 bits that is k * 85 / 4 levels, so it is sampled at four times 1/4
// scale: the picture is made of levels k * 21, and the result scaled by (255 / 21) / 12.
void check_sampler(const json& input, const json& expected, double tolerance) {
  const json& rows = input.at("image");
  image::Image source{static_cast<int>(rows[0].size()), static_cast<int>(rows.size()), 1, {}};
  for (const json& row : rows) {
    for (const json& value : row) {
      source.pixels.push_back(static_cast<std::uint8_t>(std::lround(number(value) * 12) * 21));
    }
  }
  constexpr double kScale = 255.0 / 21 / 12;
  Plan plan;
  Matrix3 m;
  for (std::size_t i = 0; i < 9; ++i)
    m[i] = static_cast<float>(number(input.at("stm_output_to_input")[i / 3][i % 3]));
  const image::Size output{input.at("output")[1], input.at("output")[0]};
  plan.tiles.push_back({0, m, {0, 0, output.width, output.height}});
  plan.fill = static_cast<float>(number(input.at("background")) / kScale);
  std::vector<float> result(static_cast<std::size_t>(output.width) * output.height);
  const image::Image* sources[] = {&source};
  apply(plan, sources, output, result.data());
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::size_t columns = static_cast<std::size_t>(output.width);
    EXPECT_NEAR(result[i] * kScale, number(expected.at("image")[i / columns][i % columns]), tolerance);
  }
}

TEST(AugmentVectors, Compose) {
  MASKFIT_REQUIRE_VECTORS();
  int handled = 0;
  for (const json& v : vector_group("augment_compose")) {
    const std::string id = v.at("id");
    SCOPED_TRACE(id);
    const double tolerance = v.at("tolerance");
    if (id == "multisource_spatial_compose")
      check_spatial_compose(v.at("input"), v.at("expected"), tolerance);
    else if (id == "multisource_color_compose")
      check_color_compose(v.at("input"), v.at("expected"), tolerance);
    else if (id == "bilinear_sampler")
      check_sampler(v.at("input"), v.at("expected"), tolerance);
    else
      ADD_FAILURE() << "no test handles this vector";
    ++handled;
  }
  EXPECT_EQ(handled, 3);
}

TEST(AugmentVectors, LabelClip) {
  MASKFIT_REQUIRE_VECTORS();
  for (const json& v : vector_group("label_clip")) {
    SCOPED_TRACE(v.at("id").get<std::string>());
    const json &input = v.at("input"), &expected = v.at("expected"), &c = input.at("crop");
    const CropRect crop{c.at("left"), c.at("top"), c.at("right"), c.at("bottom")};
    std::size_t kept = 0;
    for (std::size_t i = 0; i < input.at("boxes").size(); ++i) {
      bool truncated = input.at("truncation_type")[i] != 0;
      const auto box = clip_to_crop(box_of(input.at("boxes")[i]), crop, &truncated);
      if (!box) continue;
      ASSERT_LT(kept, expected.at("boxes").size());
      expect_box(*box, expected.at("boxes")[kept], v.at("tolerance"));
      EXPECT_EQ(truncated, expected.at("truncation_type")[kept] != 0);
      ++kept;
    }
    EXPECT_EQ(kept, expected.at("boxes").size());
  }
}

TEST(AugmentVectors, LabelTransform) {
  MASKFIT_REQUIRE_VECTORS();
  for (const json& v : vector_group("label_transform")) {
    SCOPED_TRACE(v.at("id").get<std::string>());
    const json& input = v.at("input");
    const image::Placement placement =
        image::place({input.at("image_size")[0], input.at("image_size")[1]},
                     {input.at("target")[0], input.at("target")[1]}, image::CanvasMode::kStretch);
    expect_box(image::canvas_from_image(box_of(input.at("box")), placement), v.at("expected").at("box"),
               v.at("tolerance"));
  }
}

}  // namespace
}  // namespace maskfit::augment
