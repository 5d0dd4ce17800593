// The functions that define the kernels, against differences of the value itself.

#include "model/fused_norm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/rng.h"
#include "model/stem.h"
#include "model/stem_conv.h"

namespace maskfit::model {
namespace {

using Floats = std::vector<float>;

Floats random(std::size_t count, std::uint64_t seed) {
  base::Rng rng(seed, base::Purpose::kTest);
  Floats values(count);
  for (float& v : values) v = rng.uniform(-1, 1);
  return values;
}

// A batch norm of `rows` pixels whose statistics follow its input.
struct Norm {
  Pixels pixels;
  Floats x, gamma, beta, mean, invstd, moving_mean, moving_variance;
  Norm(const Pixels& shape, std::uint64_t seed)
      : pixels(shape),
        x(random(static_cast<std::size_t>(shape.rows) * shape.channels, seed)),
        gamma(random(shape.channels, seed + 1)),
        beta(random(shape.channels, seed + 2)),
        mean(shape.channels),
        invstd(shape.channels),
        moving_mean(shape.channels),
        moving_variance(shape.channels) {}
  NormArrays arrays() {
    statistics_on_cpu(pixels, {x.data(), 1e-3f, 0.9f, nullptr, mean.data(), invstd.data(), moving_mean.data(),
                               moving_variance.data()});
    return {gamma.data(), beta.data(), mean.data(), invstd.data()};
  }
};

TEST(FusedNorm, StatisticsAreBiasedAndTheMovingOnesFollow) {
  const Floats x = {1, 10, 3, 10, 5, 10, 7, 10};  // two channels of four pixels
  Floats mean(2), invstd(2), moving_mean = {1, 1}, moving_variance = {2, 2};
  const Floats bias = {100, 0};
  statistics_on_cpu({4, 2}, {x.data(), 0, 0.5f, bias.data(), mean.data(), invstd.data(), moving_mean.data(),
                             moving_variance.data()});
  EXPECT_FLOAT_EQ(mean[0], 4);
  EXPECT_FLOAT_EQ(invstd[0], 1 / std::sqrt(5.0f));
  EXPECT_FLOAT_EQ(moving_mean[0], 0.5f * 1 + 0.5f * 104);
  EXPECT_FLOAT_EQ(moving_variance[0], 0.5f * 2 + 0.5f * 5);
  EXPECT_FLOAT_EQ(moving_mean[1], 5.5f);
}

struct Scene {
  Pixels pixels{2 * 3 * 4, 3};
  Norm own{pixels, 1}, other{pixels, 4};
  Floats first = random(static_cast<std::size_t>(pixels.rows) * 3, 7);
  Floats second = random(static_cast<std::size_t>(2 * 2 * 2) * 3, 8);  // of every second row and column
  Shortcut shortcut;
  explicit Scene(Shortcut kind) : shortcut(kind) {}

  Normalise job() {
    const NormArrays other_arrays = other.arrays();
    return {own.x.data(), own.arrays(), shortcut, other.x.data(), other_arrays, true};
  }
  // The loss whose gradient arrives: sum of y times both gradients.
  double loss() {
    Floats y(first.size());
    const Normalise now = job();
    normalise_on_cpu(pixels, now, y.data());
    double sum = 0;
    for (int n = 0; n < 2; ++n) {
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 4; ++j) {
          for (int c = 0; c < 3; ++c) {
            const int at = ((n * 3 + i) * 4 + j) * 3 + c;
            double g = first[at];
            if (i % 2 == 0 && j % 2 == 0) g += second[((n * 2 + i / 2) * 2 + j / 2) * 3 + c];
            sum += g * y[at];
          }
        }
      }
    }
    return sum;
  }
  void expect_slope(float& value, float gradient) {
    constexpr float kStep = 1e-3f;
    const float kept = value;
    value = kept + kStep;
    const double above = loss();
    value = kept - kStep;
    const double below = loss();
    value = kept;
    EXPECT_NEAR((above - below) / (2 * kStep), gradient, 0.02 + 0.02 * std::abs(gradient));
  }
};

TEST(FusedNorm, GradientsAreThoseOfTheValue) {
  for (const Shortcut shortcut : {Shortcut::kNone, Shortcut::kPlain, Shortcut::kNormalised}) {
    SCOPED_TRACE(static_cast<int>(shortcut));
    Scene scene(shortcut);
    Floats to_gamma(3), to_beta(3), to_other_gamma(3), to_other_beta(3), to_x(scene.first.size()),
        to_other(scene.first.size());
    norm_backward_on_cpu(scene.pixels, {scene.job(),
                                        {scene.first.data(), scene.second.data(), 2, 3, 4},
                                        to_gamma.data(),
                                        to_beta.data(),
                                        to_other_gamma.data(),
                                        to_other_beta.data(),
                                        to_x.data(),
                                        to_other.data()});
    for (int c = 0; c < 3; ++c) {
      scene.expect_slope(scene.own.gamma[c], to_gamma[c]);
      scene.expect_slope(scene.own.beta[c], to_beta[c]);
      if (shortcut == Shortcut::kNormalised) {
        scene.expect_slope(scene.other.gamma[c], to_other_gamma[c]);
        scene.expect_slope(scene.other.beta[c], to_other_beta[c]);
      }
    }
    for (std::size_t i = 0; i < to_x.size(); i += 5) {
      scene.expect_slope(scene.own.x[i], to_x[i]);
      if (shortcut != Shortcut::kNone) scene.expect_slope(scene.other.x[i], to_other[i]);
    }
  }
}

TEST(FusedNorm, ANaNStaysOne) {
  Norm norm({4, 1}, 1);
  NormArrays arrays = norm.arrays();
  norm.x[2] = NAN;
  Floats y(4);
  normalise_on_cpu({4, 1}, {norm.x.data(), arrays, Shortcut::kNone, nullptr, {}, true}, y.data());
  EXPECT_TRUE(std::isnan(y[2]));
  EXPECT_FALSE(std::isnan(y[1]));
}

// The folded convolution is the convolution.
TEST(Stem, FoldedPicturesUnderFoldedWeightsGiveTheSameSums) {
  for (const int kernel : {3, 5, 7}) {
    const int height = 6, width = 10, filters = 2, channels = 3, p = kernel / 2;
    const Floats pixels = random(static_cast<std::size_t>(channels * height * width), 1);
    const Floats weights = random(static_cast<std::size_t>(filters * kernel * kernel * channels), 2);
    const int blocks = stem_window(kernel).blocks, depth = stem_channels(channels);
    Floats folded(static_cast<std::size_t>((height / 2 + blocks - 1) * (width / 2 + blocks - 1) * depth));
    Floats folded_weights(static_cast<std::size_t>(filters * blocks * blocks * depth));
    fold_pictures_on_cpu({pixels.data(), Storage::kFloat32, 1, channels, height, width,
                          channels * height * width, height * width, width, 1},
                         kernel, folded.data());
    fold_weights_on_cpu(weights.data(), filters, channels, kernel, folded_weights.data());
    Floats y(static_cast<std::size_t>(height / 2 * width / 2 * filters)), s(2), moving(2);
    Floats invstd(2), variance(2);
    stem_forward_on_cpu(
        {1, height / 2, width / 2, filters, kernel, channels}, folded.data(), folded_weights.data(), y.data(),
        {nullptr, 1e-3f, 0.9f, nullptr, s.data(), invstd.data(), moving.data(), variance.data()});
    for (int i = 0; i < height / 2; ++i) {
      for (int j = 0; j < width / 2; ++j) {
        for (int f = 0; f < filters; ++f) {
          double sum = 0;
          for (int u = 0; u < kernel * kernel * channels; ++u) {
            const int line = 2 * i + u / channels / kernel - p, column = 2 * j + u / channels % kernel - p;
            if (line < 0 || column < 0 || line >= height || column >= width) continue;
            sum += static_cast<double>(pixels[(u % channels * height + line) * width + column]) *
                   weights[f * kernel * kernel * channels + u];
          }
          EXPECT_NEAR(y[(i * (width / 2) + j) * filters + f], sum, 1e-5);
        }
      }
    }
    Floats back(weights.size());
    unfold_gradient_on_cpu(folded_weights.data(), filters, channels, kernel, back.data());
    EXPECT_EQ(back, weights);
  }
}

}  // namespace
}  // namespace maskfit::model
