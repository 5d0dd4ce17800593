#include "export/deepstream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "export/bundle_files.h"
#include "export/test_model.h"
#include "tests/support/temp_dir.h"

namespace maskfit::exporting {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class DeepstreamTest : public ::testing::Test {
 protected:
  DeepstreamTest() {
    for (const char* name : {kModelFile, kLabelsFile, kCalibrationFile, kNvinferFile})
      base::write_file(dir_ / name, "x");
  }

  NvinferConfig config(Precision precision = Precision::kFloat32) const {
    return deepstream_config(model_, {.precision = precision, .thresholds = {0.25f, 0.5f}, .batch = 1});
  }
  // All complaints about a configuration as one text.
  std::string complaints(const NvinferConfig& config,
                         const std::vector<std::string>& labels = {"mask", "no-mask"}) const {
    std::string text;
    for (const base::Finding& finding : check_nvinfer(config, model_, dir_.path(), labels, "nvinfer.txt")) {
      text += base::to_string(finding) + "\n";
    }
    return text;
  }

  support::TempDir dir_;
  network::Model model_ = test_model({}).model;
};

TEST_F(DeepstreamTest, WhatWeWriteHasNoFault) {
  for (const Precision precision : {Precision::kFloat32, Precision::kFloat16, Precision::kInt8}) {
    const std::string text = formats::print_key_file(to_key_file(config(precision)));
    base::Findings oddities;
    const NvinferConfig back = nvinfer_config_of(formats::parse_key_file(text, "n"), "n", &oddities);
    EXPECT_THAT(oddities, IsEmpty());
    EXPECT_EQ(complaints(back), "");
    EXPECT_EQ(formats::print_key_file(to_key_file(back)), text);
  }
}

TEST_F(DeepstreamTest, TheLinesThatForumsAskAbout) {
  const std::string text = formats::print_key_file(to_key_file(config(Precision::kInt8)));
  EXPECT_THAT(text, HasSubstr("\ninfer-dims=3;48;64\n"));
  EXPECT_THAT(text, HasSubstr("\nnet-scale-factor=0.0039215697906911373\n"));
  EXPECT_THAT(text, HasSubstr("\noutput-blob-names=output_cov/Sigmoid:0;output_bbox/BiasAdd:0\n"));
  EXPECT_THAT(text, HasSubstr("\nnetwork-mode=1\n"));
  EXPECT_THAT(text, HasSubstr("\nint8-calib-file=calibration.bin\n"));
  EXPECT_THAT(text, HasSubstr("\nmodel-engine-file=model.onnx_b1_gpu0_int8.engine\n"));
  EXPECT_THAT(text, HasSubstr("[class-attrs-1]\npre-cluster-threshold=0.5\n"));
  EXPECT_THAT(text, HasSubstr("\nminBoxes=1\n"));
}

TEST_F(DeepstreamTest, EveryFaultHasItsName) {
  NvinferConfig c = config();
  std::swap(c.infer_dims[1], c.infer_dims[2]);
  EXPECT_THAT(complaints(c), HasSubstr("height and width are swapped: 3;64;48"));
  c = config();
  c.infer_dims = {3, 544, 960};
  EXPECT_THAT(complaints(c), HasSubstr("3;544;960 is not the model's input; write infer-dims=3;48;64"));
  c = config();
  c.net_scale_factor = 1;
  EXPECT_THAT(complaints(c), HasSubstr("pixels reach the network as 0 to 255; it was trained on 0 to 1"));
  c = config();
  c.color_format = 1;
  EXPECT_THAT(complaints(c), HasSubstr("the network gets BGR pictures; it was trained on RGB"));
  c = config();
  c.offsets = {0, 104, 0};
  EXPECT_THAT(complaints(c), HasSubstr("104 is taken off"));
  c = config();
  c.keep_aspect_ratio = true;
  EXPECT_THAT(complaints(c), HasSubstr("frames are padded; the model was trained on stretched"));
  c = config();
  c.classes = 3;
  EXPECT_THAT(complaints(c), HasSubstr("3 where the model has 2"));
  c = config();
  c.outputs = {"output_cov/Sigmoid", "output_bbox/BiasAdd"};
  EXPECT_THAT(complaints(c), HasSubstr("are not the model's outputs"));
  c = config();
  c.mode = postprocess::NvinferClusterMode::kDbscan;
  c.class_attributes[1].min_boxes = 0;
  EXPECT_THAT(complaints(c), HasSubstr("class-attrs-1.minBoxes: 0 switches clustering off"));
  c.mode = postprocess::NvinferClusterMode::kGroupRectangles;
  EXPECT_THAT(complaints(c), HasSubstr("reports the confidence -0.1"));
  c = config();
  c.onnx_file = "gone.onnx";
  EXPECT_THAT(complaints(c), HasSubstr("'gone.onnx' is not there"));
  c = config();
  c.network_mode = 1;
  EXPECT_THAT(complaints(c), HasSubstr("without a calibration table"));
  EXPECT_THAT(complaints(config(), {"no-mask", "mask"}), HasSubstr("the classes are in another order"));
  EXPECT_THAT(complaints(config(), {"face", "mask"}), HasSubstr("the labels are face, mask"));
}

TEST_F(DeepstreamTest, UnknownAndOldKeysAndComments) {
  const std::string text =
      formats::print_key_file(to_key_file(config())) +
      "# below\n[class-attrs-9]\nminboxes=3\n[extra]\ntlt-model-key=abc\neps=0.3 # too small?\n";
  base::Findings findings;
  nvinfer_config_of(formats::parse_key_file(text, "n"), "n", &findings);
  ASSERT_EQ(findings.size(), 3u);
  EXPECT_THAT(findings[0].remedy, HasSubstr("did you mean minBoxes?"));
  EXPECT_THAT(findings[1].what, HasSubstr("other formats"));
  EXPECT_THAT(findings[2].what, HasSubstr("a comment behind the value"));
}

TEST_F(DeepstreamTest, ValuesThatAreNoNumbersAreRefusedWithTheirLine) {
  for (const char* text :
       {"[other]\na=1\n", "[property]\ninfer-dims=3;x;64\n", "[property]\ninfer-dims=3;64\n",
        "[property]\ninfer-dims=3;48;64\nnum-detected-classes=0\n",
        "[property]\ninfer-dims=3;48;64\nnum-detected-classes=2\ncluster-mode=9\n",
        "[property]\ninfer-dims=3;48;64\nnum-detected-classes=2\nnetwork-mode=one\n"}) {
    EXPECT_THROW(nvinfer_config_of(formats::parse_key_file(text, "n"), "n", nullptr), base::Error) << text;
  }
}

TEST_F(DeepstreamTest, ApplicationsOfEverySourceHaveNoFault) {
  for (const auto source : {DeepstreamSource::kFile, DeepstreamSource::kCamera, DeepstreamSource::kRtsp}) {
    const std::string text = formats::print_key_file(deepstream_app_file(source, config(), kNvinferFile));
    EXPECT_THAT(check_deepstream_app(formats::parse_key_file(text, "a"), config(), dir_.path(), "a"),
                IsEmpty());
    EXPECT_EQ(text.find(" #"), std::string::npos);
  }
  const formats::KeyFile app = deepstream_app_file(DeepstreamSource::kFile, config(), "gone.txt");
  EXPECT_EQ(check_deepstream_app(app, config(), dir_.path(), "a").size(), 1u);
  EXPECT_FALSE(check_deepstream_app({}, config(), dir_.path(), "a").empty());
}

TEST_F(DeepstreamTest, BoxScaleThatTheParserDoesNotKnowIsRefused) {
  EXPECT_NO_THROW(check_parser_constants(model_));
  model_.box_scale = 20;
  EXPECT_THROW(check_parser_constants(model_), base::Error);
}

}  // namespace
}  // namespace maskfit::exporting
