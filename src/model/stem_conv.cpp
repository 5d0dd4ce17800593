#include "model/stem_conv.h"

#include <vector>

#include "model/stem.h"

namespace maskfit::model {
namespace {

// Calls visit(row of y, first element of the folded window's line, line of the window).
template <typename Visit>
void for_each_window_line(const StemConv& conv, Visit visit) {
  const int blocks = stem_window(conv.kernel).blocks, depth = stem_channels(conv.channels);
  const std::int64_t width = conv.columns + blocks - 1, height = conv.lines + blocks - 1;
  std::int64_t row = 0;
  for (int n = 0; n < conv.count; ++n) {
    for (int i = 0; i < conv.lines; ++i) {
      for (int j = 0; j < conv.columns; ++j, ++row) {
        for (int a = 0; a < blocks; ++a) visit(row, ((n * height + i + a) * width + j) * depth, a);
      }
    }
  }
}

}  // namespace

bool stem_conv_takes(const StemConv& conv) {
  constexpr int kWidest = 896;  // columns; seven lines of 32 bytes a column lie in shared memory
  return conv.storage != Storage::kFloat32 && conv.filters % 8 == 0 && conv.filters >= 8 &&
         conv.filters <= 64 && conv.channels == 3 && conv.kernel >= 3 && conv.kernel <= 7 &&
         conv.columns <= kWidest;
}

void stem_forward_on_cpu(const StemConv& conv, const float* pictures, const float* weights, float* y,
                         const Statistics& statistics) {
  const int blocks = stem_window(conv.kernel).blocks, span = blocks * stem_channels(conv.channels);
  const Pixels pixels{static_cast<std::int64_t>(conv.count) * conv.lines * conv.columns, conv.filters,
                      Storage::kFloat32};
  std::vector<double> sums(static_cast<std::size_t>(pixels.rows * conv.filters));
  for_each_window_line(conv, [&](std::int64_t row, std::int64_t from, int a) {
    for (int f = 0; f < conv.filters; ++f) {
      for (int k = 0; k < span; ++k) {
        sums[row * conv.filters + f] +=
            static_cast<double>(pictures[from + k]) * weights[(f * blocks + a) * span + k];
      }
    }
  });
  for (std::size_t i = 0; i < sums.size(); ++i) y[i] = static_cast<float>(sums[i]);
  Statistics of_y = statistics;
  of_y.x = y;
  statistics_on_cpu(pixels, of_y);
}

void stem_backward_on_cpu(const StemConv& conv, const float* pictures, const NormBackward& norm,
                          float* to_weights) {
  const int blocks = stem_window(conv.kernel).blocks, span = blocks * stem_channels(conv.channels);
  const Pixels pixels{static_cast<std::int64_t>(conv.count) * conv.lines * conv.columns, conv.filters,
                      Storage::kFloat32};
  std::vector<float> to_x(static_cast<std::size_t>(pixels.rows * conv.filters));
  NormBackward with_pixels = norm;
  with_pixels.to_x = to_x.data();
  norm_backward_on_cpu(pixels, with_pixels);
  std::vector<double> sums(static_cast<std::size_t>(conv.filters) * blocks * span);
  for_each_window_line(conv, [&](std::int64_t row, std::int64_t from, int a) {
    for (int f = 0; f < conv.filters; ++f) {
      for (int k = 0; k < span; ++k) {
        sums[(f * blocks + a) * span + k] +=
            static_cast<double>(to_x[row * conv.filters + f]) * pictures[from + k];
      }
    }
  });
  const std::vector<float> folded(sums.begin(), sums.end());
  unfold_gradient_on_cpu(folded.data(), conv.filters, conv.channels, conv.kernel, to_weights);
}

}  // namespace maskfit::model
