#include "train/gradient_buckets.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/rank_threads.h"
#include "train/rank_mean.h"

namespace maskfit::train {
namespace {

std::vector<at::Tensor> parameters() {
  return {at::zeros({4, 3, 2, 2}).contiguous(at::MemoryFormat::ChannelsLast), at::zeros({7}), at::zeros({5}),
          at::zeros({300, 10})};
}

at::Tensor gradient_of(std::size_t index, int rank, int step, const at::Tensor& like) {
  const double from = static_cast<double>(index) + 10 * rank + 100 * step;
  return at::arange(like.numel(), at::kFloat).view(like.sizes()).add(from);
}

// Parameter 2 never has a gradient. Small buckets, so that there are several.
TEST(GradientBuckets, EveryStepHasTheMeansOverTheRanks) {
  const int ranks = 3;
  const auto errors = support::run_ranks(ranks, [&](ranks::Group& group) {
    const auto mean = make_rank_mean(group, "cpu");
    GradientBuckets buckets(parameters(), *mean, 100);
    for (int step = 0; step < 4; ++step) {
      std::vector<at::Tensor> gradients = parameters();
      for (const std::size_t index : {3, 1, 0}) {
        gradients[index] = gradient_of(index, group.rank(), step, gradients[index]);
        buckets.take(index, gradients[index]);
      }
      buckets.finish(gradients);
      for (const std::size_t index : {0, 1, 3}) {
        const at::Tensor expected = gradient_of(index, 1, step, gradients[index]);  // the middle one of three
        EXPECT_TRUE(at::allclose(gradients[index], expected)) << step << " " << index;
        EXPECT_EQ(gradients[index].strides(), parameters()[index].strides()) << index;
      }
      EXPECT_EQ(gradients[2].abs().sum().item<float>(), 0);
    }
    EXPECT_EQ(buckets.buckets(), 2u);
  });
  EXPECT_THAT(errors, testing::Each(""));
}

TEST(RankMean, NumbersOfEitherWidth) {
  const auto errors = support::run_ranks(2, [&](ranks::Group& group) {
    const auto mean = make_rank_mean(group, "cpu");
    const at::Tensor wide = at::full({3}, group.rank() + 0.5, at::kDouble), one = at::full({}, group.rank());
    mean->mean(wide);
    EXPECT_TRUE(at::equal(wide, at::full({3}, 1.0, at::kDouble)));
    const at::Tensor single = one.to(at::kFloat);
    mean->begin(single);
    mean->finish();
    EXPECT_EQ(single.item<float>(), 0.5f);
  });
  EXPECT_THAT(errors, testing::Each(""));
}

}  // namespace
}  // namespace maskfit::train
