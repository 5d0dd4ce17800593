// The kernels of assign_cuda.h against LibTorch's operations on the CPU, which define them.

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "loss/assign_cuda.h"
#include "loss/task_aligned_costs.h"
#include "tensor/device.h"

namespace maskfit::loss {
namespace {

const targets::BoxCoding kCoding{35.0f, 0.5f};

struct Case {
  int pictures, classes, width, height, most_truths;
  int top_k;
};

spec::CostFunctionConfig::TaskAligned config_of(const Case& c) {
  spec::CostFunctionConfig::TaskAligned config;
  config.set_top_k(static_cast<std::uint32_t>(c.top_k));
  config.set_coverage_power(0.5f);
  config.set_iou_power(6);
  config.set_min_radius(1);
  return config;
}

// Truths of all kinds: tiny, large, over the edge, ignored, two alike; one picture has none.
PaddedTruths random_truths(const Case& c, base::Rng& rng) {
  std::vector<boxes::Truths> batch(static_cast<std::size_t>(c.pictures));
  for (int n = 1; n < c.pictures; ++n) {
    for (int i = 0; i < rng.uniform_int(1, c.most_truths); ++i) {
      const float x = rng.uniform(-20.0f, 16.0f * static_cast<float>(c.width));
      const float y = rng.uniform(-20.0f, 16.0f * static_cast<float>(c.height));
      const boxes::Box box{x, y, x + rng.uniform(2.0f, 150.0f), y + rng.uniform(2.0f, 150.0f)};
      batch[static_cast<std::size_t>(n)].push_back(
          {box, static_cast<int>(rng.uniform_int(0, c.classes - 1)), i > 0 && rng.bernoulli(0.15f)});
    }
    batch[static_cast<std::size_t>(n)].push_back(batch[static_cast<std::size_t>(n)].front());
  }
  return pad_truths(batch);
}

class AssignCuda : public testing::TestWithParam<Case> {};

TEST_P(AssignCuda, EqualsTheCpu) {
#ifndef MASKFIT_WITH_CUDA
  GTEST_SKIP() << "built without CUDA (preset gpu has it)";
#else
  if (tensor::gpu_count() == 0) GTEST_SKIP() << "no GPU that this build can use";
  const Case c = GetParam();
  base::Rng rng(5, base::Purpose::kTest);
  at::manual_seed(5);
  const boxes::GridGeometry geometry{c.width * 16, c.height * 16, c.width, c.height};
  const at::Tensor bbox = at::rand({c.pictures, 4 * c.classes, c.height, c.width}).mul_(3).sub_(0.3);
  const at::Tensor decoded = decode_cells(bbox, geometry, kCoding);
  const at::Tensor cov = at::rand({c.pictures, c.classes, c.height, c.width});
  const PaddedTruths truths = random_truths(c, rng);
  const auto assign = [&](c10::Device device) {
    return assign_task_aligned(decoded.to(device), cov.to(device), to_device(truths, device), geometry,
                               kCoding, config_of(c));
  };
  const Assignment expected = assign(c10::kCPU), actual = assign(tensor::device_from_name("cuda"));
  const at::Tensor answers = expected.quality.gt(0);
  EXPECT_GT(answers.sum().item<std::int64_t>(), 0);
  EXPECT_TRUE(at::equal(actual.quality.cpu().gt(0), answers));
  EXPECT_TRUE(at::allclose(actual.quality.cpu(), expected.quality, 1e-4, 1e-6));
  EXPECT_TRUE(at::equal(actual.background.cpu(), expected.background));
  EXPECT_TRUE(
      at::equal(actual.classes.cpu().masked_select(answers), expected.classes.masked_select(answers)));
  EXPECT_TRUE(
      at::equal(actual.boxes.cpu().mul(answers.unsqueeze(-1)), expected.boxes.mul(answers.unsqueeze(-1))));
#endif
}

INSTANTIATE_TEST_SUITE_P(Sizes, AssignCuda,
                         testing::Values(Case{3, 2, 40, 40, 12, 10}, Case{4, 1, 6, 5, 6, 40},
                                         Case{4, 3, 60, 34, 60, 13}, Case{2, 2, 5, 7, 1, 1}));

}  // namespace
}  // namespace maskfit::loss
