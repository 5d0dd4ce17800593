// The fused batch-norm kernels at the sizes of ResNet-18 and a batch of --batch pictures of 960x544: bytes
// that must move over time, beside a plain copy on the same GPU.
//
//   norm_bandwidth [batch]
//
// Every size rotates among buffers larger than the cache.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "model/fused_norm.h"
#include "model/stem.h"
#include "model/stem_conv.h"

namespace {

using namespace maskfit::model;

void require(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
  std::exit(1);
}
void require(const char* error) {
  if (error == nullptr) return;
  std::fprintf(stderr, "%s\n", error);
  std::exit(1);
}

// Median milliseconds of 15 runs.
double median_ms(const std::function<void(int)>& run) {
  cudaEvent_t begin, end;
  require(cudaEventCreate(&begin));
  require(cudaEventCreate(&end));
  for (int i = 0; i < 3; ++i) run(i);
  std::vector<float> times;
  for (int i = 0; i < 15; ++i) {
    require(cudaEventRecord(begin));
    run(i);
    require(cudaEventRecord(end));
    require(cudaEventSynchronize(end));
    float ms = 0;
    require(cudaEventElapsedTime(&ms, begin, end));
    times.push_back(ms);
  }
  std::nth_element(times.begin(), times.begin() + 7, times.end());
  return times[7];
}

void report(const char* name, long long rows, int channels, double bytes, double ms) {
  std::printf("%-28s %10lld x %4d  %8.3f ms  %7.0f GB/s\n", name, rows, channels, ms, bytes / ms / 1e6);
}

char* device_memory(std::size_t bytes) {
  char* memory = nullptr;
  require(cudaMalloc(reinterpret_cast<void**>(&memory), bytes));
  return memory;
}

void measure(long long rows, int height, int width, int channels, char* pixels, std::size_t pool,
             float* floats, void* scratch) {
  const Pixels shape{rows, channels, Storage::kBfloat16};
  const std::size_t tensor = static_cast<std::size_t>(rows) * channels * 2;
  const auto at = [&](int i) { return pixels + static_cast<std::size_t>(i) * tensor % (pool - 6 * tensor); };
  float* const f = floats;
  const NormArrays norm{f, f + 4096, f + 8192, f + 12288};
  const double s = static_cast<double>(tensor);
  report("copy", rows, channels, 2 * s, median_ms([&](int i) {
           require(cudaMemcpyAsync(at(6 * i), at(6 * i + 1), tensor, cudaMemcpyDeviceToDevice));
         }));
  report("statistics", rows, channels, s, median_ms([&](int i) {
           require(statistics_cuda(
               shape, {at(6 * i), 1e-3f, 0.99f, nullptr, f + 16384, f + 20480, f + 24576, f + 28672}, scratch,
               nullptr));
         }));
  const auto normalise = [&](const char* name, Shortcut shortcut, double moved) {
    report(name, rows, channels, moved * s, median_ms([&](int i) {
             require(normalise_cuda(shape, {at(6 * i), norm, shortcut, at(6 * i + 1), norm, true},
                                    at(6 * i + 2), nullptr));
           }));
  };
  normalise("normalise relu", Shortcut::kNone, 2);
  normalise("normalise both relu", Shortcut::kNormalised, 3);
  const auto backward = [&](const char* name, Shortcut shortcut, int second_stride, double moved) {
    report(name, rows, channels, moved * s, median_ms([&](int i) {
             const Incoming incoming{at(6 * i), second_stride > 0 ? at(6 * i + 5) : nullptr,
                                     std::max(1, second_stride), height, width};
             require(norm_backward_cuda(shape,
                                        {{at(6 * i + 1), norm, shortcut, at(6 * i + 2), norm, true},
                                         incoming,
                                         f + 16384,
                                         f + 20480,
                                         f + 24576,
                                         f + 28672,
                                         at(6 * i + 3),
                                         at(6 * i + 4)},
                                        scratch, nullptr));
           }));
  };
  backward("backward", Shortcut::kNone, 0, 5);
  backward("backward, 2 gradients", Shortcut::kNone, 1, 7);
  backward("backward, compact second", Shortcut::kNone, 2, 5.5);
  backward("backward plain", Shortcut::kPlain, 1, 10);
  backward("backward both", Shortcut::kNormalised, 0, 8);
  backward("backward both, 2 gradients", Shortcut::kNormalised, 1, 10);
}

}  // namespace

int main(int argc, char** argv) {
  const int batch = argc > 1 ? std::atoi(argv[1]) : 48;
  const std::size_t pool = std::size_t{24} << 30;
  char* const pixels = device_memory(pool);
  std::vector<unsigned short> noise(1 << 20);
  for (auto& v : noise) v = static_cast<unsigned short>(0x3f00 + std::rand() % 512 + (std::rand() % 2 << 15));
  for (std::size_t at = 0; at < pool; at += noise.size() * 2) {
    require(cudaMemcpy(pixels + at, noise.data(), noise.size() * 2, cudaMemcpyHostToDevice));
  }
  float* const floats = reinterpret_cast<float*>(device_memory(1 << 20));
  const std::vector<float> ones(1 << 18, 1.0f);
  require(cudaMemcpy(floats, ones.data(), 1 << 20, cudaMemcpyHostToDevice));
  void* const scratch = device_memory(static_cast<std::size_t>(fused_norm_scratch_bytes()));
  require(cudaMemset(scratch, 0, static_cast<std::size_t>(fused_norm_scratch_bytes())));
  measure(batch * 272LL * 480, 272, 480, 64, pixels, pool, floats, scratch);
  measure(batch * 136LL * 240, 136, 240, 64, pixels, pool, floats, scratch);
  measure(batch * 68LL * 120, 68, 120, 128, pixels, pool, floats, scratch);
  measure(batch * 34LL * 60, 34, 60, 256, pixels, pool, floats, scratch);
  measure(batch * 34LL * 60, 34, 60, 512, pixels, pool, floats, scratch);
  measure(batch * 34LL * 60, 34, 60, 200, pixels, pool, floats, scratch);
  const StemConv stem{batch, 272, 480, 64, 7, 3, Storage::kBfloat16};
  void* const stem_scratch = device_memory(static_cast<std::size_t>(stem_scratch_bytes()));
  const double folded = batch * 275. * 483 * 32, tensor = batch * 272. * 480 * 128;
  char* const tensors = pixels + (std::size_t{8} << 30);
  const auto at = [&](int i) { return tensors + i * (std::size_t{2} << 30); };
  report("stem forward, statistics", batch * 272LL * 480, 64, folded + tensor, median_ms([&](int) {
           require(stem_forward_cuda(stem, pixels, pixels + (1 << 30), at(0),
                                     {nullptr, 1e-3f, 0.99f, nullptr, floats + 16384, floats + 20480,
                                      floats + 24576, floats + 28672},
                                     stem_scratch, nullptr));
         }));
  const NormArrays norm{floats, floats + 4096, floats + 8192, floats + 12288};
  report("stem backward", batch * 272LL * 480, 64, folded + 2.25 * tensor, median_ms([&](int) {
           require(stem_backward_cuda(stem, pixels,
                                      {{at(0), norm, Shortcut::kNone, nullptr, {}, true},
                                       {at(1), at(2), 2, 272, 480},
                                       floats + 16384,
                                       floats + 20480,
                                       nullptr,
                                       nullptr,
                                       nullptr,
                                       nullptr},
                                      floats + 65536, stem_scratch, nullptr));
         }));
  const StemPictures pictures{pixels, Storage::kBfloat16, batch, 3, 544, 960, 3LL * 544 * 960, 1, 3 * 960, 3};
  report("fold pictures", batch * 544LL * 960, 3, batch * (544. * 960 * 6 + 275. * 483 * 32),
         median_ms([&](int) {
           require(
               fold_pictures_cuda(pictures, 7, pixels + (std::size_t{4} << 30), Storage::kBfloat16, nullptr));
         }));
}
