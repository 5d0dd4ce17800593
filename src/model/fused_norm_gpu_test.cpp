// The kernels against the CPU functions that define them, on fresh random pixels, with outputs that are NaN
// before the call.

#include "model/fused_norm.h"

#include <gtest/gtest.h>

#ifdef MASKFIT_WITH_CUDA

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "base/rng.h"
#include "tests/support/device_array.h"

namespace maskfit::model {
namespace {

using support::DeviceArray;
using support::require;
using Floats = std::vector<float>;

constexpr float kUnwritten = std::numeric_limits<float>::quiet_NaN();

// Pixels as the device keeps them, and back.
std::vector<unsigned char> encode(const Floats& values, Storage storage) {
  const std::size_t size = storage == Storage::kFloat32 ? 4 : 2;
  std::vector<unsigned char> bytes(values.size() * size);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (storage == Storage::kFloat32) std::memcpy(&bytes[4 * i], &values[i], 4);
    if (storage == Storage::kBfloat16) {
      const __nv_bfloat16 v = __float2bfloat16(values[i]);
      std::memcpy(&bytes[2 * i], &v, 2);
    }
    if (storage == Storage::kFloat16) {
      const __half v = __float2half(values[i]);
      std::memcpy(&bytes[2 * i], &v, 2);
    }
  }
  return bytes;
}

Floats decode(const std::vector<unsigned char>& bytes, Storage storage) {
  const std::size_t size = storage == Storage::kFloat32 ? 4 : 2;
  Floats values(bytes.size() / size);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (storage == Storage::kFloat32) std::memcpy(&values[i], &bytes[4 * i], 4);
    if (storage == Storage::kBfloat16) {
      __nv_bfloat16 v;
      std::memcpy(&v, &bytes[2 * i], 2);
      values[i] = __bfloat162float(v);
    }
    if (storage == Storage::kFloat16) {
      __half v;
      std::memcpy(&v, &bytes[2 * i], 2);
      values[i] = __half2float(v);
    }
  }
  return values;
}

// An array on both sides: the host has exactly the device's values, as float32.
class Both {
 public:
  Both(const Floats& values, Storage storage)
      : storage_(storage), host(decode(encode(values, storage), storage)), device_(encode(values, storage)) {}
  void* device() const { return device_.data(); }
  float* floats() const { return reinterpret_cast<float*>(device_.data()); }
  Floats from_device() const { return decode(device_.to_host(), storage_); }

 private:
  Storage storage_;

 public:
  Floats host;

 private:
  DeviceArray<unsigned char> device_;
};

struct Case {
  Pixels pixels;
  Shortcut shortcut;
  bool relu;
  int second_stride;  // 0: one gradient
  int height, width;
};

std::string name_of(const Case& c) {
  return "rows " + std::to_string(c.pixels.rows) + ", channels " + std::to_string(c.pixels.channels) +
         ", storage " + std::to_string(static_cast<int>(c.pixels.storage)) + ", shortcut " +
         std::to_string(static_cast<int>(c.shortcut)) + ", relu " + std::to_string(c.relu) + ", second " +
         std::to_string(c.second_stride);
}

class Scene {
 public:
  explicit Scene(const Case& c, std::uint64_t seed) : rng_(seed, base::Purpose::kTest), case_(c) {}
  Floats random(std::size_t count, float low, float high) {
    Floats values(count);
    for (float& v : values) v = rng_.uniform(low, high);
    return values;
  }
  Floats pixels() {
    return random(static_cast<std::size_t>(case_.pixels.rows) * case_.pixels.channels, -1, 3);
  }
  Floats channels(float low, float high) {
    return random(static_cast<std::size_t>(case_.pixels.channels), low, high);
  }
  Floats unwritten_pixels() const {
    return Floats(static_cast<std::size_t>(case_.pixels.rows) * case_.pixels.channels, kUnwritten);
  }

 private:
  base::Rng rng_;
  Case case_;
};

// ||actual - wanted|| / ||wanted||; NaN when anything is.
double relative_error(const Floats& actual, const Floats& wanted) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    difference += std::pow(static_cast<double>(actual[i]) - wanted[i], 2);
    size += std::pow(static_cast<double>(wanted[i]), 2);
  }
  return std::sqrt(difference / std::max(size, 1e-30));
}

double rounding(Storage storage) {
  return storage == Storage::kFloat32 ? 2e-6 : storage == Storage::kBfloat16 ? 4e-3 : 5e-4;
}

constexpr Storage kFloat = Storage::kFloat32;

// One batch norm's arrays on both sides.
struct BothNorm {
  Both gamma, beta, mean, invstd;
  explicit BothNorm(Scene& scene)
      : gamma(scene.channels(0.5f, 1.5f), kFloat),
        beta(scene.channels(-0.5f, 0.5f), kFloat),
        mean(scene.channels(0.5f, 1.5f), kFloat),
        invstd(scene.channels(0.5f, 1.2f), kFloat) {}
  NormArrays host() const {
    return {gamma.host.data(), beta.host.data(), mean.host.data(), invstd.host.data()};
  }
  NormArrays device() const { return {gamma.floats(), beta.floats(), mean.floats(), invstd.floats()}; }
};

class Scratch {
 public:
  Scratch() : bytes_(std::vector<unsigned char>(static_cast<std::size_t>(fused_norm_scratch_bytes()), 0)) {}
  void* data() const { return bytes_.data(); }

 private:
  DeviceArray<unsigned char> bytes_;
};

void done(const char* error) {
  ASSERT_EQ(error, nullptr) << error;
  require(cudaDeviceSynchronize());
}

void compare_statistics(const Case& c, const Scratch& scratch) {
  SCOPED_TRACE(name_of(c));
  Scene scene(c, 3);
  Both x(scene.pixels(), c.pixels.storage), bias(scene.channels(-1, 1), kFloat);
  Both mean(Floats(c.pixels.channels, kUnwritten), kFloat),
      invstd(Floats(c.pixels.channels, kUnwritten), kFloat);
  Both moving_mean(scene.channels(-1, 1), kFloat), moving_variance(scene.channels(0.5f, 2), kFloat);
  done(statistics_cuda(c.pixels,
                       {x.device(), 1e-3f, 0.9f, bias.floats(), mean.floats(), invstd.floats(),
                        moving_mean.floats(), moving_variance.floats()},
                       scratch.data(), nullptr));
  statistics_on_cpu(c.pixels, {x.host.data(), 1e-3f, 0.9f, bias.host.data(), mean.host.data(),
                               invstd.host.data(), moving_mean.host.data(), moving_variance.host.data()});
  EXPECT_LT(relative_error(mean.from_device(), mean.host), 2e-6);
  EXPECT_LT(relative_error(invstd.from_device(), invstd.host), 2e-6);
  EXPECT_LT(relative_error(moving_mean.from_device(), moving_mean.host), 2e-6);
  EXPECT_LT(relative_error(moving_variance.from_device(), moving_variance.host), 2e-6);
}

void compare_passes(const Case& c, const Scratch& scratch) {
  SCOPED_TRACE(name_of(c));
  Scene scene(c, 5);
  const Storage storage = c.pixels.storage;
  const std::size_t channels = static_cast<std::size_t>(c.pixels.channels);
  Both x(scene.pixels(), storage), other(scene.pixels(), storage), y(scene.unwritten_pixels(), storage);
  const BothNorm norm(scene), other_norm(scene);
  const Normalise on_host{x.host.data(),     norm.host(),       c.shortcut,
                          other.host.data(), other_norm.host(), c.relu};
  const Normalise on_device{x.device(),     norm.device(),       c.shortcut,
                            other.device(), other_norm.device(), c.relu};
  done(normalise_cuda(c.pixels, on_device, y.device(), nullptr));
  normalise_on_cpu(c.pixels, on_host, y.host.data());
  EXPECT_LT(relative_error(y.from_device(), y.host), rounding(storage));

  const int s = std::max(1, c.second_stride);
  const std::size_t small_rows = static_cast<std::size_t>(c.pixels.rows / (c.height * c.width)) *
                                 ((c.height + s - 1) / s) * ((c.width + s - 1) / s);
  Both first(scene.pixels(), storage), second(scene.random(small_rows * channels, -1, 1), storage);
  Both to_x(scene.unwritten_pixels(), storage), to_other(scene.unwritten_pixels(), storage);
  Both to_gamma(Floats(channels, kUnwritten), kFloat), to_beta(Floats(channels, kUnwritten), kFloat),
      to_other_gamma(Floats(channels, kUnwritten), kFloat),
      to_other_beta(Floats(channels, kUnwritten), kFloat);
  const bool two = c.second_stride > 0;
  done(norm_backward_cuda(c.pixels,
                          {on_device,
                           {first.device(), two ? second.device() : nullptr, s, c.height, c.width},
                           to_gamma.floats(),
                           to_beta.floats(),
                           to_other_gamma.floats(),
                           to_other_beta.floats(),
                           to_x.device(),
                           to_other.device()},
                          scratch.data(), nullptr));
  norm_backward_on_cpu(c.pixels,
                       {on_host,
                        {first.host.data(), two ? second.host.data() : nullptr, s, c.height, c.width},
                        to_gamma.host.data(),
                        to_beta.host.data(),
                        to_other_gamma.host.data(),
                        to_other_beta.host.data(),
                        to_x.host.data(),
                        to_other.host.data()});
  EXPECT_LT(relative_error(to_beta.from_device(), to_beta.host), 1e-4);
  EXPECT_LT(relative_error(to_gamma.from_device(), to_gamma.host), 1e-4);
  EXPECT_LT(relative_error(to_x.from_device(), to_x.host), 1e-4 + rounding(storage));
  if (c.shortcut == Shortcut::kNormalised) {
    EXPECT_LT(relative_error(to_other_gamma.from_device(), to_other_gamma.host), 1e-4);
    EXPECT_EQ(to_other_beta.from_device(), to_beta.from_device());
  }
  if (c.shortcut != Shortcut::kNone) {
    EXPECT_LT(relative_error(to_other.from_device(), to_other.host), 1e-4 + rounding(storage));
  }
}

bool no_gpu() {
  int devices = 0;
  return cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0;
}

TEST(FusedNormCuda, EqualsTheCpuForEveryShape) {
  if (no_gpu()) GTEST_SKIP() << "no CUDA device";
  const Scratch scratch;
  for (const Storage storage : {Storage::kFloat32, Storage::kBfloat16, Storage::kFloat16}) {
    for (const int channels : {8, 24, 64, 72, 200, 512}) {
      const Case statistics{{2 * 7 * 9, channels, storage}, Shortcut::kNone, true, 0, 7, 9};
      compare_statistics(statistics, scratch);
      for (const Shortcut shortcut : {Shortcut::kNone, Shortcut::kPlain, Shortcut::kNormalised}) {
        for (const int second : {0, 1, 2}) {
          compare_passes({{2 * 7 * 9, channels, storage}, shortcut, true, second, 7, 9}, scratch);
        }
      }
      compare_passes({{3, channels, storage}, Shortcut::kNone, false, 2, 1, 1}, scratch);
    }
  }
}

TEST(FusedNormCuda, EqualsTheCpuForManyPixels) {
  if (no_gpu()) GTEST_SKIP() << "no CUDA device";
  const Scratch scratch;
  for (const int channels : {16, 136}) {
    const Case large{{3 * 150 * 131, channels, Storage::kBfloat16}, Shortcut::kNormalised, true, 2, 150, 131};
    compare_statistics(large, scratch);
    compare_passes(large, scratch);
  }
}

TEST(FusedNormCuda, VarianceSurvivesAMeanFarFromZero) {
  if (no_gpu()) GTEST_SKIP() << "no CUDA device";
  const Scratch scratch;
  const Case c{{5000, 8, Storage::kFloat32}, Shortcut::kNone, true, 0, 1, 1};
  Scene scene(c, 7);
  Floats values = scene.pixels();
  for (float& v : values) v += 3000;
  Both x(values, kFloat), mean(Floats(8, kUnwritten), kFloat), invstd(Floats(8, kUnwritten), kFloat);
  Both moving_mean(Floats(8, 0), kFloat), moving_variance(Floats(8, 0), kFloat);
  done(statistics_cuda(c.pixels,
                       {x.device(), 1e-3f, 0.9f, nullptr, mean.floats(), invstd.floats(),
                        moving_mean.floats(), moving_variance.floats()},
                       scratch.data(), nullptr));
  statistics_on_cpu(c.pixels, {x.host.data(), 1e-3f, 0.9f, nullptr, mean.host.data(), invstd.host.data(),
                               moving_mean.host.data(), moving_variance.host.data()});
  EXPECT_LT(relative_error(invstd.from_device(), invstd.host), 1e-4);
}

// The order of the sums does not depend on which block happens to come last.
TEST(FusedNormCuda, TheSameInputGivesTheSameBits) {
  if (no_gpu()) GTEST_SKIP() << "no CUDA device";
  const Scratch scratch;
  const Case c{{100000, 72, Storage::kBfloat16}, Shortcut::kNone, true, 0, 1, 1};
  Scene scene(c, 9);
  const Both x(scene.pixels(), c.pixels.storage), g(scene.pixels(), c.pixels.storage);
  const BothNorm norm(scene);
  Both to_x(scene.unwritten_pixels(), c.pixels.storage);
  Floats first_gamma, first_x;
  for (int run = 0; run < 20; ++run) {
    const Both to_gamma(Floats(72, kUnwritten), kFloat), to_beta(Floats(72, kUnwritten), kFloat);
    done(norm_backward_cuda(c.pixels,
                            {{x.device(), norm.device(), Shortcut::kNone, nullptr, {}, true},
                             {g.device(), nullptr, 1, 1, 1},
                             to_gamma.floats(),
                             to_beta.floats(),
                             nullptr,
                             nullptr,
                             to_x.device(),
                             nullptr},
                            scratch.data(), nullptr));
    if (run == 0) first_gamma = to_gamma.from_device(), first_x = to_x.from_device();
    EXPECT_EQ(to_gamma.from_device(), first_gamma);
    EXPECT_EQ(to_x.from_device(), first_x);
  }
}

TEST(FusedNormCuda, RefusesWhatItHasNoKernelFor) {
  if (no_gpu()) GTEST_SKIP() << "no CUDA device";
  EXPECT_NE(statistics_cuda({10, 12, Storage::kBfloat16}, {}, nullptr, nullptr), nullptr);
  const Normalise no_relu{nullptr, {}, Shortcut::kPlain, nullptr, {}, false};
  EXPECT_NE(normalise_cuda({10, 16, Storage::kBfloat16}, no_relu, nullptr, nullptr), nullptr);
}

}  // namespace
}  // namespace maskfit::model

#else

TEST(FusedNormCuda, EqualsTheCpu) {
  GTEST_SKIP() << "built without CUDA (preset gpu has it)";
}

#endif
