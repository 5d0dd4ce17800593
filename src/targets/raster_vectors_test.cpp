// The rasteriser against the reference's own unit tests and derived scenes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <numeric>

#include "targets/draw.h"
#include "targets/label_classes.h"
#include "targets/rasterise.h"
#include "tests/support/vectors.h"

namespace maskfit::targets {
namespace {

using nlohmann::json;
using support::vector_group;

boxes::Box box_from(const json& value) {
  return {value[0].get<float>(), value[1].get<float>(), value[2].get<float>(), value[3].get<float>()};
}

ClassShape shape_from(const json& value) {
  return {value["center"][0].get<float>(), value["center"][1].get<float>(), value["radius"][0].get<float>(),
          value["radius"][1].get<float>(), value["min_radius"].get<float>()};
}

boxes::GridGeometry geometry_from(const json& input) {
  return {input["input_width"].get<int>(), input["input_height"].get<int>(), input["output_width"].get<int>(),
          input["output_height"].get<int>()};
}

Stamp stamp_from(const json& matrix, const json& radii, bool ellipse) {
  Stamp stamp;
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c) stamp.matrix[r][c] = matrix[r][c].get<float>();
  }
  stamp.ratio_x = radii[0].get<float>();
  stamp.ratio_y = radii[1].get<float>();
  stamp.ellipse = ellipse;
  return stamp;
}

void expect_matrix(const Stamp& stamp, const json& expected, double tolerance) {
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c) EXPECT_NEAR(stamp.matrix[r][c], expected[r][c].get<double>(), tolerance);
  }
}

// Nested arrays, flattened in order.
std::vector<double> flat(const json& value) {
  if (!value.is_array()) return {support::number(value)};
  std::vector<double> all;
  for (const json& element : value) {
    const std::vector<double> part = flat(element);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

void expect_plane(std::span<const float> actual, const json& expected, double tolerance,
                  const std::string& what) {
  const std::vector<double> wanted = flat(expected);
  ASSERT_EQ(actual.size(), wanted.size()) << what;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    EXPECT_NEAR(actual[i], wanted[i], tolerance) << what << " cell " << i;
}

TEST(RasterVectors, GeometryOfOneBox) {
  MASKFIT_REQUIRE_VECTORS();
  const json vector = vector_group("raster_geometry").at(0);
  const json& input = vector["input"];
  const json& expected = vector["expected"];
  const ClassShape shape = {input["cov_center"][0], input["cov_center"][1], input["cov_radius"][0],
                            input["cov_radius"][1], input["bbox_min_radius"]};
  float inverse_area = 0;
  const Stamp stamp = box_stamp_shape(box_from(input["box_grid"]), shape,
                                      input["deadzone_radius"].get<float>(), &inverse_area);
  expect_matrix(stamp, expected["matrix"], vector["tolerance"]);
  EXPECT_NEAR(stamp.ratio_x, expected["coverage_radii"][0].get<double>(), 1e-5);
  EXPECT_NEAR(stamp.ratio_y, expected["coverage_radii"][1].get<double>(), 1e-5);
  EXPECT_NEAR(inverse_area, expected["inv_bbox_area"].get<double>(), 1e-5);
}

TEST(RasterVectors, GeometryOfABatchOfLabelsDropsUnmappedClasses) {
  MASKFIT_REQUIRE_VECTORS();
  const json vector = vector_group("raster_geometry").at(1);
  const json& input = vector["input"];
  const json& expected = vector["expected"];
  const auto names = input["target_class_names"].get<std::vector<std::string>>();
  const auto mapping = input["target_class_mapping"].get<ClassMapping>();
  std::size_t drawn = 0;
  for (const json& label : input["labels"]) {
    const auto class_index = drawn_class(label["source_class"].get<std::string>(), mapping, names, false);
    if (!class_index) continue;
    ASSERT_LT(drawn, expected["num_bboxes"].get<std::size_t>());
    EXPECT_EQ(*class_index, expected["class_ids"][drawn].get<int>());
    EXPECT_EQ(names[*class_index], expected["mapped_class"][drawn].get<std::string>());
    const boxes::Box box_in_grid = boxes::grid_from_network(box_from(label["box_px"]), geometry_from(input));
    const boxes::Box wanted = box_from(expected["boxes_grid"][drawn]);
    EXPECT_NEAR(box_in_grid.x1, wanted.x1, 1e-5);
    EXPECT_NEAR(box_in_grid.y2, wanted.y2, 1e-5);
    float inverse_area = 0;
    const Stamp stamp = box_stamp_shape(box_in_grid, shape_from(input["classes"][names[*class_index]]),
                                        input["deadzone_radius"].get<float>(), &inverse_area);
    expect_matrix(stamp, expected["matrices"][drawn], vector["tolerance"]);
    EXPECT_NEAR(stamp.ratio_x, expected["coverage_radii"][drawn][0].get<double>(), 1e-5);
    EXPECT_NEAR(stamp.ratio_y, expected["coverage_radii"][drawn][1].get<double>(), 1e-5);
    EXPECT_NEAR(inverse_area, expected["inv_bbox_area"][drawn].get<double>(), 1e-5);
    ++drawn;
  }
  EXPECT_EQ(drawn, expected["num_bboxes"].get<std::size_t>());
}

struct KernelBox {
  int class_id = 0;
  Stamp stamp;
  float sort_value = 0;
  std::vector<Gradient> gradients;
};

std::vector<Gradient> gradients_from(const json& rows) {
  std::vector<Gradient> gradients;
  for (const json& row : rows)
    gradients.push_back({row[0].get<float>(), row[1].get<float>(), row[2].get<float>()});
  return gradients;
}

// [image][class][gradient][y][x]
std::vector<float> run_kernel(const std::vector<std::vector<KernelBox>>& images, int classes,
                              const std::vector<GradientFlag>& flags, int width, int height) {
  const std::size_t plane = static_cast<std::size_t>(width) * height;
  std::vector<float> out(images.size() * classes * flags.size() * plane);
  for (std::size_t n = 0; n < images.size(); ++n) {
    std::vector<KernelBox> order = images[n];
    std::stable_sort(order.begin(), order.end(),
                     [](const KernelBox& a, const KernelBox& b) { return a.sort_value < b.sort_value; });
    for (int c = 0; c < classes; ++c) {
      std::vector<float*> planes;
      for (std::size_t g = 0; g < flags.size(); ++g) {
        planes.push_back(out.data() + ((n * classes + c) * flags.size() + g) * plane);
      }
      PlaneCanvas canvas(width, height, planes, flags);
      for (const KernelBox& box : order) {
        if (box.class_id == c) canvas.draw(box.stamp, box.gradients);
      }
    }
  }
  return out;
}

std::vector<GradientFlag> flags_from(const json& values) {
  std::vector<GradientFlag> flags;
  for (const json& value : values) flags.push_back(static_cast<GradientFlag>(value.get<int>()));
  return flags;
}

// The vectors come in two forms: boxes nested in images, and flat arrays with a count an image.
std::vector<std::vector<KernelBox>> images_from(const json& input) {
  std::vector<std::vector<KernelBox>> images;
  if (input.contains("images")) {
    for (const json& image : input["images"]) {
      auto& list = images.emplace_back();
      for (const json& box : image) {
        list.push_back({box["class_id"].get<int>(),
                        stamp_from(box["matrix"], box["coverage_radii"], box["ellipse"].get<int>() == 1),
                        box["sort_value"].get<float>(), gradients_from(box["gradients"])});
      }
    }
    return images;
  }
  std::size_t k = 0;
  for (const json& count : input["bboxes_per_image"]) {
    auto& list = images.emplace_back();
    for (int i = 0; i < count.get<int>(); ++i, ++k) {
      list.push_back({input["bbox_class_ids"][k].get<int>(),
                      stamp_from(input["bbox_matrices"][k], input["bbox_coverage_radii"][k],
                                 input["bbox_flags"][k].get<int>() == 1),
                      input["bbox_sort_values"][k].get<float>(), gradients_from(input["bbox_gradients"][k])});
    }
  }
  return images;
}

TEST(RasterVectors, KernelDrawsTheReferenceImages) {
  MASKFIT_REQUIRE_VECTORS();
  for (const json& vector : vector_group("raster_kernel")) {
    SCOPED_TRACE(vector["id"].get<std::string>());
    const json& input = vector["input"];
    const json& expected = vector["expected"];
    const std::vector<float> raster =
        run_kernel(images_from(input), input["num_classes"].get<int>(), flags_from(input["gradient_flags"]),
                   input["output_width"].get<int>(), input["output_height"].get<int>());
    if (expected.contains("grid")) {
      expect_plane(raster, expected["grid"], vector["tolerance"], "grid");
      continue;
    }
    std::vector<std::uint8_t> bytes(raster.size());
    std::transform(raster.begin(), raster.end(), bytes.begin(),
                   [](float value) { return static_cast<std::uint8_t>(value); });
    EXPECT_EQ(bytes.size(), expected["rows"].get<std::size_t>() * expected["cols"].get<std::size_t>());
    EXPECT_EQ(std::accumulate(bytes.begin(), bytes.end(), 0L), expected["sum"].get<long>());
    EXPECT_EQ(crc32(0, bytes.data(), static_cast<uInt>(bytes.size())),
              expected["crc32"].get<unsigned long>());
  }
}

TEST(RasterVectors, FullScenes) {
  MASKFIT_REQUIRE_VECTORS();
  for (const json& vector : vector_group("raster_full")) {
    SCOPED_TRACE(vector["id"].get<std::string>());
    const json& input = vector["input"];
    const auto names = input["target_classes"].get<std::vector<std::string>>();
    RasterShapes shapes;
    shapes.deadzone_radius = input["config"]["deadzone_radius"].get<float>();
    for (const auto& name : names) shapes.classes.push_back(shape_from(input["config"]["classes"][name]));
    boxes::Truths truths;
    for (const json& object : input["objects"]) {
      const auto place = std::find(names.begin(), names.end(), object["cls"].get<std::string>());
      ASSERT_NE(place, names.end());
      truths.push_back({box_from(object["box_px"]), static_cast<int>(place - names.begin()), false});
    }
    const boxes::GridGeometry geometry = geometry_from(input);
    const TargetGrids grids = rasterise(
        truths, shapes, geometry, {input["bbox_scale"].get<float>(), input["bbox_offset"].get<float>()});
    const std::size_t cells = static_cast<std::size_t>(geometry.cells());
    const double tolerance = vector["tolerance"];
    for (std::size_t c = 0; c < names.size(); ++c) {
      const json& expected = vector["expected"][names[c]];
      expect_plane(std::span(grids.coverage).subspan(c * cells, cells), expected["cov"], tolerance, "cov");
      expect_plane(std::span(grids.coverage_norm).subspan(c * cells, cells), expected["cov_norm"], tolerance,
                   "cov_norm");
      expect_plane(std::span(grids.box).subspan(c * 4 * cells, 4 * cells), expected["bbox"], tolerance,
                   "bbox");
    }
  }
}

// Draws one box with overridden radii, as the reference's round-trip test does.
std::vector<float> round_trip_ramps(const json& input) {
  const boxes::GridGeometry geometry = geometry_from(input);
  const ClassShape shape = {input["cov_center"][0], input["cov_center"][1], input["cov_radius"][0],
                            input["cov_radius"][1], input["bbox_min_radius"]};
  const BoxCoding coding = {input["scale"].get<float>(), input["offset"].get<float>()};
  BoxStamp box =
      box_stamp(boxes::grid_from_network(box_from(input["box_px"]), geometry), shape,
                input["deadzone_radius"].get<float>(), geometry.stride_x(), geometry.stride_y(), coding);
  box.stamp.ratio_x = input["coverage_radii_override"][0].get<float>();
  box.stamp.ratio_y = input["coverage_radii_override"][1].get<float>();
  const std::size_t cells = static_cast<std::size_t>(geometry.cells());
  std::vector<float> ramps(4 * cells);
  std::vector<float*> planes;
  for (int side = 0; side < 4; ++side) planes.push_back(ramps.data() + side * cells);
  PlaneCanvas canvas(geometry.grid_width, geometry.grid_height, planes,
                     std::vector<GradientFlag>(4, GradientFlag::kPassThrough));
  canvas.draw(box.stamp, std::span(box.gradients).subspan(kLeft, 4));
  return ramps;
}

TEST(RasterVectors, BoxRampsDecodeToTheBoxInEveryDrawnCell) {
  MASKFIT_REQUIRE_VECTORS();
  for (const json& vector : vector_group("bbox_roundtrip")) {
    SCOPED_TRACE(vector["id"].get<std::string>());
    const json& input = vector["input"];
    const boxes::GridGeometry geometry = geometry_from(input);
    const std::vector<float> ramps = round_trip_ramps(input);
    expect_plane(ramps, vector["expected"]["derived_bbox_raster"], vector["tolerance"], "ramps");

    const std::vector<double> mask = flat(vector["expected"]["derived_mask"]);
    const boxes::Box wanted = box_from(vector["expected"]["decoded_box_in_every_cell_with_nonzero_channel0"]);
    const float scale = input["scale"].get<float>(), offset = input["offset"].get<float>();
    const std::size_t cells = mask.size();
    for (std::size_t cell = 0; cell < cells; ++cell) {
      EXPECT_EQ(ramps[cell] != 0, mask[cell] != 0) << "cell " << cell;
      if (mask[cell] == 0) continue;
      // Spec 1.5, written out here because postprocess, which decodes, is another folder.
      const float x = static_cast<float>(cell % geometry.grid_width) * geometry.stride_x() + offset;
      const float y = static_cast<float>(cell / geometry.grid_width) * geometry.stride_y() + offset;
      const float x1 = std::clamp(x - scale * ramps[cell], 0.0f, static_cast<float>(geometry.input_width));
      const float y1 =
          std::clamp(y - scale * ramps[cells + cell], 0.0f, static_cast<float>(geometry.input_height));
      EXPECT_NEAR(x1, wanted.x1, 2e-5);
      EXPECT_NEAR(y1, wanted.y1, 2e-5);
      EXPECT_NEAR(std::min(std::max(x + scale * ramps[2 * cells + cell], x1), 1.0f * geometry.input_width),
                  wanted.x2, 2e-5);
      EXPECT_NEAR(std::min(std::max(y + scale * ramps[3 * cells + cell], y1), 1.0f * geometry.input_height),
                  wanted.y2, 2e-5);
    }
  }
}

}  // namespace
}  // namespace maskfit::targets
