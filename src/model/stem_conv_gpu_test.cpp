// The kernels against the CPU functions that define them, on fresh random pictures.

#include "model/stem_conv.h"

#include <gtest/gtest.h>

#ifdef MASKFIT_WITH_CUDA

#include <cuda_bf16.h>

#include <cmath>
#include <limits>

#include "base/rng.h"
#include "model/stem.h"
#include "tests/support/device_array.h"

namespace maskfit::model {
namespace {

using support::DeviceArray;
using support::require;
using Floats = std::vector<float>;
using Small = std::vector<__nv_bfloat16>;

constexpr float kUnwritten = std::numeric_limits<float>::quiet_NaN();

Small encode(const Floats& values) {
  Small small;
  for (const float v : values) small.push_back(__float2bfloat16(v));
  return small;
}
Floats decode(const Small& small) {
  Floats values;
  for (const __nv_bfloat16 v : small) values.push_back(__bfloat162float(v));
  return values;
}

// Random numbers that bfloat16 keeps.
Floats random(std::size_t count, float low, float high, std::uint64_t seed) {
  base::Rng rng(seed, base::Purpose::kTest);
  Floats values(count);
  for (float& v : values) v = rng.uniform(low, high);
  return decode(encode(values));
}

double relative_error(const Floats& actual, const Floats& wanted) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    difference += std::pow(static_cast<double>(actual[i]) - wanted[i], 2);
    size += std::pow(static_cast<double>(wanted[i]), 2);
  }
  return std::sqrt(difference / std::max(size, 1e-30));
}

// Pictures and weights as the folding functions leave them: spare places are 0.
struct Scene {
  StemConv conv;
  std::size_t rows, filters;
  Floats pictures, weights;
  explicit Scene(const StemConv& c)
      : conv(c),
        rows(static_cast<std::size_t>(c.count) * c.lines * c.columns),
        filters(static_cast<std::size_t>(c.filters)) {
    const int height = 2 * c.lines, width = 2 * c.columns, blocks = stem_window(c.kernel).blocks;
    const Floats pixels = random(static_cast<std::size_t>(c.count) * 3 * height * width, 0, 1, 1);
    pictures.resize(static_cast<std::size_t>(c.count) * (c.lines + blocks - 1) * (c.columns + blocks - 1) *
                    16);
    fold_pictures_on_cpu({pixels.data(), Storage::kFloat32, c.count, 3, height, width, 3L * height * width,
                          static_cast<std::int64_t>(height) * width, width, 1},
                         c.kernel, pictures.data());
    const Floats plain = random(filters * c.kernel * c.kernel * 3, -0.1f, 0.1f, 2);
    weights.resize(filters * blocks * blocks * 16);
    fold_weights_on_cpu(plain.data(), c.filters, 3, c.kernel, weights.data());
  }
};

bool no_gpu() {
  int devices = 0;
  return cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0;
}

void compare_forward(const Scene& scene) {
  const StemConv& conv = scene.conv;
  const DeviceArray<__nv_bfloat16> pictures(encode(scene.pictures)), weights(encode(scene.weights));
  const DeviceArray<__nv_bfloat16> y(Small(scene.rows * scene.filters, __float2bfloat16(kUnwritten)));
  const DeviceArray<unsigned char> scratch(std::vector<unsigned char>(stem_scratch_bytes(), 0xff));
  Floats bias = random(scene.filters, -1, 1, 3), mean(scene.filters, kUnwritten), invstd(mean),
         moving_mean = random(scene.filters, -1, 1, 4), moving_variance = random(scene.filters, 1, 2, 5),
         wanted(scene.rows * scene.filters);
  const DeviceArray<float> d_bias(bias), d_mean(mean), d_invstd(invstd), d_moving_mean(moving_mean),
      d_moving_variance(moving_variance);
  const char* const error =
      stem_forward_cuda(conv, pictures.data(), weights.data(), y.data(),
                        {nullptr, 1e-3f, 0.9f, d_bias.data(), d_mean.data(), d_invstd.data(),
                         d_moving_mean.data(), d_moving_variance.data()},
                        scratch.data(), nullptr);
  ASSERT_EQ(error, nullptr) << error;
  require(cudaDeviceSynchronize());
  stem_forward_on_cpu(conv, scene.pictures.data(), scene.weights.data(), wanted.data(),
                      {nullptr, 1e-3f, 0.9f, bias.data(), mean.data(), invstd.data(), moving_mean.data(),
                       moving_variance.data()});
  EXPECT_LT(relative_error(decode(y.to_host()), wanted), 3e-3);
  EXPECT_LT(relative_error(d_mean.to_host(), mean), 2e-3);
  EXPECT_LT(relative_error(d_invstd.to_host(), invstd), 2e-3);
  EXPECT_LT(relative_error(d_moving_mean.to_host(), moving_mean), 2e-3);
  EXPECT_LT(relative_error(d_moving_variance.to_host(), moving_variance), 2e-3);
}

void compare_backward(const Scene& scene, int second_stride) {
  SCOPED_TRACE(second_stride);
  const StemConv& conv = scene.conv;
  const int s = std::max(1, second_stride);
  const std::size_t small = static_cast<std::size_t>(conv.count) * ((conv.lines + s - 1) / s) *
                            ((conv.columns + s - 1) / s) * scene.filters;
  const Floats x = random(scene.rows * scene.filters, -1, 2, 6), first = random(x.size(), -1, 1, 7),
               second = random(small, -1, 1, 8), gamma = random(scene.filters, 0.5f, 1.5f, 9),
               beta = random(scene.filters, -0.5f, 0.5f, 10), mean = random(scene.filters, 0, 1, 11),
               invstd = random(scene.filters, 0.5f, 1.2f, 12);
  Floats to_gamma(scene.filters), to_beta(scene.filters),
      wanted(scene.filters * conv.kernel * conv.kernel * 3, kUnwritten);
  const bool two = second_stride > 0;
  stem_backward_on_cpu(conv, scene.pictures.data(),
                       {{x.data(),
                         {gamma.data(), beta.data(), mean.data(), invstd.data()},
                         Shortcut::kNone,
                         nullptr,
                         {},
                         true},
                        {first.data(), two ? second.data() : nullptr, s, conv.lines, conv.columns},
                        to_gamma.data(),
                        to_beta.data(),
                        nullptr,
                        nullptr,
                        nullptr,
                        nullptr},
                       wanted.data());
  const DeviceArray<__nv_bfloat16> pictures(encode(scene.pictures)), d_x(encode(x)), d_first(encode(first)),
      d_second(encode(second));
  const DeviceArray<float> d_gamma(gamma), d_beta(beta), d_mean(mean), d_invstd(invstd), d_to_gamma(to_gamma),
      d_to_beta(to_beta), to_weights(Floats(wanted.size(), kUnwritten));
  const DeviceArray<unsigned char> scratch(std::vector<unsigned char>(stem_scratch_bytes(), 0xff));
  const char* const error =
      stem_backward_cuda(conv, pictures.data(),
                         {{d_x.data(),
                           {d_gamma.data(), d_beta.data(), d_mean.data(), d_invstd.data()},
                           Shortcut::kNone,
                           nullptr,
                           {},
                           true},
                          {d_first.data(), two ? d_second.data() : nullptr, s, conv.lines, conv.columns},
                          d_to_gamma.data(),
                          d_to_beta.data(),
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr},
                         to_weights.data(), scratch.data(), nullptr);
  ASSERT_EQ(error, nullptr) << error;
  require(cudaDeviceSynchronize());
  EXPECT_LT(relative_error(to_weights.to_host(), wanted), 5e-3);
}

TEST(StemConvCuda, EqualsTheCpu) {
  if (no_gpu()) GTEST_SKIP() << "no CUDA device";
  const StemConv cases[] = {{2, 9, 21, 64, 7, 3, Storage::kBfloat16},
                            {1, 5, 96, 40, 7, 3, Storage::kBfloat16},
                            {3, 70, 33, 8, 3, 3, Storage::kBfloat16},
                            {1, 1, 1, 16, 5, 3, Storage::kBfloat16},
                            {2, 40, 130, 64, 7, 3, Storage::kBfloat16}};
  for (const StemConv& conv : cases) {
    SCOPED_TRACE(testing::Message() << conv.count << " x " << conv.lines << " x " << conv.columns << ", "
                                    << conv.filters << " filters, kernel " << conv.kernel);
    const Scene scene(conv);
    compare_forward(scene);
    for (const int second : {0, 1, 2}) compare_backward(scene, second);
  }
}

TEST(StemConvCuda, OtherShapesAreLeftToLibTorch) {
  EXPECT_TRUE(stem_conv_takes({1, 272, 480, 64, 7, 3, Storage::kFloat16}));
  EXPECT_FALSE(stem_conv_takes({1, 272, 480, 64, 7, 3, Storage::kFloat32}));
  EXPECT_FALSE(stem_conv_takes({1, 272, 480, 60, 7, 3, Storage::kBfloat16}));
  EXPECT_FALSE(stem_conv_takes({1, 272, 480, 72, 7, 3, Storage::kBfloat16}));
  EXPECT_FALSE(stem_conv_takes({1, 272, 480, 64, 11, 3, Storage::kBfloat16}));
  EXPECT_FALSE(stem_conv_takes({1, 272, 4096, 64, 7, 3, Storage::kBfloat16}));
}

}  // namespace
}  // namespace maskfit::model

#else

TEST(StemConvCuda, EqualsTheCpu) {
  GTEST_SKIP() << "built without CUDA (preset gpu has it)";
}

#endif
