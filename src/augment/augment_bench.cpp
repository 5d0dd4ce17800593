// What it costs to warp and recolour one training picture on the CPU.

#include <benchmark/benchmark.h>

#include "augment/apply.h"
#include "augment/make_plan.h"

namespace maskfit::augment {
namespace {

void warp(benchmark::State& state) {
  const image::Image picture{960, 544, 3, std::vector<std::uint8_t>(960 * 544 * 3, 99)};
  Options options;
  options.output = {960, 544};
  PlanRequest request;
  request.seed = 1;
  std::vector<float> pixels(3 * 960 * 544);
  for (auto _ : state) {
    ++request.draw;
    const Plan plan = make_plan(options, request);
    const image::Image* sources[] = {&picture};
    apply(plan, sources, options.output, pixels.data());
    benchmark::DoNotOptimize(pixels.data());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(warp)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace maskfit::augment
