// What it costs to turn the grids of one picture into boxes, by algorithm and number of candidate cells.

#include <benchmark/benchmark.h>

#include "base/rng.h"
#include "postprocess/postprocess.h"

namespace maskfit::postprocess {
namespace {

// Groups of cells that agree on a box up to a few pixels, as around a face.
Candidates candidates(std::int64_t count) {
  base::Rng rng(1, base::Purpose::kTest);
  Candidates list;
  for (std::int64_t i = 0; i < count; ++i) {
    const float x = static_cast<float>(i / 12 % 12) * 80, y = static_cast<float>(i / 144) * 60;
    const auto jitter = [&] { return rng.uniform(-4, 4); };
    list.boxes_in_network.push_back({x + jitter(), y + jitter(), x + 70 + jitter(), y + 50 + jitter()});
    list.coverage.push_back(rng.uniform(0.1f, 1.0f));
  }
  return list;
}

void cluster_boxes(benchmark::State& state, Algorithm algorithm) {
  const Candidates list = candidates(state.range(0));
  ClassClustering clustering;
  clustering.algorithm = algorithm;
  clustering.eps = 0.3f;
  clustering.min_weight = 0.05f;
  for (auto _ : state) benchmark::DoNotOptimize(cluster(list, 0, clustering, Options()));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(cluster_boxes, dbscan, Algorithm::kDbscan)
    ->Arg(48)
    ->Arg(480)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(cluster_boxes, nms, Algorithm::kNms)->Arg(48)->Arg(480)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace maskfit::postprocess
