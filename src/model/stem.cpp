#include "model/stem.h"

#include <algorithm>

namespace maskfit::model {

// Pixels -p .. p around the output pixel's (0, 0) lie in the blocks floor(-p / 2) .. floor(p / 2).
StemWindow stem_window(int kernel) {
  const int p = kernel / 2;
  const int before = (p + 1) / 2, after = p / 2;
  return {before + 1 + after, before, after};
}

int stem_channels(int channels) {
  return (4 * channels + 7) / 8 * 8;
}

void fold_pictures_on_cpu(const StemPictures& pictures, int kernel, float* out) {
  const StemWindow window = stem_window(kernel);
  const int depth = stem_channels(pictures.channels);
  const float* const pixels = static_cast<const float*>(pictures.pixels);
  for (int n = 0; n < pictures.count; ++n) {
    for (int y = -window.before; y < pictures.height / 2 + window.after; ++y) {
      for (int x = -window.before; x < pictures.width / 2 + window.after; ++x, out += depth) {
        std::fill(out, out + depth, 0.0f);
        if (y < 0 || x < 0 || y >= pictures.height / 2 || x >= pictures.width / 2) continue;
        for (int i = 0; i < 4 * pictures.channels; ++i) {
          const int place = i / pictures.channels, channel = i % pictures.channels;
          out[i] = pixels[n * pictures.picture_stride + channel * pictures.channel_stride +
                          (2 * y + place / 2) * pictures.line_stride +
                          (2 * x + place % 2) * pictures.column_stride];
        }
      }
    }
  }
}

void fold_weights_on_cpu(const float* weights, int filters, int channels, int kernel, float* folded) {
  const int blocks = stem_window(kernel).blocks, size = blocks * blocks * stem_channels(channels);
  std::fill(folded, folded + static_cast<std::int64_t>(filters) * size, 0.0f);
  for (int f = 0; f < filters; ++f) {
    for (int i = 0; i < kernel * kernel * channels; ++i) {
      const int line = i / channels / kernel, column = i / channels % kernel;
      folded[f * size + folded_place(kernel, channels, line, column, i % channels)] =
          weights[f * kernel * kernel * channels + i];
    }
  }
}

void unfold_gradient_on_cpu(const float* folded, int filters, int channels, int kernel, float* weights) {
  const int blocks = stem_window(kernel).blocks, size = blocks * blocks * stem_channels(channels);
  for (int f = 0; f < filters; ++f) {
    for (int i = 0; i < kernel * kernel * channels; ++i) {
      const int line = i / channels / kernel, column = i / channels % kernel;
      weights[f * kernel * kernel * channels + i] =
          folded[f * size + folded_place(kernel, channels, line, column, i % channels)];
    }
  }
}

}  // namespace maskfit::model
