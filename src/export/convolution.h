#pragma once

// One convolution of one picture, in real numbers or in exact integers.

#include <cstdint>
#include <vector>

#include "export/gemm_kernels.h"
#include "network/network.h"

namespace maskfit::exporting {

struct ConvShape {
  network::Shape in, out;
  int kernel = 1, stride = 1, padding = 0, dilation = 1;

  int depth() const { return in.channels * kernel * kernel; }  // products a number out
  std::int64_t positions() const { return std::int64_t{1} * out.height * out.width; }
};

// Weights laid out for the kernels; made once, used from several threads.
class Convolution {
 public:
  // kernel [out][in][k][k]; bias [out], or empty.
  Convolution(const ConvShape& shape, const std::vector<float>& kernel, std::vector<float> bias,
              const GemmKernels& kernels = gemm_kernels());
  // Integers with one scale an output channel, for inputs of scale `input_scale`.
  Convolution(const ConvShape& shape, const std::vector<std::int8_t>& kernel,
              std::vector<float> weight_scales, float input_scale, std::vector<float> bias,
              const GemmKernels& kernels = gemm_kernels());

  bool integers() const { return !integer_weights_.empty(); }
  // in [C][H][W], out [out][OH][OW]; positions are shared among `threads` threads (0: all).
  void run(const float* in, float* out, int threads) const;
  void run(const std::int8_t* in, float* out, int threads) const;

 private:
  template <typename T>
  void run_tiles(const T* in, float* out, int threads) const;
  void float_tile(const float* in, std::int64_t first, int count, float* out) const;
  void integer_tile(const std::int8_t* in, std::int64_t first, int count, float* out) const;

  ConvShape shape_;
  const GemmKernels& kernels_;
  int row_blocks_ = 0, groups_ = 0;            // groups_: of the whole depth, integers only
  std::vector<float> float_weights_;           // [row block][depth][kTileRows]
  std::vector<std::uint8_t> integer_weights_;  // [row block][groups][kTileRows][group] of 8 or 16 bits
  std::vector<float> factors_, bias_;          // one an output channel
  std::vector<std::int32_t> corrections_;      // what raising the activations by 128 adds
};

}  // namespace maskfit::exporting
