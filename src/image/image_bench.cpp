// What it costs to bring a picture from a JPEG file onto the canvas.

#include <benchmark/benchmark.h>

#include "base/rng.h"
#include "image/image.h"
#include "image/resize.h"

namespace maskfit::image {
namespace {

// Smooth with some noise, so that JPEG has about as much to do as with a photograph.
Image scene(int width, int height) {
  Image image{width, height, 3, std::vector<std::uint8_t>(static_cast<std::size_t>(width) * height * 3)};
  base::Rng rng(1, base::Purpose::kTest);
  for (int y = 0; y < height; ++y) {
    for (int i = 0; i < width * 3; ++i) {
      image.row(y)[i] = static_cast<std::uint8_t>((i / 8 + y / 4) % 224 + (rng.next_u32() & 31u));
    }
  }
  return image;
}

void decode(benchmark::State& state) {
  const std::string jpeg = encode_jpeg(scene(1280, 720));
  for (auto _ : state) benchmark::DoNotOptimize(decode_image(jpeg, "bench.jpg"));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(decode)->Unit(benchmark::kMillisecond);

void shrink(benchmark::State& state, Image (*resize)(const Image&, Size)) {
  const Image image = scene(1280, 720);
  for (auto _ : state) benchmark::DoNotOptimize(resize(image, {960, 544}));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(shrink, bilinear_tf1, resize_bilinear_tf1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(shrink, lanczos, resize_lanczos)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(shrink, antialias, resize_antialias)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace maskfit::image
