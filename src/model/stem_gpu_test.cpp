// The kernels against the CPU functions that define them. Pixels are copied and not computed with: equal
// means equal.

#include "model/stem.h"

#include <gtest/gtest.h>

#ifdef MASKFIT_WITH_CUDA

#include <cuda_bf16.h>

#include <cstring>

#include "base/rng.h"
#include "tests/support/device_array.h"

namespace maskfit::model {
namespace {

using support::DeviceArray;
using support::require;
using Floats = std::vector<float>;

bool no_gpu() {
  int devices = 0;
  return cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0;
}

// Numbers that bfloat16 keeps exactly.
Floats random(std::size_t count) {
  base::Rng rng(1, base::Purpose::kTest);
  Floats values(count);
  for (float& v : values) v = static_cast<float>(rng.uniform_int(-127, 127));
  return values;
}

Floats from_bfloat16(const std::vector<__nv_bfloat16>& values) {
  Floats floats;
  for (const __nv_bfloat16 v : values) floats.push_back(__bfloat162float(v));
  return floats;
}

void compare_pictures(int count, int channels, int height, int width, int kernel, bool channels_last) {
  const Floats pixels = random(static_cast<std::size_t>(count) * channels * height * width);
  const DeviceArray<float> on_device(pixels);
  StemPictures pictures{pixels.data(), Storage::kFloat32,         count,          channels, height,
                        width,         channels * height * width, height * width, width,    1};
  if (channels_last) {
    pictures.channel_stride = 1;
    pictures.line_stride = width * channels;
    pictures.column_stride = channels;
  }
  const int border = stem_window(kernel).blocks - 1;
  const std::size_t size = static_cast<std::size_t>(count) * (height / 2 + border) * (width / 2 + border) *
                           stem_channels(channels);
  Floats wanted(size, -1);
  fold_pictures_on_cpu(pictures, kernel, wanted.data());
  pictures.pixels = on_device.data();
  const DeviceArray<float> folded(Floats(size, -1000));
  const DeviceArray<__nv_bfloat16> small(std::vector<__nv_bfloat16>(size, __float2bfloat16(-1000)));
  ASSERT_EQ(fold_pictures_cuda(pictures, kernel, folded.data(), Storage::kFloat32, nullptr), nullptr);
  ASSERT_EQ(fold_pictures_cuda(pictures, kernel, small.data(), Storage::kBfloat16, nullptr), nullptr);
  require(cudaDeviceSynchronize());
  EXPECT_EQ(folded.to_host(), wanted);
  EXPECT_EQ(from_bfloat16(small.to_host()), wanted);
}

TEST(StemCuda, FoldsPicturesAsTheCpuDoes) {
  if (no_gpu()) GTEST_SKIP() << "no CUDA device";
  for (const bool channels_last : {false, true}) {
    compare_pictures(2, 3, 34, 62, 7, channels_last);
    compare_pictures(1, 3, 2, 2, 3, channels_last);
    compare_pictures(3, 1, 18, 600, 5, channels_last);
  }
}

TEST(StemCuda, FoldsWeightsAndTheirGradientsAsTheCpuDoes) {
  if (no_gpu()) GTEST_SKIP() << "no CUDA device";
  for (const int kernel : {3, 5, 7}) {
    constexpr int kFilters = 24, kChannels = 3;
    const std::size_t size = static_cast<std::size_t>(kFilters) * kernel * kernel * kChannels;
    const int blocks = stem_window(kernel).blocks;
    const std::size_t folded_size =
        static_cast<std::size_t>(kFilters) * blocks * blocks * stem_channels(kChannels);
    const Floats weights = random(size);
    Floats wanted(folded_size, -1000), back(size, -1000);
    fold_weights_on_cpu(weights.data(), kFilters, kChannels, kernel, wanted.data());
    unfold_gradient_on_cpu(wanted.data(), kFilters, kChannels, kernel, back.data());
    EXPECT_EQ(back, weights);

    const DeviceArray<float> on_device(weights), gradient(Floats(size, -1000));
    const DeviceArray<__nv_bfloat16> folded(std::vector<__nv_bfloat16>(folded_size, __float2bfloat16(-1000)));
    ASSERT_EQ(fold_weights_cuda(on_device.data(), kFilters, kChannels, kernel, folded.data(),
                                Storage::kBfloat16, nullptr),
              nullptr);
    ASSERT_EQ(unfold_gradient_cuda(folded.data(), Storage::kBfloat16, kFilters, kChannels, kernel,
                                   gradient.data(), nullptr),
              nullptr);
    require(cudaDeviceSynchronize());
    EXPECT_EQ(from_bfloat16(folded.to_host()), wanted);
    EXPECT_EQ(gradient.to_host(), weights);
  }
}

}  // namespace
}  // namespace maskfit::model

#else

TEST(StemCuda, EqualsTheCpu) {
  GTEST_SKIP() << "built without CUDA (preset gpu has it)";
}

#endif
