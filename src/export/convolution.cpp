#include "export/convolution.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/parallel.h"

namespace maskfit::exporting {
namespace {

constexpr int kTileColumns = 192;  // positions worked on at once: a multiple of every kernel's columns
constexpr int kDepthBlock =
    256;  // products before the next slice: a slice of the activations stays in the first cache
constexpr int kGroupBlock = 256;  // the same in groups of integers

int round_up(int value, int step) {
  return (value + step - 1) / step * step;
}

// Scratch of one thread. Threads come and go with every convolution, so it is small and cheap to make.
struct Scratch {
  std::vector<std::uint8_t> panels, rows;
  std::vector<float> sums;
  std::vector<std::int32_t> integer_sums;
};

Scratch& scratch() {
  thread_local Scratch own;
  return own;
}

// What depth index k sees at output positions [first, first + count): zero outside the picture.
template <typename T>
void gather_row(const ConvShape& s, const T* in, int k, std::int64_t first, int count, T* row) {
  const int area = s.kernel * s.kernel;
  const T* plane = in + static_cast<std::size_t>(k / area) * s.in.height * s.in.width;
  const int ky = k % area / s.kernel, kx = k % s.kernel;
  int done = 0;
  while (done < count) {
    const int oy = static_cast<int>((first + done) / s.out.width),
              ox = static_cast<int>((first + done) % s.out.width);
    const int run = std::min(count - done, s.out.width - ox);
    const int y = oy * s.stride - s.padding + ky * s.dilation;
    const int x = ox * s.stride - s.padding + kx * s.dilation;
    T* to = row + done;
    done += run;
    if (y < 0 || y >= s.in.height) {
      std::fill_n(to, run, T{0});
      continue;
    }
    const T* line = plane + static_cast<std::size_t>(y) * s.in.width;
    // Positions [begin, end) of the run lie inside the line.
    const int begin = std::clamp(x >= 0 ? 0 : (-x + s.stride - 1) / s.stride, 0, run);
    const int end = std::clamp(x >= s.in.width ? 0 : (s.in.width - 1 - x) / s.stride + 1, begin, run);
    std::fill(to, to + begin, T{0});
    if (s.stride == 1) {
      std::memcpy(to + begin, line + x + begin, static_cast<std::size_t>(end - begin) * sizeof(T));
    } else {
      for (int i = begin; i < end; ++i) to[i] = line[x + i * s.stride];
    }
    std::fill(to + end, to + run, T{0});
  }
}

// Four (two) rows of activations -> [columns][group], raised by 128 as bytes (as they are, in 16 bits).
void interleave(const std::int8_t* rows, int stride, int group, int columns, std::uint8_t* out) {
  if (group == 4) {
    for (int j = 0; j < columns; ++j) {
      for (int g = 0; g < 4; ++g) out[4 * j + g] = static_cast<std::uint8_t>(rows[g * stride + j] ^ 0x80);
    }
    return;
  }
  auto* wide = reinterpret_cast<std::int16_t*>(out);
  for (int j = 0; j < columns; ++j) {
    for (int g = 0; g < 2; ++g) wide[2 * j + g] = rows[g * stride + j];
  }
}

}  // namespace

Convolution::Convolution(const ConvShape& shape, const std::vector<float>& kernel, std::vector<float> bias,
                         const GemmKernels& kernels)
    : shape_(shape), kernels_(kernels), bias_(std::move(bias)) {
  const int depth = shape.depth(), rows = shape.out.channels;
  MASKFIT_CHECK(kernel.size() == static_cast<std::size_t>(depth) * rows, "{} weights", kernel.size());
  bias_.resize(static_cast<std::size_t>(rows), 0.0f);
  row_blocks_ = (rows + kTileRows - 1) / kTileRows;
  float_weights_.assign(static_cast<std::size_t>(row_blocks_) * depth * kTileRows, 0.0f);
  for (int m = 0; m < rows; ++m) {
    float* block = float_weights_.data() + static_cast<std::size_t>(m / kTileRows) * depth * kTileRows;
    for (int k = 0; k < depth; ++k) {
      block[k * kTileRows + m % kTileRows] = kernel[static_cast<std::size_t>(m) * depth + k];
    }
  }
}

Convolution::Convolution(const ConvShape& shape, const std::vector<std::int8_t>& kernel,
                         std::vector<float> weight_scales, float input_scale, std::vector<float> bias,
                         const GemmKernels& kernels)
    : shape_(shape), kernels_(kernels), factors_(std::move(weight_scales)), bias_(std::move(bias)) {
  const int depth = shape.depth(), rows = shape.out.channels, group = kernels.group;
  MASKFIT_CHECK(kernel.size() == static_cast<std::size_t>(depth) * rows, "{} weights", kernel.size());
  bias_.resize(static_cast<std::size_t>(rows), 0.0f);
  for (float& factor : factors_) factor *= input_scale;
  row_blocks_ = (rows + kTileRows - 1) / kTileRows;
  groups_ = (depth + group - 1) / group;
  const std::size_t width = group == 4 ? 1 : 2;
  integer_weights_.assign(static_cast<std::size_t>(row_blocks_) * groups_ * kTileRows * group * width, 0);
  corrections_.assign(static_cast<std::size_t>(rows), 0);
  for (int m = 0; m < rows; ++m) {
    for (int k = 0; k < depth; ++k) {
      const std::int8_t weight = kernel[static_cast<std::size_t>(m) * depth + k];
      const std::size_t at =
          ((static_cast<std::size_t>(m / kTileRows) * groups_ + k / group) * kTileRows + m % kTileRows) *
              group +
          k % group;
      if (group == 4) {
        integer_weights_[at] = static_cast<std::uint8_t>(weight);
        corrections_[m] += 128 * weight;
      } else {
        const std::int16_t wide = weight;
        std::memcpy(&integer_weights_[2 * at], &wide, sizeof(wide));
      }
    }
  }
}

void Convolution::float_tile(const float* in, std::int64_t first, int count, float* out) const {
  const int depth = shape_.depth(), columns = kernels_.columns, width = round_up(count, columns);
  Scratch& s = scratch();
  s.sums.assign(static_cast<std::size_t>(row_blocks_) * kTileRows * width, 0.0f);
  s.panels.resize(static_cast<std::size_t>(kDepthBlock) * width * sizeof(float));
  s.rows.assign(static_cast<std::size_t>(width) * sizeof(float), 0);
  auto* row = reinterpret_cast<float*>(s.rows.data());
  auto* panels = reinterpret_cast<float*>(s.panels.data());
  for (int k0 = 0; k0 < depth; k0 += kDepthBlock) {
    const int block = std::min(kDepthBlock, depth - k0);
    for (int k = 0; k < block; ++k) {
      gather_row(shape_, in, k0 + k, first, count, row);
      for (int j = 0; j < width; j += columns) {
        std::memcpy(panels + static_cast<std::size_t>(j) * block + k * columns, row + j,
                    columns * sizeof(float));
      }
    }
    for (int j = 0; j < width; j += columns) {
      for (int m = 0; m < row_blocks_; ++m) {
        const float* weights = float_weights_.data() + (static_cast<std::size_t>(m) * depth + k0) * kTileRows;
        kernels_.float_tile(block, weights, panels + static_cast<std::size_t>(j) * block,
                            s.sums.data() + static_cast<std::size_t>(m) * kTileRows * width + j, width);
      }
    }
  }
  for (int m = 0; m < shape_.out.channels; ++m) {
    const float* sums = s.sums.data() + static_cast<std::size_t>(m) * width;
    float* to = out + static_cast<std::size_t>(m) * shape_.positions() + first;
    const float bias = bias_[static_cast<std::size_t>(m)];
    for (int j = 0; j < count; ++j) to[j] = sums[j] + bias;
  }
}

void Convolution::integer_tile(const std::int8_t* in, std::int64_t first, int count, float* out) const {
  const int depth = shape_.depth(), columns = kernels_.columns, group = kernels_.group;
  const int width = round_up(count, columns);
  const std::size_t element = group == 4 ? 1 : 2;
  Scratch& s = scratch();
  s.integer_sums.assign(static_cast<std::size_t>(row_blocks_) * kTileRows * width, 0);
  s.panels.resize(static_cast<std::size_t>(kGroupBlock) * width * group * element);
  s.rows.assign(static_cast<std::size_t>(width) * group, 0);
  auto* rows = reinterpret_cast<std::int8_t*>(s.rows.data());
  for (int g0 = 0; g0 < groups_; g0 += kGroupBlock) {
    const int block = std::min(kGroupBlock, groups_ - g0);
    for (int g = 0; g < block; ++g) {
      for (int i = 0; i < group; ++i) {
        const int k = (g0 + g) * group + i;
        if (k < depth) gather_row(shape_, in, k, first, count, rows + i * width);
        // Beyond the depth the weights are 0: what stands in the row does not matter.
      }
      for (int j = 0; j < width; j += columns) {
        interleave(
            rows + j, width, group, columns,
            s.panels.data() + (static_cast<std::size_t>(j) * block + static_cast<std::size_t>(g) * columns) *
                                  group * element);
      }
    }
    for (int j = 0; j < width; j += columns) {
      for (int m = 0; m < row_blocks_; ++m) {
        const std::size_t weights =
            (static_cast<std::size_t>(m) * groups_ + g0) * kTileRows * group * element;
        kernels_.integer_tile(block, integer_weights_.data() + weights,
                              s.panels.data() + static_cast<std::size_t>(j) * block * group * element,
                              s.integer_sums.data() + static_cast<std::size_t>(m) * kTileRows * width + j,
                              width);
      }
    }
  }
  for (int m = 0; m < shape_.out.channels; ++m) {
    std::int32_t* sums = s.integer_sums.data() + static_cast<std::size_t>(m) * width;
    for (int j = 0; j < count; ++j) sums[j] -= corrections_[static_cast<std::size_t>(m)];
    scale_row(sums, factors_[static_cast<std::size_t>(m)], bias_[static_cast<std::size_t>(m)], count,
              out + static_cast<std::size_t>(m) * shape_.positions() + first);
  }
}

template <typename T>
void Convolution::run_tiles(const T* in, float* out, int threads) const {
  const std::int64_t positions = shape_.positions();
  const std::int64_t tiles = (positions + kTileColumns - 1) / kTileColumns;
  const auto work = [&](std::int64_t tile) {
    const std::int64_t first = tile * kTileColumns;
    const int count = static_cast<int>(std::min<std::int64_t>(kTileColumns, positions - first));
    if constexpr (std::is_same_v<T, float>) {
      float_tile(in, first, count, out);
    } else {
      integer_tile(in, first, count, out);
    }
  };
  if (threads == 1) {
    for (std::int64_t tile = 0; tile < tiles; ++tile) work(tile);
  } else {
    base::parallel_for(tiles, work, threads);
  }
}

void Convolution::run(const float* in, float* out, int threads) const {
  MASKFIT_CHECK(!integers(), "an integer convolution was given real numbers");
  run_tiles(in, out, threads);
}

void Convolution::run(const std::int8_t* in, float* out, int threads) const {
  MASKFIT_CHECK(integers(), "a convolution of real numbers was given integers");
  run_tiles(in, out, threads);
}

}  // namespace maskfit::exporting
