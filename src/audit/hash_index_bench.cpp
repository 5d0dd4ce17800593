// The search for near pictures, as far as it depends on how many there are.

#include <benchmark/benchmark.h>

#include "audit/hash_index.h"
#include "base/rng.h"

namespace maskfit::audit {
namespace {

// Each of N hashes against all before it, radius 10, as the audit asks; a tenth are near copies.
void near_pairs(benchmark::State& state) {
  base::Rng rng(1, base::Purpose::kTest);
  std::vector<std::uint64_t> hashes;
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    std::uint64_t hash = std::uint64_t{rng.next_u32()} << 32 | rng.next_u32();
    if (i % 10 == 9) hash = hashes[rng.uniform_int(0, i - 1)] ^ 5u;
    hashes.push_back(hash);
  }
  std::int64_t pairs = 0;
  for (auto _ : state) {
    const HashIndex index(hashes);
    for (std::uint32_t i = 0; i < hashes.size(); ++i)
      index.near(hashes[i], 10, i, [&](std::uint32_t, int) { ++pairs; });
  }
  benchmark::DoNotOptimize(pairs);
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(near_pairs)
    ->Arg(10'000)
    ->Arg(100'000)
    ->Arg(1'000'000)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

}  // namespace
}  // namespace maskfit::audit
