// The kernel against apply(), which defines it.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "augment/apply.h"
#include "augment/make_plan.h"
#include "augment/warp_cuda.h"
#include "base/rng.h"

#ifdef MASKFIT_WITH_CUDA
#include "tests/support/device_array.h"
#endif

namespace maskfit::augment {
namespace {

#ifndef MASKFIT_WITH_CUDA

TEST(WarpCuda, AgreesWithApply) {
  GTEST_SKIP() << "built without CUDA (preset gpu has it)";
}

#else

using support::DeviceArray;
using support::require;

struct Case {
  image::Size canvas, output;
  int colors;
  int channels;  // of the output
  PixelType type;
  PixelLayout layout;
  double tolerance;
};

float decode(PixelType type, const std::vector<std::uint8_t>& bytes, std::size_t index) {
  float value = 0;
  if (type == PixelType::kFloat32) {
    std::memcpy(&value, &bytes[index * 4], 4);
    return value;
  }
  std::uint16_t bits = 0;
  std::memcpy(&bits, &bytes[index * 2], 2);
  if (type == PixelType::kBFloat16) {
    const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16;
    std::memcpy(&value, &wide, 4);
    return value;
  }
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  if (exponent == 31) return std::nanf("");
  const float magnitude = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                        : std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
  return bits >> 15 != 0 ? -magnitude : magnitude;
}

std::vector<image::Image> random_canvases(int count, const Case& c) {
  base::Rng rng(17, base::Purpose::kTest);
  std::vector<image::Image> canvases;
  for (int i = 0; i < count; ++i) {
    image::Image canvas{c.canvas.width, c.canvas.height, c.colors, {}};
    canvas.pixels.resize(static_cast<std::size_t>(c.canvas.width) * c.canvas.height * c.colors);
    for (auto& pixel : canvas.pixels) pixel = static_cast<std::uint8_t>(rng.next_u32());
    canvases.push_back(std::move(canvas));
  }
  return canvases;
}

// Every third plan is a mosaic, every second turns, and some lie partly or wholly outside their canvas.
std::vector<Plan> random_plans(int count, int samples, const Case& c) {
  Options options;
  options.output = c.output;
  options.channels = c.colors;
  options.hflip_probability = options.vflip_probability = 0.5f;
  options.translate_max_x = options.translate_max_y = 9;
  options.zoom_min = 0.4f;
  options.zoom_max = 2.5f;
  options.aspect_jitter = 0.3f;
  options.brightness_stddev = options.contrast_max = options.saturation_max = 0.3f;
  options.hue_max = 40;
  std::vector<Plan> plans;
  for (int i = 0; i < count; ++i) {
    options.rotate_max = i % 2 == 0 ? 0.0f : 3.0f;
    options.mosaic_probability = i % 3 == 0 ? 1.0f : 0.0f;
    plans.push_back(make_plan(options, {i % samples, 5, 1, static_cast<std::uint64_t>(i), samples}));
    plans.back().fill = 0.125f * static_cast<float>(i % 8);
  }
  plans.back().tiles[0].source_from_output[6] = 1e7f;
  return plans;
}

void compare(const Case& c) {
  constexpr int kSamples = 5, kCount = 13;
  const std::vector<image::Image> canvases = random_canvases(kSamples, c);
  const std::vector<Plan> plans = random_plans(kCount, kSamples, c);
  std::vector<std::uint8_t> resident;
  for (const auto& canvas : canvases)
    resident.insert(resident.end(), canvas.pixels.begin(), canvas.pixels.end());
  const WarpBatch batch = pack_plans(plans, kSamples);
  const DeviceArray<std::uint8_t> source(resident);
  const DeviceArray<WarpTile> tiles(batch.tiles);
  const DeviceArray<WarpItem> items(batch.items);
  const std::size_t area = static_cast<std::size_t>(c.output.width) * c.output.height;
  const std::size_t values = kCount * area * c.channels, size = c.type == PixelType::kFloat32 ? 4 : 2;
  // 0xFF everywhere is NaN in all three types: a pixel that is not written shows, and so does one written
  // behind the end.
  const DeviceArray<std::uint8_t> out(std::vector<std::uint8_t>(values * size + 64, 0xFF));
  const char* error =
      warp_cuda({source.data(), c.canvas.height, c.canvas.width, c.colors}, tiles.data(), items.data(),
                {out.data(), c.type, c.layout, kCount, c.output.height, c.output.width, c.channels}, nullptr);
  ASSERT_EQ(error, nullptr) << error;
  require(cudaDeviceSynchronize());
  const std::vector<std::uint8_t> bytes = out.to_host();
  for (std::size_t i = values * size; i < bytes.size(); ++i)
    ASSERT_EQ(bytes[i], 0xFF) << "written behind the end";

  std::vector<float> expected(area * c.colors);
  for (std::size_t n = 0; n < kCount; ++n) {
    std::vector<const image::Image*> sources;
    for (const Tile& tile : plans[n].tiles)
      sources.push_back(&canvases[static_cast<std::size_t>(tile.sample)]);
    apply(plans[n], sources, c.output, expected.data());
    for (std::size_t channel = 0; channel < static_cast<std::size_t>(c.channels); ++channel) {
      for (std::size_t i = 0; i < area; ++i) {
        const std::size_t at = c.layout == PixelLayout::kNchw ? (n * c.channels + channel) * area + i
                                                              : (n * area + i) * c.channels + channel;
        const float wanted =
            channel < static_cast<std::size_t>(c.colors) ? expected[channel * area + i] : 0.0f;
        ASSERT_NEAR(decode(c.type, bytes, at), wanted, c.tolerance)
            << "item " << n << " channel " << channel << " pixel " << i;
      }
    }
  }
}

TEST(WarpCuda, AgreesWithApply) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) GTEST_SKIP() << "no CUDA device";
  // 8-bit neighbours differ by up to 1, so a source place off by 1e-4 pixels shows as 1e-4.
  constexpr double kFloat = 2e-4, kHalf = 8e-4, kBFloat = 4e-3;
  for (const Case& c : {
           Case{{37, 23}, {41, 29}, 3, 3, PixelType::kFloat32, PixelLayout::kNchw, kFloat},
           Case{{64, 48}, {33, 17}, 3, 4, PixelType::kFloat32, PixelLayout::kNhwc, kFloat},
           Case{{1, 1}, {5, 3}, 3, 3, PixelType::kFloat32, PixelLayout::kNhwc, kFloat},
           Case{{40, 40}, {40, 40}, 3, 8, PixelType::kBFloat16, PixelLayout::kNhwc, kBFloat},
           Case{{40, 31}, {35, 50}, 3, 4, PixelType::kFloat16, PixelLayout::kNchw, kHalf},
           Case{{19, 21}, {32, 16}, 1, 1, PixelType::kFloat32, PixelLayout::kNchw, kFloat},
       }) {
    SCOPED_TRACE(testing::Message() << "canvas " << c.canvas.width << "x" << c.canvas.height << " output "
                                    << c.output.width << "x" << c.output.height << " channels "
                                    << c.channels);
    compare(c);
  }
}

TEST(WarpCuda, ImpossibleChannelsAreRefusedWithAReason) {
  EXPECT_NE(warp_cuda({nullptr, 1, 1, 2}, nullptr, nullptr, {}, nullptr), nullptr);
  EXPECT_NE(warp_cuda({nullptr, 1, 1, 3}, nullptr, nullptr, {nullptr, {}, {}, 1, 1, 1, 1}, nullptr), nullptr);
}

#endif

}  // namespace
}  // namespace maskfit::augment
