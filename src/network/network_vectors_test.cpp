// Numbers of the reference: parameter counts of its networks and the arithmetic of its padding.

#include <gtest/gtest.h>

#include "network/backbones.h"
#include "network/network.h"
#include "tests/support/vectors.h"

namespace maskfit::network {
namespace {

using support::vector_group;

TEST(NetworkVectorsTest, ParameterCounts) {
  MASKFIT_REQUIRE_VECTORS();
  int checked = 0;
  for (const auto& vector : vector_group("param_count")) {
    SCOPED_TRACE(vector.at("id").get<std::string>());
    const auto& input = vector.at("input");
    ASSERT_EQ(input.at("arch"), "resnet") << "no backbone for this vector";
    BackboneOptions options;
    options.backbone = "resnet" + std::to_string(input.at("num_layers").get<int>());
    options.use_batch_norm = input.at("use_batch_norm").get<bool>();
    options.all_projections = input.at("all_projections").get<bool>();
    options.classes = input.at("num_classes").get<int>();
    ASSERT_TRUE(input.at("use_bias").get<bool>());
    const Counts counts = count(make_detectnet(options));
    const auto& expected = vector.at("expected");
    EXPECT_EQ(counts.trainable, expected.at("trainable").get<std::int64_t>());
    EXPECT_EQ(counts.non_trainable, expected.at("non_trainable").get<std::int64_t>());
    ++checked;
  }
  EXPECT_GT(checked, 0);
}

// A one-dimensional convolution with zeros outside, `before` of them on the left.
std::vector<double> convolve(const std::vector<double>& x, const std::vector<double>& kernel, int stride,
                             int before, int outputs) {
  std::vector<double> y;
  for (int o = 0; o < outputs; ++o) {
    double sum = 0;
    for (int k = 0; k < static_cast<int>(kernel.size()); ++k) {
      const int i = o * stride - before + k;
      if (i >= 0 && i < static_cast<int>(x.size()))
        sum += x[static_cast<std::size_t>(i)] * kernel[static_cast<std::size_t>(k)];
    }
    y.push_back(sum);
  }
  return y;
}

TEST(NetworkVectorsTest, SamePaddingIsSymmetric) {
  MASKFIT_REQUIRE_VECTORS();
  bool differs_from_native = false;
  for (const auto& vector : vector_group("same_padding_1d")) {
    SCOPED_TRACE(vector.at("id").get<std::string>());
    const auto x = vector.at("input").at("x").get<std::vector<double>>();
    const auto kernel = vector.at("input").at("kernel").get<std::vector<double>>();
    const int stride = vector.at("input").at("stride").get<int>();
    const int size = static_cast<int>(kernel.size());
    const int padding = same_padding(size);
    const int outputs = window_count(static_cast<int>(x.size()), size, stride, padding);
    const auto symmetric = vector.at("expected").at("symmetric_patched").get<std::vector<double>>();
    EXPECT_EQ(convolve(x, kernel, stride, padding, outputs), symmetric);
    differs_from_native |= symmetric != vector.at("expected").at("tf_native_same").get<std::vector<double>>();
  }
  EXPECT_TRUE(differs_from_native) << "the vectors no longer tell the two paddings apart";
}

}  // namespace
}  // namespace maskfit::network
