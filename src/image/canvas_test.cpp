#include "image/canvas.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace maskfit::image {
namespace {

Image plain(Size size, std::uint8_t value) {
  return {size.width, size.height, 3, std::vector<std::uint8_t>(3u * size.width * size.height, value)};
}

TEST(Canvas, ModeNamesRoundTripAndOthersAreRefused) {
  for (const CanvasMode mode : {CanvasMode::kStretch, CanvasMode::kLetterbox, CanvasMode::kPad}) {
    EXPECT_EQ(canvas_mode_from_name(to_string(mode)), mode);
  }
  EXPECT_THROW(canvas_mode_from_name("squash"), base::Error);
}

TEST(Canvas, StretchScalesEachAxis) {
  const Placement p = place({100, 50}, {960, 544}, CanvasMode::kStretch);
  EXPECT_FLOAT_EQ(p.scale_x, 9.6f);
  EXPECT_FLOAT_EQ(p.scale_y, 10.88f);
  EXPECT_EQ(p.scaled, (Size{960, 544}));
}

TEST(Canvas, LetterboxKeepsTheAspect) {
  const Placement p = place({200, 100}, {640, 640}, CanvasMode::kLetterbox);
  EXPECT_FLOAT_EQ(p.scale_x, 3.2f);
  EXPECT_FLOAT_EQ(p.scale_y, 3.2f);
  EXPECT_EQ(p.scaled, (Size{640, 320}));
}

TEST(Canvas, AnExtremeAspectStillHasOnePixel) {
  const Placement p = place({10000, 1}, {32, 32}, CanvasMode::kLetterbox);
  EXPECT_EQ(p.scaled, (Size{32, 1}));
}

TEST(Canvas, BoxesReturnToThePictureInEveryMode) {
  const boxes::Box box{10, 20, 33.5f, 47.25f};
  for (const CanvasMode mode : {CanvasMode::kStretch, CanvasMode::kLetterbox, CanvasMode::kPad}) {
    const Placement p = place({123, 77}, {320, 256}, mode);
    const boxes::Box back = image_from_canvas(canvas_from_image(box, p), p);
    EXPECT_NEAR(back.x1, box.x1, 1e-4) << to_string(mode);
    EXPECT_NEAR(back.y2, box.y2, 1e-4) << to_string(mode);
  }
}

// The corners of the picture, as a box, cover exactly the pixels that are not bars.
TEST(Canvas, LetterboxPixelsLieWhereTheBoxesSay) {
  const Size canvas{64, 64};
  const Image out = fit_to_canvas(plain({50, 20}, 255), canvas, CanvasMode::kLetterbox, Filter::kAntialias);
  const Placement p = place({50, 20}, canvas, CanvasMode::kLetterbox);
  const boxes::Box all = canvas_from_image({0, 0, 50, 20}, p);
  for (int y = 0; y < 64; ++y) {
    const bool inside = y >= all.y1 && y < all.y2;
    EXPECT_EQ(out.row(y)[3 * 32], inside ? 255 : 128) << "row " << y;
  }
}

TEST(Canvas, PadAddsZerosAndCuts) {
  const Image out = fit_to_canvas(plain({4, 10}, 9), {8, 5}, CanvasMode::kPad, Filter::kAntialias);
  EXPECT_EQ(out.width, 8);
  EXPECT_EQ(out.height, 5);
  EXPECT_EQ(out.row(4)[0], 9);
  EXPECT_EQ(out.row(4)[3 * 4], 0);
}

}  // namespace
}  // namespace maskfit::image
