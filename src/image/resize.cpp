#include "image/resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "base/error.h"

namespace maskfit::image {
namespace {

Image blank(const Image& like, Size size) {
  MASKFIT_CHECK(size.width >= 1 && size.height >= 1, "size={}x{}", size.width, size.height);
  Image image{size.width, size.height, like.channels, {}};
  image.pixels.resize(static_cast<std::size_t>(size.width) * size.height * like.channels);
  return image;
}

bool has_size(const Image& image, Size size) {
  return image.width == size.width && image.height == size.height;
}

double triangle(double x) {
  return std::max(0.0, 1.0 - std::abs(x));
}

double sinc(double x) {
  if (x == 0) return 1;
  const double px = std::numbers::pi * x;
  return std::sin(px) / px;
}

double lanczos3(double x) {
  return std::abs(x) < 3 ? sinc(x) * sinc(x / 3) : 0;
}

struct Filter {
  double (*weight)(double x);
  double radius;
};

// Weights are fixed-point numbers of 22 fraction bits: a sum of 8-bit pixels with weights that overshoot
// (Lanczos) still fits into 32 bits.
constexpr int kFractionBits = 22;

// How one axis is resampled: output i is the sum of weights[i][k] * input[first[i] + k].
struct Kernel {
  int taps = 0;                       // room for weights an output; unused ones are 0
  std::vector<int> first;             // [out]
  std::vector<int> count;             // [out] weights in use
  std::vector<std::int32_t> weights;  // [out][taps]
};

Kernel make_kernel(int in, int out, const Filter& filter) {
  const double scale = static_cast<double>(in) / out;
  const double stretch =
      std::max(scale, 1.0);  // when shrinking, the filter covers all pixels that fall together
  const double radius = filter.radius * stretch;
  Kernel kernel;
  kernel.taps = static_cast<int>(std::ceil(radius)) * 2 + 1;
  kernel.weights.resize(static_cast<std::size_t>(out) * kernel.taps);
  std::vector<double> exact;
  for (int i = 0; i < out; ++i) {
    const double center = (i + 0.5) * scale;
    const int first = std::max(0, static_cast<int>(center - radius + 0.5));
    const int last = std::min(in, static_cast<int>(center + radius + 0.5));
    exact.clear();
    double sum = 0;
    for (int x = first; x < last; ++x) {
      exact.push_back(filter.weight((x - center + 0.5) / stretch));
      sum += exact.back();
    }
    kernel.first.push_back(first);
    kernel.count.push_back(last - first);
    for (std::size_t k = 0; k < exact.size(); ++k) {
      kernel.weights[static_cast<std::size_t>(i) * kernel.taps + k] =
          static_cast<std::int32_t>(std::round(exact[k] / sum * (1 << kFractionBits)));
    }
  }
  return kernel;
}

std::uint8_t to_byte(std::int32_t fixed) {
  return static_cast<std::uint8_t>(std::clamp(fixed >> kFractionBits, 0, 255));
}

constexpr std::int32_t kHalf = 1 << (kFractionBits - 1);

template <int Channels>
void resample_row(const std::uint8_t* in, const Kernel& kernel, int out_width, std::uint8_t* out) {
  for (int x = 0; x < out_width; ++x) {
    const std::int32_t* weights = &kernel.weights[static_cast<std::size_t>(x) * kernel.taps];
    const std::uint8_t* pixel = in + kernel.first[x] * Channels;
    std::int32_t sums[Channels];
    std::fill_n(sums, Channels, kHalf);
    for (int k = 0; k < kernel.count[x]; ++k) {
      for (int c = 0; c < Channels; ++c) sums[c] += pixel[k * Channels + c] * weights[k];
    }
    for (int c = 0; c < Channels; ++c) *out++ = to_byte(sums[c]);
  }
}

Image resample_horizontally(const Image& image, int width, const Filter& filter) {
  const Kernel kernel = make_kernel(image.width, width, filter);
  Image result = blank(image, {width, image.height});
  for (int y = 0; y < image.height; ++y) {
    if (image.channels == 3) resample_row<3>(image.row(y), kernel, width, result.row(y));
    if (image.channels == 1) resample_row<1>(image.row(y), kernel, width, result.row(y));
  }
  return result;
}

Image resample_vertically(const Image& image, int height, const Filter& filter) {
  const Kernel kernel = make_kernel(image.height, height, filter);
  Image result = blank(image, {image.width, height});
  const std::size_t row_bytes = static_cast<std::size_t>(image.width) * image.channels;
  std::vector<std::int32_t> sums(row_bytes);
  for (int y = 0; y < height; ++y) {
    std::fill(sums.begin(), sums.end(), kHalf);
    for (int k = 0; k < kernel.count[y]; ++k) {
      const std::uint8_t* in = image.row(kernel.first[y] + k);
      const std::int32_t weight = kernel.weights[static_cast<std::size_t>(y) * kernel.taps + k];
      for (std::size_t i = 0; i < row_bytes; ++i) sums[i] += in[i] * weight;
    }
    std::transform(sums.begin(), sums.end(), result.row(y), to_byte);
  }
  return result;
}

Image resample(const Image& image, Size size, const Filter& filter) {
  MASKFIT_CHECK(size.width >= 1 && size.height >= 1, "size={}x{}", size.width, size.height);
  MASKFIT_CHECK(image.channels == 3 || image.channels == 1, "channels={}", image.channels);
  Image result = image.width == size.width ? image : resample_horizontally(image, size.width, filter);
  if (result.height != size.height) result = resample_vertically(result, size.height, filter);
  return result;
}

// One axis of TensorFlow 1's bilinear.
struct Tap {
  int low = 0, high = 0;
  float weight_high = 0;
};

std::vector<Tap> tf1_taps(int in, int out) {
  const float scale = static_cast<float>(in) / static_cast<float>(out);
  std::vector<Tap> taps(static_cast<std::size_t>(out));
  for (int i = 0; i < out; ++i) {
    const float source = static_cast<float>(i) * scale;
    const int low = static_cast<int>(source);
    taps[i] = {low, std::min(low + 1, in - 1), source - static_cast<float>(low)};
  }
  return taps;
}

}  // namespace

Image resize_lanczos(const Image& image, Size size) {
  return resample(image, size, {lanczos3, 3});
}

Image resize_antialias(const Image& image, Size size) {
  return resample(image, size, {triangle, 1});
}

Image resize_bilinear_tf1(const Image& image, Size size) {
  if (has_size(image, size)) return image;
  Image result = blank(image, size);
  const int channels = image.channels;
  const std::vector<Tap> columns = tf1_taps(image.width, size.width);
  const std::vector<Tap> rows = tf1_taps(image.height, size.height);
  for (int y = 0; y < size.height; ++y) {
    const std::uint8_t* top = image.row(rows[y].low);
    const std::uint8_t* bottom = image.row(rows[y].high);
    std::uint8_t* out = result.row(y);
    for (const Tap& column : columns) {
      for (int c = 0; c < channels; ++c) {
        const int left = column.low * channels + c;
        const int right = column.high * channels + c;
        const float upper = top[left] + (top[right] - top[left]) * column.weight_high;
        const float lower = bottom[left] + (bottom[right] - bottom[left]) * column.weight_high;
        *out++ = static_cast<std::uint8_t>(upper + (lower - upper) * rows[y].weight_high + 0.5f);
      }
    }
  }
  return result;
}

Image pad_to(const Image& image, Size size, std::uint8_t fill) {
  if (has_size(image, size)) return image;
  Image result = blank(image, size);
  std::fill(result.pixels.begin(), result.pixels.end(), fill);
  const std::size_t bytes = static_cast<std::size_t>(std::min(image.width, size.width)) * image.channels;
  for (int y = 0; y < std::min(image.height, size.height); ++y)
    std::memcpy(result.row(y), image.row(y), bytes);
  return result;
}

}  // namespace maskfit::image
