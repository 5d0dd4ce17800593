#include "dataset/synthetic.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "dataset/synthetic_head.h"
#include "tests/support/temp_dir.h"

namespace maskfit::dataset {
namespace {

using synthetic::Head;
using synthetic::Mask;

SyntheticOptions few(int pictures = 12) {
  SyntheticOptions options;
  options.pictures = pictures;
  return options;
}

TEST(DrawSynthetic, IsAPureFunctionOfSeedAndIndex) {
  SyntheticOptions other = few();
  other.seed = 2;
  const SyntheticPicture picture = draw_synthetic(few(), 3);
  EXPECT_EQ(draw_synthetic(few(), 3).image.pixels, picture.image.pixels);
  EXPECT_NE(draw_synthetic(few(), 4).image.pixels, picture.image.pixels);
  EXPECT_NE(draw_synthetic(other, 3).image.pixels, picture.image.pixels);
}

TEST(DrawSynthetic, BoxesLieInsideThePictureAndShowMostOfTheFace) {
  const SyntheticOptions options = few(40);
  for (int i = 0; i < options.pictures; ++i) {
    for (const LabeledBox& labeled : draw_synthetic(options, i).boxes) {
      const boxes::Box& box = labeled.box_in_image;
      EXPECT_GE(box.x1, 0);
      EXPECT_GE(box.y1, 0);
      EXPECT_LE(box.x2, 320);
      EXPECT_LE(box.y2, 192);
      EXPECT_GT(box.height(), options.min_face_height * 0.6f) << "picture " << i;
      EXPECT_LT(box.height(), options.max_face_height * 1.05f) << "picture " << i;
    }
  }
}

TEST(DrawSynthetic, BothClassesAreFrequentAndSomePicturesShowNobody) {
  int masks = 0, faces = 0, empty = 0;
  std::size_t largest = 0;
  for (int i = 0; i < 80; ++i) {
    const auto labeled = draw_synthetic(few(), i).boxes;
    for (const LabeledBox& box : labeled) (box.class_name == "mask" ? masks : faces)++;
    empty += labeled.empty();
    largest = std::max(largest, labeled.size());
  }
  EXPECT_NEAR(static_cast<double>(masks) / (masks + faces), 0.5, 0.15);
  EXPECT_GT(empty, 0);
  EXPECT_LT(empty, 20);
  EXPECT_EQ(largest, 4u);
}

TEST(DrawSynthetic, TheShareOfMasksIsTheOneAskedFor) {
  SyntheticOptions options = few();
  for (const float share : {0.0f, 1.0f}) {
    options.mask_share = share;
    for (int i = 0; i < 10; ++i) {
      for (const LabeledBox& box : draw_synthetic(options, i).boxes) {
        EXPECT_EQ(box.class_name, share > 0 ? "mask" : "no-mask");
      }
    }
  }
}

TEST(DrawSynthetic, NoFaceIsHiddenByAnotherFaceBeyondTheLimit) {
  const SyntheticOptions options = few();
  for (int i = 0; i < 40; ++i) {
    const auto labeled = draw_synthetic(options, i).boxes;
    for (std::size_t a = 0; a < labeled.size(); ++a) {
      for (std::size_t b = a + 1; b < labeled.size(); ++b) {  // b stands in front
        const boxes::Box &behind = labeled[a].box_in_image, &front = labeled[b].box_in_image;
        EXPECT_LE(boxes::intersection_area(behind, front), 0.4f * behind.area()) << "picture " << i;
      }
    }
  }
}

// The same head on grey, with and without a mask; the rows and columns in which the two pictures differ.
struct Difference {
  int x1 = 999, y1 = 999, x2 = -1, y2 = -1, pixels = 0;
};

Difference difference_of_masks(Head head, Mask mask) {
  const auto paint = [&](Mask worn) {
    head.mask = worn;
    image::Painter painter({120, 140}, {.5f, .5f, .5f});
    paint_head(painter, head);
    return painter.picture();
  };
  const image::Image bare = paint(Mask::kNone), worn = paint(mask);
  Difference d;
  for (int y = 0; y < 140; ++y) {
    for (int x = 0; x < 120; ++x) {
      const std::size_t at = static_cast<std::size_t>(y * 120 + x) * 3;
      if (std::equal(&bare.pixels[at], &bare.pixels[at] + 3, &worn.pixels[at])) continue;
      d.x1 = std::min(d.x1, x), d.x2 = std::max(d.x2, x + 1), d.y1 = std::min(d.y1, y),
      d.y2 = std::max(d.y2, y + 1);
      ++d.pixels;
    }
  }
  return d;
}

Head upright_head() {
  base::Rng rng(3, base::Purpose::kTest);
  Head head = synthetic::draw_head(rng, 40, true, 0, 0, 0);
  head.frame.origin = {60, 60};
  head.face_height = 1.25f;
  head.yaw = head.pitch = 0;
  head.glasses = false;
  return head;
}

TEST(PaintHead, AMaskCoversTheLowerHalfOfTheFaceAndNothingElse) {
  for (const Mask mask : {Mask::kSurgical, Mask::kCloth, Mask::kRespirator}) {
    const Difference d = difference_of_masks(upright_head(), mask);
    const boxes::Box face = synthetic::face_box(upright_head());
    EXPECT_GT(static_cast<float>(d.y1), face.y1 + 0.4f * face.height());
    EXPECT_LT(static_cast<float>(d.y2), face.y2 + 0.06f * face.height());
    EXPECT_GT(static_cast<float>(d.x2 - d.x1), 0.9f * face.width());
    EXPECT_GT(static_cast<float>(d.pixels), 0.25f * face.area());
  }
}

TEST(PaintHead, AMaskUnderTheChinLeavesNoseAndMouthFree) {
  const boxes::Box face = synthetic::face_box(upright_head());
  Head head = upright_head();
  head.hair = synthetic::Hair::kLong;  // the loops run over the cheeks, mouth and nose are in the middle
  const auto paint = [&](Mask mask) {
    head.mask = mask;
    image::Painter painter({120, 140}, {.5f, .5f, .5f});
    paint_head(painter, head);
    return painter.picture();
  };
  const image::Image bare = paint(Mask::kNone), worn = paint(Mask::kUnderChin);
  for (int y = static_cast<int>(face.y1); y < static_cast<int>(face.y1 + 0.82f * face.height()); ++y) {
    for (int x = 45; x < 75; ++x) EXPECT_EQ(bare.row(y)[3 * x], worn.row(y)[3 * x]) << x << "," << y;
  }
}

TEST(FaceBox, FollowsTheTurnOfTheHead) {
  Head head = upright_head();
  EXPECT_FLOAT_EQ(synthetic::face_box(head).height(), 100);
  EXPECT_FLOAT_EQ(synthetic::face_box(head).width(), 80);
  head.frame.turn = 0.3f;
  EXPECT_LT(synthetic::face_box(head).height(), 100);
  EXPECT_GT(synthetic::face_box(head).width(), 80);
}

TEST(WriteSynthetic, WritesADatasetThatReadsBackAndIsTheSameEveryTime) {
  const support::TempDir a, b;
  const Dataset written = write_synthetic(few(), a / "set");
  write_synthetic(few(), b / "set");
  const Dataset read = read_dataset(a / "set");
  EXPECT_EQ(digest(read), digest(written));
  EXPECT_EQ(digest(read), digest(read_dataset(b / "set")));
  EXPECT_EQ(read.samples.size(), 12u);
  EXPECT_EQ(read.class_names, (std::vector<std::string>{"mask", "no-mask"}));
  EXPECT_FALSE(read.split("val").empty());
  for (const Sample& sample : read.samples) {
    EXPECT_EQ(base::read_file(a / "set" / sample.image), base::read_file(b / "set" / sample.image));
    EXPECT_EQ(image::read_image_size(read.image_path(sample)), (image::Size{320, 192}));
  }
}

TEST(WriteSynthetic, OptionsThatCannotBeMetAreRefusedWithARemedy) {
  const support::TempDir folder;
  std::vector<SyntheticOptions> bad(5, few());
  bad[0].pictures = 0;
  bad[1].size = {8, 8};
  bad[2].min_face_height = 200;
  bad[3].max_face_height = 500;
  bad[4].max_heads = 0;
  for (const SyntheticOptions& options : bad) {
    try {
      write_synthetic(options, folder / "set");
      ADD_FAILURE() << "accepted";
    } catch (const base::Error& error) {
      EXPECT_EQ(error.code(), base::ExitCode::kUsage);
      EXPECT_NE(error.hint(), "");
    }
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "set"));
}

}  // namespace
}  // namespace maskfit::dataset
