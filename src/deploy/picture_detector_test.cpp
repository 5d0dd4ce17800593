#include "deploy/picture_detector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "deploy/infer_pictures.h"
#include "network/backbones.h"
#include "tests/support/temp_dir.h"

namespace maskfit::deploy {
namespace {

// A network whose coverage is 1 exactly where the picture is bright and whose boxes reach 12 pixels to every
// side: a 1x1 convolution over the average of 16x16 pixels, so that what it finds is known by hand.
network::Model bright_spot_model(const std::string& canvas) {
  network::Network net;
  net.name = "bright_spots";
  net.input = {3, 64, 64};
  net.nodes = {{.name = "input_1", .op = network::Op::kInput},
               {.name = "output_bbox",
                .op = network::Op::kConv,
                .inputs = {"input_1"},
                .out_channels = 4,
                .kernel = 16,
                .stride = 16},
               {.name = "output_cov",
                .op = network::Op::kConv,
                .inputs = {"input_1"},
                .out_channels = 1,
                .kernel = 16,
                .stride = 16},
               {.name = "output_cov/Sigmoid", .op = network::Op::kSigmoid, .inputs = {"output_cov"}}};
  net.outputs = {"output_bbox", "output_cov/Sigmoid"};
  net.weights["output_bbox/kernel"] = {{4, 3, 16, 16}, std::vector<float>(4 * 768, 0)};
  // From the cell's corner: 4 to the left and above, 20 to the right and below, in units of 10 pixels.
  net.weights["output_bbox/bias"] = {{4}, {0.4f, 0.4f, 2.0f, 2.0f}};
  net.weights["output_cov/kernel"] = {{1, 3, 16, 16}, std::vector<float>(768, 20.0f / 768)};
  net.weights["output_cov/bias"] = {{1}, {-15}};
  network::Model model;
  model.network = net;
  model.class_names = {"spot"};
  model.canvas = canvas;
  model.box_scale = 10;
  model.box_offset = 0;
  model.postprocessing =
      "target_class_config { key: 'spot' value { clustering_config { clustering_algorithm: NMS "
      "coverage_threshold: 0.5 "
      "nms_iou_threshold: 0.3 nms_confidence_threshold: 0.3 } } }";
  return model;
}

// Black with one white square of 16 canvas pixels at cell (1, 2).
image::Image picture_with_spot(int width, int height) {
  image::Image picture{width, height, 3, std::vector<std::uint8_t>(3u * width * height, 0)};
  for (int y = height / 2; y < height * 3 / 4; ++y) {
    for (int x = width / 4; x < width / 2; ++x) {
      for (int c = 0; c < 3; ++c) picture.row(y)[3 * x + c] = 255;
    }
  }
  return picture;
}

// A broken network must not look like one that finds nothing.
TEST(PictureDetector, OutputsThatAreNotFiniteAreRefusedByName) {
  network::Model model = bright_spot_model("stretch");
  model.network.weights.at("output_cov/bias").values[0] = std::numeric_limits<float>::quiet_NaN();
  PictureDetector detector(model, {});
  const std::vector<image::Image> pictures = {picture_with_spot(64, 64)};
  try {
    detector.detect(pictures);
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::ExitCode::kRefused);
    EXPECT_THAT(error.what(), testing::HasSubstr("output_cov/Sigmoid"));
  }
}

TEST(PictureDetector, BoxesComeBackInPixelsOfEachPicture) {
  PictureDetector detector(bright_spot_model("stretch"), {});
  const std::vector<image::Image> pictures = {picture_with_spot(64, 64), picture_with_spot(128, 256)};
  const auto found = detector.detect(pictures);
  ASSERT_EQ(found.size(), 2u);
  ASSERT_EQ(found[0].size(), 1u);
  EXPECT_NEAR(found[0][0].box.x1, 12, 1e-3);
  EXPECT_NEAR(found[0][0].box.y1, 28, 1e-3);
  EXPECT_NEAR(found[0][0].box.x2, 36, 1e-3);
  EXPECT_NEAR(found[0][0].box.y2, 52, 1e-3);
  EXPECT_GT(found[0][0].confidence, 0.99f);
  ASSERT_EQ(found[1].size(), 1u);
  EXPECT_NEAR(found[1][0].box.x2, 72, 1e-2);
  EXPECT_NEAR(found[1][0].box.y2, 208, 1e-2);
}

TEST(PictureDetector, LetterboxGreyHoldsNothing) {
  PictureDetector detector(bright_spot_model("letterbox"), {});
  // 64x32 lies in the upper half of the canvas; its spot is cell (1, 1).
  image::Image picture{64, 32, 3, std::vector<std::uint8_t>(3 * 64 * 32, 0)};
  for (int y = 16; y < 32; ++y) std::fill(picture.row(y) + 3 * 16, picture.row(y) + 3 * 32, 255);
  const auto found = detector.detect(std::vector<image::Image>{picture});
  ASSERT_EQ(found[0].size(), 1u);
  EXPECT_NEAR(found[0][0].box.y1, 12, 1e-3);
  EXPECT_NEAR(found[0][0].box.y2, 32, 1e-3) << "cut at the picture's edge";
}

TEST(PictureDetector, ThresholdComesFromTheModelUnlessGiven) {
  network::Model model = bright_spot_model("stretch");
  model.provenance[network::confidence_threshold_key("spot")] = "1.5";
  const std::vector<image::Image> pictures = {picture_with_spot(64, 64)};
  EXPECT_TRUE(PictureDetector(model, {}).detect(pictures)[0].empty());
  EXPECT_EQ(PictureDetector(model, {.confidence = 0.5f}).detect(pictures)[0].size(), 1u);
}

TEST(PictureDetector, NoPicturesNoWork) {
  EXPECT_TRUE(PictureDetector(bright_spot_model("stretch"), {}).detect({}).empty());
}

TEST(PictureDetector, UnreadablePostprocessingIsRefused) {
  network::Model model = bright_spot_model("stretch");
  model.postprocessing = "target_class_config {";
  EXPECT_THROW(PictureDetector(model, {}), base::Error);
}

TEST(InferPictures, ABrokenPictureDoesNotStopTheOthers) {
  support::TempDir dir;
  for (const char* name : {"a.png", "b.png", "c.png"})
    image::write_image(dir / "in" / name, picture_with_spot(80, 80));
  base::write_file(dir / "in/b.png", "not a picture");
  PictureDetector detector(bright_spot_model("stretch"), {});
  ResultWriter writer(dir / "out", detector.class_names(), {});
  const InferSummary summary = infer_pictures(detector, list_pictures({dir / "in"}), writer, {.batch = 2});
  EXPECT_EQ(summary.pictures, 2);
  EXPECT_EQ(summary.detections, 2);
  ASSERT_EQ(summary.refused.size(), 1u);
  EXPECT_THAT(summary.refused[0].file, testing::HasSubstr("b.png"));
  EXPECT_EQ(nlohmann::json::parse(base::read_file(dir / "out/detections.json")).size(), 2u);
}

// The longest name a file can have: its own results fit, those with another ending do not, and the job goes
// on.
TEST(InferPictures, ANameTooLongForItsResultsDoesNotStopTheOthers) {
  support::TempDir dir;
  const std::string fits = std::string(251, 'a') + ".png", too_long = std::string(253, 'b') + ".x";
  for (const std::string& name : {fits, too_long}) {
    image::write_image(dir / "in/picture.png", picture_with_spot(80, 80));
    std::filesystem::rename(dir / "in/picture.png", dir / "in" / name);
  }
  PictureDetector detector(bright_spot_model("stretch"), {});
  ResultWriter writer(dir / "out", detector.class_names(), {});
  const InferSummary summary =
      infer_pictures(detector, list_pictures({dir / "in" / fits, dir / "in" / too_long}), writer);
  EXPECT_EQ(summary.pictures, 1);
  ASSERT_EQ(summary.refused.size(), 1u);
  EXPECT_THAT(summary.refused[0].what, testing::HasSubstr("257 bytes"));
  EXPECT_TRUE(std::filesystem::exists(dir / "out/images_annotated" / fits));
}

TEST(PictureDetector, ANetworkTooLargeForTheMemoryIsRefusedBeforeItRuns) {
  network::Model model = bright_spot_model("stretch");
  model.network.input = {3, 32768, 32768};
  const auto shapes_fit = [&] { return network::infer_shapes(model.network).size(); };
  ASSERT_EQ(shapes_fit(), 4u);
  try {
    const PictureDetector detector(model, {});
    EXPECT_GT(detector.largest_batch(), 0) << "a machine with more than 13 GB to spare";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::ExitCode::kMachine);
    EXPECT_THAT(error.what(), testing::HasSubstr("32768x32768"));
  }
}

}  // namespace
}  // namespace maskfit::deploy
