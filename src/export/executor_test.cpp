#include "export/executor.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "export/convolution.h"
#include "export/quantise.h"
#include "export/test_model.h"

namespace maskfit::exporting {
namespace {

using network::Node;
using network::Op;
using network::Shape;

// A convolution from its definition, in float64.
std::vector<double> defined_convolution(const ConvShape& s, const std::vector<float>& in,
                                        const std::vector<float>& kernel) {
  std::vector<double> out;
  for (int m = 0; m < s.out.channels; ++m) {
    for (int oy = 0; oy < s.out.height; ++oy) {
      for (int ox = 0; ox < s.out.width; ++ox) {
        double sum = 0;
        for (int c = 0; c < s.in.channels; ++c) {
          for (int ky = 0; ky < s.kernel; ++ky) {
            for (int kx = 0; kx < s.kernel; ++kx) {
              const int y = oy * s.stride - s.padding + ky * s.dilation,
                        x = ox * s.stride - s.padding + kx * s.dilation;
              if (y < 0 || y >= s.in.height || x < 0 || x >= s.in.width) continue;
              sum +=
                  static_cast<double>(in[static_cast<std::size_t>((c * s.in.height + y) * s.in.width + x)]) *
                  kernel[static_cast<std::size_t>(((m * s.in.channels + c) * s.kernel + ky) * s.kernel + kx)];
            }
          }
        }
        out.push_back(sum);
      }
    }
  }
  return out;
}

ConvShape shape_of(int channels, int height, int width, int out, int kernel, int stride, int padding,
                   int dilation = 1) {
  return {{channels, height, width},
          {out, network::window_count(height, kernel, stride, padding, dilation),
           network::window_count(width, kernel, stride, padding, dilation)},
          kernel,
          stride,
          padding,
          dilation};
}

const std::vector<ConvShape>& shapes() {
  static const std::vector<ConvShape> list = {
      shape_of(3, 17, 23, 8, 7, 2, 3),   shape_of(5, 9, 40, 13, 3, 1, 1), shape_of(16, 30, 31, 7, 1, 2, 0),
      shape_of(70, 5, 6, 4, 3, 1, 2, 2), shape_of(2, 1, 1, 1, 3, 1, 1),   shape_of(131, 20, 21, 6, 3, 2, 1)};
  return list;
}

std::vector<float> random_values(std::size_t count, std::uint64_t seed, float limit) {
  base::Rng rng(seed, base::Purpose::kTest);
  std::vector<float> values(count);
  for (float& value : values) value = rng.uniform(-limit, limit);
  return values;
}

std::size_t weights_of(const ConvShape& s) {
  return static_cast<std::size_t>(s.out.channels) * s.depth();
}
std::size_t pixels_of(const Shape& s) {
  return static_cast<std::size_t>(s.channels) * s.height * s.width;
}

class EveryKernel : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    const GemmKernels* usable[3];
    if (GetParam() >= usable_gemm_kernels(usable)) GTEST_SKIP() << "this processor has fewer kernels";
    kernels_ = usable[GetParam()];
  }
  const GemmKernels* kernels_ = nullptr;
};

TEST_P(EveryKernel, RealConvolutionIsWhatItsDefinitionSays) {
  for (const ConvShape& s : shapes()) {
    const std::vector<float> in = random_values(pixels_of(s.in), 1, 1),
                             kernel = random_values(weights_of(s), 2, 1);
    std::vector<float> bias(static_cast<std::size_t>(s.out.channels), 0.5f);
    std::vector<float> out(pixels_of(s.out));
    Convolution(s, kernel, bias, *kernels_).run(in.data(), out.data(), 2);
    const std::vector<double> expected = defined_convolution(s, in, kernel);
    for (std::size_t i = 0; i < out.size(); ++i)
      ASSERT_NEAR(out[i], expected[i] + 0.5, 1e-4) << kernels_->name;
  }
}

TEST_P(EveryKernel, IntegerConvolutionIsExact) {
  for (const ConvShape& s : shapes()) {
    // Extremes among them: -128 and 127 in, -127 and 127 as weights.
    std::vector<float> in = random_values(pixels_of(s.in), 3, 127),
                       kernel = random_values(weights_of(s), 4, 127);
    for (float& value : in) value = std::nearbyint(value);
    for (float& value : kernel) value = std::nearbyint(value);
    in[0] = -128;
    kernel[0] = -127;
    const std::vector<std::int8_t> in8(in.begin(), in.end()), kernel8(kernel.begin(), kernel.end());
    std::vector<float> out(pixels_of(s.out));
    const std::vector<float> ones(static_cast<std::size_t>(s.out.channels), 1.0f);
    Convolution(s, kernel8, ones, 1.0f, {}, *kernels_).run(in8.data(), out.data(), 1);
    const std::vector<double> expected = defined_convolution(s, in, kernel);
    for (std::size_t i = 0; i < out.size(); ++i) {
      ASSERT_EQ(out[i], static_cast<float>(static_cast<std::int32_t>(expected[i]))) << kernels_->name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, EveryKernel, ::testing::Range(0, 3));

TEST(QuantiseRow, RoundsHalfToEvenAndSaturates) {
  const float values[] = {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 126.6f, 1000, -1000, 0.25f};
  std::int8_t out[9];
  quantise_row(values, 1, 9, out);
  const std::int8_t expected[] = {0, 2, 2, 0, -2, 127, 127, -128, 0};
  for (int i = 0; i < 9; ++i) EXPECT_EQ(out[i], expected[i]) << values[i];
}

// Folding changes the arrangement, not the function.
TEST(Executor, FoldedNetworkGivesTheSameGrids) {
  for (const TestModelOptions base :
       {TestModelOptions{}, TestModelOptions{.neck = true, .pool = true, .width = 0.25f}}) {
    TestModelOptions options = base;
    options.fold = false;
    const Grids loose = Executor(test_model(options)).run(test_pixels(1));
    options.fold = true;
    const Grids folded = Executor(test_model(options)).run(test_pixels(1));
    ASSERT_EQ(loose.box.size(), 4 * loose.coverage.size());
    for (std::size_t i = 0; i < loose.box.size(); ++i) ASSERT_NEAR(loose.box[i], folded.box[i], 1e-4);
    for (std::size_t i = 0; i < loose.coverage.size(); ++i)
      ASSERT_NEAR(loose.coverage[i], folded.coverage[i], 1e-5);
  }
}

TEST(Executor, OnePictureOrManyIsTheSame) {
  const Executor executor(test_model({}));
  const std::vector<float> a = test_pixels(1), b = test_pixels(2), c = test_pixels(3);
  const std::vector<Grids> together = executor.run(std::vector<std::span<const float>>{a, b, c});
  EXPECT_EQ(together[1].box, executor.run(b).box);
  EXPECT_EQ(together[2].coverage, executor.run(c, 1).coverage);
}

TEST(Executor, TapSeesEveryNodeInOrder) {
  const ExportedModel exported = test_model({});
  std::vector<std::string> seen;
  Executor(exported).run(test_pixels(1), 1, [&](const Node& node, std::span<const float> values) {
    EXPECT_FALSE(values.empty());
    seen.push_back(node.name);
  });
  ASSERT_EQ(seen.size(), exported.model.network.nodes.size());
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], exported.model.network.nodes[i].name);
}

TEST(Executor, Float16StaysNearAndIsRounded) {
  ExportedModel exported = test_model({});
  const Grids exact = Executor(exported).run(test_pixels(1));
  exported.precision = Precision::kFloat16;
  const Grids half = Executor(exported).run(test_pixels(1));
  EXPECT_NE(half.box, exact.box);
  for (std::size_t i = 0; i < half.box.size(); ++i) ASSERT_NEAR(half.box[i], exact.box[i], 0.02);
}

// With scales this fine, 8 bit would be exact but for the cut: the integers are used, and used with their
// scales.
TEST(Executor, IntegersFollowTheRealNetwork) {
  ExportedModel exported = test_model({});
  std::map<std::string, float> scales;
  const Grids exact =
      Executor(exported).run(test_pixels(1), 1, [&](const Node& node, std::span<const float> values) {
        float largest = 1e-6f;
        for (const float value : values) largest = std::max(largest, std::fabs(value));
        scales[node.name] = largest / 127;
      });
  exported.precision = Precision::kInt8;
  exported.quantisation = place_quantisation(exported.model.network, scales, {});
  const Grids integers = Executor(exported).run(test_pixels(1));
  EXPECT_NE(integers.box, exact.box);
  double worst = 0, largest = 0;
  for (std::size_t i = 0; i < exact.box.size(); ++i) {
    worst = std::max(worst, std::fabs(static_cast<double>(integers.box[i]) - exact.box[i]));
    largest = std::max(largest, std::fabs(static_cast<double>(exact.box[i])));
  }
  EXPECT_LT(worst, 0.1 * largest);
}

TEST(Executor, WrongNumberOfPixelsIsOurMistake) {
  EXPECT_THROW(Executor(test_model({})).run(std::vector<float>(7)), base::CheckFailed);
}

TEST(PlaceQuantisation, ShortcutsAreEightBitAndTheMainPathIsNot) {
  const network::Network network = test_model({}).model.network;
  std::map<std::string, float> scales;
  for (const Node& node : network.nodes) scales[node.name] = 1;
  const Quantisation q = place_quantisation(network, scales, {"output_bbox"});
  EXPECT_TRUE(q.edges.contains({"block_1a_conv_1", 0}));
  EXPECT_FALSE(q.edges.contains({"output_bbox", 0}));
  EXPECT_TRUE(q.edges.contains({"output_cov", 0}));
  for (const Node& node : network.nodes) {
    if (node.op != Op::kAdd) continue;
    EXPECT_FALSE(q.edges.contains({node.name, 0}));
    EXPECT_TRUE(q.edges.contains({node.name, 1}));
  }
  scales.erase("input_1");
  EXPECT_THROW(place_quantisation(network, scales, {}), base::CheckFailed);
}

TEST(WeightScales, ChannelOfZerosAndRounding) {
  const network::Array kernel{{2, 2, 1, 1}, {0, 0, 1.27f, -0.635f}};
  const std::vector<float> scales = weight_scales(kernel);
  EXPECT_EQ(scales[0], 1);
  EXPECT_NEAR(scales[1], 0.01, 1e-7);
  EXPECT_EQ(quantised_kernel(kernel, scales), (std::vector<std::int8_t>{0, 0, 127, -64}));
}

}  // namespace
}  // namespace maskfit::exporting
