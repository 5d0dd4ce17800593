#include "dataset/box_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "image/exif.h"

namespace maskfit::dataset {
namespace {

using boxes::Box;
using testing::ElementsAre;
using testing::HasSubstr;

DrawnBox drawn(const Box& box, int line = 1) {
  return {{box, "mask", false, {}}, line};
}

struct Mended {
  std::vector<Box> boxes;
  base::Findings findings;
};
Mended mend(std::vector<Box> input) {
  std::vector<DrawnBox> boxes;
  for (const Box& box : input) boxes.push_back(drawn(box, 7));
  Mended mended;
  mend_boxes({100, 80}, "a.xml", &boxes, &mended.findings);
  for (const DrawnBox& d : boxes) mended.boxes.push_back(d.labeled.box_in_image);
  return mended;
}

struct Upright {
  bool accepted;
  Box box;
  base::Findings findings;
};
Upright upright(const PictureFrame& frame, image::Size stated, const Box& box) {
  std::vector<DrawnBox> boxes = {drawn(box)};
  Upright result{};
  result.accepted = bring_upright(frame, stated, "a.xml", &boxes, &result.findings);
  result.box = boxes[0].labeled.box_in_image;
  return result;
}

// The box around the pixels that are set.
Box bounds(const image::Image& picture) {
  Box box{1e9f, 1e9f, 0, 0};
  for (int y = 0; y < picture.height; ++y) {
    for (int x = 0; x < picture.width; ++x) {
      if (picture.row(y)[x] == 0) continue;
      box = {std::min(box.x1, static_cast<float>(x)), std::min(box.y1, static_cast<float>(y)),
             std::max(box.x2, static_cast<float>(x + 1)), std::max(box.y2, static_cast<float>(y + 1))};
    }
  }
  return box;
}

TEST(TurnUpright, BoxFollowsThePixelsForAllEightOrientations) {
  image::Image stored{12, 8, 1, std::vector<std::uint8_t>(96, 0)};
  for (int y = 1; y < 4; ++y) {
    for (int x = 2; x < 9; ++x) stored.row(y)[x] = 255;
  }
  for (int orientation = 1; orientation <= 8; ++orientation) {
    EXPECT_EQ(turn_upright(bounds(stored), {12, 8}, orientation),
              bounds(image::turn_upright(stored, orientation)))
        << "orientation " << orientation;
  }
}

// A portrait that the camera stored lying on its side.
const PictureFrame kTurned{{80, 100}, {100, 80}, 6};

TEST(BringUpright, PlainPictureNeedsNothing) {
  const auto result = upright({{100, 80}, {100, 80}, 1}, {100, 80}, {1, 2, 3, 4});
  EXPECT_TRUE(result.accepted);
  EXPECT_EQ(result.box, (Box{1, 2, 3, 4}));
  EXPECT_TRUE(result.findings.empty());
  EXPECT_TRUE(upright({{100, 80}, {100, 80}, 1}, {0, 0}, {1, 2, 3, 4}).findings.empty());
}

TEST(BringUpright, BoxesDrawnOnTheUprightPictureStay) {
  const auto result = upright(kTurned, {80, 100}, {10, 20, 30, 40});
  EXPECT_EQ(result.box, (Box{10, 20, 30, 40}));
  EXPECT_TRUE(result.findings.empty());
}

TEST(BringUpright, BoxesDrawnOnTheStoredPictureAreTurned) {
  const auto result = upright(kTurned, {100, 80}, {10, 20, 30, 40});
  EXPECT_EQ(result.box, turn_upright({10, 20, 30, 40}, {100, 80}, 6));
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings[0].severity, base::Severity::kRepaired);
}

TEST(BringUpright, WithoutAStatedSizeOnlyBoxesThatFitNowhereElseAreTurned) {
  const auto fits_stored_only = upright(kTurned, {0, 0}, {85, 20, 95, 40});
  EXPECT_EQ(fits_stored_only.box, turn_upright({85, 20, 95, 40}, {100, 80}, 6));
  EXPECT_EQ(fits_stored_only.findings[0].severity, base::Severity::kRepaired);
  const auto unclear = upright(kTurned, {0, 0}, {10, 20, 30, 40});
  EXPECT_EQ(unclear.box, (Box{10, 20, 30, 40}));
  ASSERT_EQ(unclear.findings.size(), 1u);
  EXPECT_EQ(unclear.findings[0].severity, base::Severity::kWarning);
}

TEST(BringUpright, HalfTurnAndSquarePicturesAreReportedAsUnclear) {
  EXPECT_EQ(upright({{100, 80}, {100, 80}, 3}, {100, 80}, {1, 2, 3, 4}).findings.size(), 1u);
  EXPECT_EQ(upright({{80, 80}, {80, 80}, 6}, {80, 80}, {1, 2, 3, 4}).findings.size(), 1u);
}

TEST(BringUpright, BoxesOfAThumbnailAreScaled) {
  const auto result = upright({{1000, 801}, {1000, 801}, 1}, {100, 80}, {10, 20, 30, 40});
  EXPECT_NEAR(result.box.x2, 300, 0.01);
  EXPECT_NEAR(result.box.y2, 400.5, 0.01);
  EXPECT_THAT(result.findings[0].what,
              HasSubstr("another size of the picture, 100 x 80 instead of 1000 x 801"));
  // A thumbnail of the stored picture: scaled, then turned.
  EXPECT_EQ(upright(kTurned, {200, 160}, {20, 40, 60, 80}).box, turn_upright({10, 20, 30, 40}, {100, 80}, 6));
}

TEST(BringUpright, OtherShapeIsAWarningWhileTheBoxesFitAndARefusalWhenTheyDoNot) {
  const PictureFrame frame{{100, 80}, {100, 80}, 1};
  const auto fits = upright(frame, {300, 100}, {1, 2, 99, 80});
  EXPECT_TRUE(fits.accepted);
  EXPECT_EQ(fits.findings[0].severity, base::Severity::kWarning);
  const auto outside = upright(frame, {300, 100}, {1, 2, 250, 80});
  EXPECT_FALSE(outside.accepted);
  EXPECT_EQ(outside.findings[0].severity, base::Severity::kRefused);
}

TEST(MendBoxes, GoodBoxesStayToTheBit) {
  const auto mended = mend({{0, 0, 100, 80}, {0.1f, 0.2f, 1.15f, 1.25f}});
  EXPECT_THAT(mended.boxes, ElementsAre(Box{0, 0, 100, 80}, Box{0.1f, 0.2f, 1.15f, 1.25f}));
  EXPECT_TRUE(mended.findings.empty());
}

TEST(MendBoxes, BoxOverTheEdgeIsCutAndReportedWithItsLine) {
  const auto mended = mend({{90, 70, 101, 90}, {-5, -5, 10, 10}});
  EXPECT_THAT(mended.boxes, ElementsAre(Box{90, 70, 100, 80}, Box{0, 0, 10, 10}));
  ASSERT_EQ(mended.findings.size(), 2u);
  EXPECT_EQ(base::to_string(mended.findings[0]),
            "a.xml:7: box: [90, 70, 101, 90] reaches over the edge of the picture of 100 x 80; it was cut to "
            "the picture");
  EXPECT_EQ(mended.findings[0].severity, base::Severity::kRepaired);
}

TEST(MendBoxes, ReversedCornersAreSwapped) {
  const auto mended = mend({{30, 40, 10, 20}});
  EXPECT_THAT(mended.boxes, ElementsAre(Box{10, 20, 30, 40}));
  EXPECT_THAT(mended.findings[0].what, HasSubstr("corners reversed"));
}

TEST(MendBoxes, DegenerateAndOutsideBoxesAreLeftOut) {
  const auto mended =
      mend({{11, 6, 11, 10}, {10, 10, 10.5f, 40}, {200, 10, 220, 40}, {99.5f, 10, 120, 40}, {5, 5, 9, 9}});
  EXPECT_THAT(mended.boxes, ElementsAre(Box{5, 5, 9, 9}));
  ASSERT_EQ(mended.findings.size(), 4u);
  for (const auto& finding : mended.findings) EXPECT_EQ(finding.severity, base::Severity::kRefused);
  EXPECT_THAT(mended.findings[0].what, HasSubstr("smaller than a pixel"));
  EXPECT_THAT(mended.findings[1].what, HasSubstr("smaller than a pixel"));
  EXPECT_THAT(mended.findings[2].what, HasSubstr("lies outside the picture of 100 x 80"));
  EXPECT_THAT(mended.findings[3].what, HasSubstr("smaller than a pixel"));
}

}  // namespace
}  // namespace maskfit::dataset
