// The kernel against rasterise() and mask_ignored(), which define it. Equal means equal, not near.

#include <gtest/gtest.h>

#include "base/rng.h"
#include "targets/loss_mask.h"
#include "targets/rasterise.h"
#include "targets/rasterise_cuda.h"

#ifdef MASKFIT_WITH_CUDA
#include "tests/support/device_array.h"
#endif

namespace maskfit::targets {
namespace {

#ifndef MASKFIT_WITH_CUDA

TEST(RasteriseCuda, EqualsRasterise) {
  GTEST_SKIP() << "built without CUDA (preset gpu has it)";
}

#else

using support::DeviceArray;
using support::require;

// Boxes of all kinds: tiny, huge, over the edge, outside, reversed, ignored, with equal lower edges.
std::vector<boxes::Truths> random_batch(int pictures, int classes, const boxes::GridGeometry& geometry) {
  base::Rng rng(11, base::Purpose::kTest);
  std::vector<boxes::Truths> batch(pictures);
  for (int n = 0; n < pictures; ++n) {
    const std::int64_t count = n == 1 ? 0 : rng.uniform_int(1, 25);
    for (std::int64_t i = 0; i < count; ++i) {
      const float x = rng.uniform(-40.0f, 1.1f * static_cast<float>(geometry.input_width));
      const float y = rng.uniform(-40.0f, 1.1f * static_cast<float>(geometry.input_height));
      const float width = rng.uniform(-3.0f, 200.0f), height = i % 5 == 0 ? 30.0f : rng.uniform(0.0f, 200.0f);
      batch[n].push_back({{x, y, x + width, y + height},
                          static_cast<int>(rng.uniform_int(0, classes - 1)),
                          rng.bernoulli(0.15f)});
    }
  }
  return batch;
}

void compare(const boxes::GridGeometry& geometry, int pictures, const RasterShapes& shapes) {
  const int classes = static_cast<int>(shapes.classes.size());
  const std::vector<boxes::Truths> batch = random_batch(pictures, classes, geometry);
  std::vector<float> weights;
  for (int n = 0; n < pictures; ++n) weights.push_back(0.5f + 0.25f * static_cast<float>(n % 3));
  const PackedTruths packed = pack_truths(batch, classes);
  const DeviceArray<boxes::Box> boxes_on_device(packed.boxes), ignored(packed.ignored);
  const DeviceArray<std::int32_t> plane_begin(packed.plane_begin), ignored_begin(packed.ignored_begin);
  const DeviceArray<ClassShape> shapes_on_device(shapes.classes);
  const DeviceArray<float> weights_on_device(weights);
  const std::size_t plane = static_cast<std::size_t>(geometry.cells()) * classes;
  const std::vector<float> unwritten(pictures * plane, -7.0f), unwritten_box(pictures * plane * 4, -7.0f);
  const DeviceArray<float> coverage(unwritten), coverage_norm(unwritten), box(unwritten_box), mask(unwritten);
  const char* error =
      rasterise_cuda({boxes_on_device.data(), plane_begin.data(), ignored.data(), ignored_begin.data(),
                      shapes_on_device.data(), weights_on_device.data(), shapes.deadzone_radius, pictures,
                      classes, geometry, BoxCoding{}},
                     {coverage.data(), coverage_norm.data(), box.data(), mask.data()}, nullptr);
  ASSERT_EQ(error, nullptr) << error;
  require(cudaDeviceSynchronize());

  std::vector<float> wanted_coverage, wanted_norm, wanted_box, wanted_mask;
  for (int n = 0; n < pictures; ++n) {
    const TargetGrids grids = rasterise(batch[n], shapes, geometry, BoxCoding{});
    LossMasks masks = all_ones(geometry, classes);
    mask_ignored(batch[n], grids.coverage, &masks);
    apply_source_weight(weights[n], pictures, {}, &masks);
    wanted_coverage.insert(wanted_coverage.end(), grids.coverage.begin(), grids.coverage.end());
    wanted_norm.insert(wanted_norm.end(), grids.coverage_norm.begin(), grids.coverage_norm.end());
    wanted_box.insert(wanted_box.end(), grids.box.begin(), grids.box.end());
    wanted_mask.insert(wanted_mask.end(), masks.coverage.begin(), masks.coverage.end());
  }
  EXPECT_EQ(coverage.to_host(), wanted_coverage);
  EXPECT_EQ(coverage_norm.to_host(), wanted_norm);
  EXPECT_EQ(box.to_host(), wanted_box);
  EXPECT_EQ(mask.to_host(), wanted_mask);
}

TEST(RasteriseCuda, EqualsRasterise) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) GTEST_SKIP() << "no CUDA device";
  const RasterShapes face_mask = {0.4f, {{0.5f, 0.5f, 0.4f, 0.4f, 1}, {0.5f, 0.5f, 1, 1, 1}}};
  const RasterShapes off_centre = {0.67f, {{0.3f, 0.8f, 0.5f, 0.9f, 0.5f}}};
  compare({960, 544, 60, 34}, 24, face_mask);
  compare({640, 640, 40, 40}, 3, off_centre);
  compare({80, 64, 5, 4}, 2, face_mask);
  compare({640, 640, 80, 80}, 2, face_mask);
}

TEST(RasteriseCuda, AnEmptyBatchIsNoError) {
  EXPECT_EQ(rasterise_cuda(RasterInput{}, RasterOutput{}, nullptr), nullptr);
}

#endif

}  // namespace
}  // namespace maskfit::targets
