// What it costs to draw the targets of one picture, by the number of its boxes.

#include <benchmark/benchmark.h>

#include "base/rng.h"
#include "targets/rasterise.h"

namespace maskfit::targets {
namespace {

void rasterise_picture(benchmark::State& state) {
  base::Rng rng(1, base::Purpose::kTest);
  boxes::Truths truths;
  for (int i = 0; i < state.range(0); ++i) {
    const float x = rng.uniform(0, 900), y = rng.uniform(0, 500), side = rng.uniform(16, 200);
    truths.push_back({{x, y, x + side, y + side}, i % 2, false});
  }
  RasterShapes shapes;
  shapes.classes.resize(2);
  const boxes::GridGeometry geometry{960, 544, 60, 34};
  for (auto _ : state) benchmark::DoNotOptimize(rasterise(truths, shapes, geometry, BoxCoding()));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(rasterise_picture)->Arg(1)->Arg(16)->Arg(128)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace maskfit::targets
