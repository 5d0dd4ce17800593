#include "augment/apply.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numbers>

#include "augment/matrices.h"
#include "base/error.h"
#include "base/rng.h"

namespace maskfit::augment {
namespace {

using ::testing::ElementsAre;
using ::testing::Pointwise;

image::Image random_picture(int width, int height, int channels, std::uint64_t seed) {
  base::Rng rng(seed, base::Purpose::kTest);
  image::Image picture{width, height, channels, {}};
  for (int i = 0; i < width * height * channels; ++i) {
    picture.pixels.push_back(static_cast<std::uint8_t>(rng.uniform_int(0, 255)));
  }
  return picture;
}

Plan one_tile(const Mat3& m, image::Size output, float fill = 0.5f) {
  Plan plan;
  plan.tiles.push_back({0, to_float(m), {0, 0, output.width, output.height}});
  plan.fill = fill;
  return plan;
}

// The output starts as NaN, so that a pixel nobody wrote shows.
std::vector<float> run(const Plan& plan, const std::vector<const image::Image*>& sources,
                       image::Size output) {
  std::vector<float> chw(static_cast<std::size_t>(output.width) * output.height * sources[0]->channels,
                         std::nanf(""));
  apply(plan, sources, output, chw.data());
  return chw;
}

// The sampler as the header defines it, one pixel at a time and in double.
double sample(const image::Image& s, const Matrix3& m, int X, int Y, int c, double fill) {
  const double x = (X + 0.5) * m[0] + (Y + 0.5) * m[3] + m[6] - 0.5;
  const double y = (X + 0.5) * m[1] + (Y + 0.5) * m[4] + m[7] - 0.5;
  const double left = std::floor(x), top = std::floor(y);
  double sum = 0;
  for (int dy = 0; dy < 2; ++dy) {
    for (int dx = 0; dx < 2; ++dx) {
      const double px = left + dx, py = top + dy;
      const double weight = (1 - std::abs(x - px)) * (1 - std::abs(y - py));
      const bool inside = px >= 0 && py >= 0 && px < s.width && py < s.height;
      sum += weight *
             (inside ? s.row(static_cast<int>(py))[static_cast<int>(px) * s.channels + c] / 255.0 : fill);
    }
  }
  return sum;
}

void expect_as_defined(const Mat3& matrix, const image::Image& source, image::Size output) {
  const Plan plan = one_tile(matrix, output, 0.3f);
  const std::vector<float> chw = run(plan, {&source}, output);
  std::size_t i = 0;
  for (int c = 0; c < source.channels; ++c) {
    for (int y = 0; y < output.height; ++y) {
      for (int x = 0; x < output.width; ++x) {
        ASSERT_NEAR(chw[i++], sample(source, plan.tiles[0].source_from_output, x, y, c, plan.fill), 2e-5)
            << "channel " << c << " at " << x << "," << y;
      }
    }
  }
}

TEST(Apply, TheIdentityIsThePictureInPlanes) {
  const image::Image source{2, 1, 3, {0, 51, 102, 153, 204, 255}};
  EXPECT_THAT(run(one_tile(kIdentity3, {2, 1}), {&source}, {2, 1}),
              Pointwise(::testing::FloatNear(1e-6f), {0.f, .6f, .2f, .8f, .4f, 1.f}));
}

TEST(Apply, AFlipIsExact) {
  const image::Image source{3, 1, 1, {0, 51, 255}};
  EXPECT_THAT(run(one_tile(flip(true, false, 3, 1), {3, 1}), {&source}, {3, 1}),
              Pointwise(::testing::FloatNear(1e-6f), {1.f, .2f, 0.f}));
}

TEST(Apply, HalfAPixelOfShiftBlendsWithTheFill) {
  const image::Image source{2, 1, 1, {0, 255}};
  EXPECT_THAT(run(one_tile(translation(-0.5, 0), {3, 1}), {&source}, {3, 1}),
              Pointwise(::testing::FloatNear(1e-6f), {.25f, .5f, .75f}));
}

TEST(Apply, AxisAlignedAndTurnedMapsFollowTheDefinition) {
  for (const int channels : {1, 3}) {
    const image::Image source = random_picture(37, 23, channels, 5);
    const image::Size output{41, 29};
    expect_as_defined(kIdentity3, source, output);
    expect_as_defined(zoom(1.7, 0.6, 3.3, -2.8), source, output);
    expect_as_defined(multiply(zoom(0.4, 0.4, -9, -7), flip(true, true, 37, 23)), source, output);
    expect_as_defined(rotation(0.4, 41, 29), source, output);
    expect_as_defined(multiply(rotation(-2.5, 41, 29), zoom(2.3, 1.9, 4, 4)), source, output);
  }
}

TEST(Apply, APictureFarOutsideIsAllFill) {
  const image::Image source = random_picture(8, 8, 3, 1);
  for (const Mat3& m :
       {translation(1e9, 0), translation(0, -500), multiply(rotation(1, 4, 4), translation(-1e7, 3e8))}) {
    EXPECT_THAT(run(one_tile(m, {4, 4}, 0.25f), {&source}, {4, 4}), ::testing::Each(0.25f));
  }
}

TEST(Apply, AOnePixelSourceIsSampledWithoutReadingBeyondIt) {
  const image::Image source{1, 1, 3, {255, 0, 255}};
  expect_as_defined(zoom(0.3, 0.3, 1, 1), source, {5, 5});
  expect_as_defined(rotation(0.7, 5, 5), source, {5, 5});
}

TEST(Apply, TilesShowTheirOwnPictureInTheirOwnRectangle) {
  const image::Image a{1, 1, 1, {255}}, b{1, 1, 1, {51}};
  Plan plan;
  plan.fill = 0;
  plan.tiles.push_back({0, to_float(scaling(0.01, 0.01)), {0, 0, 2, 2}});
  plan.tiles.push_back({1, to_float(scaling(0.01, 0.01)), {2, 1, 3, 2}});
  // The pixel (2, 0) belongs to no tile.
  const std::vector<float> out = run(plan, {&a, &b}, {3, 2});
  EXPECT_EQ(out[2], 0);
  EXPECT_GT(out[0], out[5] * 4);
  EXPECT_GT(out[5], 0);
}

TEST(Apply, ColoursAreTransformedAndCut) {
  const image::Image source{2, 1, 3, {51, 102, 153, 255, 255, 255}};
  Plan plan = one_tile(kIdentity3, {2, 1});
  plan.color = to_float(brightness(0.3));
  EXPECT_THAT(run(plan, {&source}, {2, 1}),
              Pointwise(::testing::FloatNear(1e-6f), {.5f, 1.f, .7f, 1.f, .9f, 1.f}));
}

TEST(Apply, TheFillChangesColourAsWell) {
  const image::Image source{1, 1, 3, {0, 0, 0}};
  Plan plan = one_tile(translation(100, 0), {1, 1});
  plan.color = to_float(contrast(-0.5, 0));
  EXPECT_THAT(run(plan, {&source}, {1, 1}), ElementsAre(.25f, .25f, .25f));
}

TEST(Apply, GreyPicturesKeepTheirBrightness) {
  const image::Image source{1, 1, 1, {51}};
  Plan plan = one_tile(kIdentity3, {1, 1});
  plan.color = to_float(brightness(0.3));
  EXPECT_THAT(run(plan, {&source}, {1, 1}), Pointwise(::testing::FloatNear(1e-6f), {.2f}));
}

TEST(Apply, ARectangleBeyondTheOutputIsOurMistake) {
  const image::Image source{1, 1, 1, {51}};
  const image::Image* sources[] = {&source};
  Plan plan = one_tile(kIdentity3, {3, 3});
  std::vector<float> out(4);
  EXPECT_THROW(apply(plan, sources, {2, 2}, out.data()), base::CheckFailed);
}

}  // namespace
}  // namespace maskfit::augment
