// Bundles whole and broken.

#include "export/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"
#include "base/files.h"
#include "export/bundle_files.h"
#include "export/test_bundle.h"
#include "tests/support/temp_dir.h"

namespace maskfit::exporting {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class VerifyTest : public ::testing::Test {
 protected:
  void make(Precision precision) {
    request_ = test_request(precision);
    write_bundle(bundle_, bundle_files(request_), /*replace=*/false);
  }
  // Replaces text in one file of the bundle.
  void bend(const char* file, const std::string& from, const std::string& to) {
    std::string text = base::read_file(bundle_ / file);
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    base::write_file(bundle_ / file, text.replace(at, from.size(), to));
  }
  Verification verify(const VerifyOptions& options = {}) {
    base::Findings found;
    const Bundle bundle = read_bundle(bundle_, &found);
    return verify_bundle(bundle, found, test_trained(bundle.trained), test_pictures(3), options);
  }
  // The faults by which a bundle is not good, as one text.
  static std::string faults(const Verification& v) {
    std::string text;
    for (const base::Finding& finding : v.findings) {
      if (finding.severity == base::Severity::kRefused) text += base::to_string(finding) + "\n";
    }
    return text;
  }

  support::TempDir dir_;
  const std::filesystem::path bundle_ = dir_ / "bundle with blanks, \xC3\xA4";
  BundleRequest request_;
};

TEST_F(VerifyTest, BundleOfRealNumbersIsGood) {
  make(Precision::kFloat32);
  const Verification v = verify();
  EXPECT_TRUE(v.good) << faults(v);
  ASSERT_EQ(v.rows.size(), 3u);
  EXPECT_EQ(v.rows[1].name, "fp32");
  EXPECT_GT(v.rows[1].difference.boxes, 0);
  EXPECT_LT(v.rows[1].difference.box_px, 0.01);
  EXPECT_EQ(v.rows[2].name, "device");
}

TEST_F(VerifyTest, IntegersArePartOfTheComparison) {
  make(Precision::kInt8);
  const Verification v = verify({.tolerances = {.ap_points = 100}});
  EXPECT_TRUE(v.good) << faults(v);
  ASSERT_EQ(v.rows.size(), 4u);
  EXPECT_EQ(v.rows[2].name, "int8");
  EXPECT_TRUE(std::filesystem::exists(bundle_ / kCalibrationFile));
}

TEST_F(VerifyTest, LossOfIntegersIsNotGoodAndNamesALayer) {
  make(Precision::kInt8);
  const Verification v = verify({.tolerances = {.ap_points = -100}});
  EXPECT_FALSE(v.good);
  EXPECT_THAT(faults(v), HasSubstr("the error grows most in the layer '"));
  EXPECT_THAT(faults(v), HasSubstr("--float-layers auto"));
}

TEST_F(VerifyTest, HeightAndWidthSwapped) {
  make(Precision::kFloat32);
  bend(kNvinferFile, "infer-dims=3;48;64", "infer-dims=3;64;48");
  const Verification v = verify();
  EXPECT_FALSE(v.good);
  EXPECT_THAT(faults(v), HasSubstr("infer-dims: height and width are swapped"));
}

TEST_F(VerifyTest, ColoursSwapped) {
  make(Precision::kFloat32);
  bend(kNvinferFile, "model-color-format=0", "model-color-format=1");
  EXPECT_THAT(faults(verify()), HasSubstr("the network gets BGR pictures"));
  write_bundle(bundle_, bundle_files(request_), /*replace=*/true);
  bend(kPipelineFile, "\"RGB\"", "\"BGR\"");
  EXPECT_THAT(faults(verify()), HasSubstr("input.color: BGR pictures; the model was trained on RGB"));
}

TEST_F(VerifyTest, PixelsFrom0To255) {
  make(Precision::kFloat32);
  bend(kNvinferFile, "net-scale-factor=0.0039215697906911373", "net-scale-factor=1");
  const Verification v = verify();
  EXPECT_FALSE(v.good);
  EXPECT_THAT(faults(v), HasSubstr("pixels reach the network as 0 to 255"));
}

TEST_F(VerifyTest, StaleCalibrationTable) {
  make(Precision::kInt8);
  BundleRequest other = request_;
  for (auto& [node, scale] : other.scales) scale *= 3;
  base::write_file(bundle_ / kCalibrationFile, bundle_files(other).at(kCalibrationFile));
  EXPECT_THAT(faults(verify({.tolerances = {.ap_points = 100}})),
              HasSubstr("a stale calibration table: 0 of the model's tensors"));
  base::write_file(bundle_ / kCalibrationFile, "TRT-8503-EntropyCalibration2\nanother_model: 3c010204\n");
  EXPECT_THAT(faults(verify({.tolerances = {.ap_points = 100}})), Not(HasSubstr("table: 0 of")));
}

TEST_F(VerifyTest, OtherOrderOfClasses) {
  make(Precision::kFloat32);
  base::write_file(bundle_ / kLabelsFile, "no-mask\nmask\n");
  const Verification v = verify();
  EXPECT_FALSE(v.good);
  EXPECT_THAT(
      faults(v),
      HasSubstr("the classes are in another order: no-mask, mask in the file, mask, no-mask in the model"));
}

TEST_F(VerifyTest, OtherWeightsNameTheFirstLayerThatDiffers) {
  make(Precision::kFloat32);
  ExportedModel changed = real_model(request_);
  for (float& weight : changed.model.network.weights.at("block_2a_conv_1/kernel").values) weight *= -8;
  formats::write_onnx(bundle_ / kModelFile, to_onnx(changed));
  const Verification v = verify({.tolerances = {.box_px = 0.1}});
  EXPECT_FALSE(v.good);
  EXPECT_THAT(faults(v), HasSubstr("the difference begins in the layer 'block_2a_conv_1'"));
}

TEST_F(VerifyTest, ModelThatFindsNothingProvesNothing) {
  request_ = test_request();
  request_.thresholds = {0.9999f, 0.9999f};
  write_bundle(bundle_, bundle_files(request_), /*replace=*/false);
  const Verification v = verify();
  EXPECT_FALSE(v.good);
  EXPECT_THAT(faults(v), HasSubstr("finds no box in 3 pictures"));
}

TEST_F(VerifyTest, ChangedThresholdIsNotedAndNotRefused) {
  make(Precision::kFloat32);
  bend(kNvinferFile, "pre-cluster-threshold=0.5\n", "pre-cluster-threshold=0.6\n");
  const Verification v = verify();
  EXPECT_TRUE(v.good) << faults(v);
  ASSERT_EQ(v.findings.size(), 1u);
  EXPECT_THAT(v.findings[0].what, HasSubstr("changed since the export"));
}

TEST_F(VerifyTest, PageAndTableShowEveryVariant) {
  make(Precision::kFloat32);
  base::Findings found;
  const Bundle bundle = read_bundle(bundle_, &found);
  const VerifyOptions options{.page_pictures = 2};
  const Verification v =
      verify_bundle(bundle, found, test_trained(bundle.trained), test_pictures(3), options);
  const std::string page = verification_page(v, bundle, test_pictures(3), options);
  std::size_t pictures = 0;
  for (std::size_t at = page.find("<img"); at != std::string::npos; at = page.find("<img", at + 1))
    ++pictures;
  EXPECT_EQ(pictures, 2u * 3u);
  EXPECT_THAT(page, HasSubstr("This bundle gives the boxes of the trained model."));
  EXPECT_THAT(verification_table(v, {"mask", "no-mask"}), HasSubstr("device"));
}

TEST_F(VerifyTest, NoPicturesAndNoBundleAreRefused) {
  make(Precision::kFloat32);
  base::Findings found;
  const Bundle bundle = read_bundle(bundle_, &found);
  EXPECT_THROW(verify_bundle(bundle, found, test_trained(bundle.trained), test_pictures(0), {}), base::Error);
  EXPECT_THROW(read_bundle(dir_.path(), &found), base::Error);
}

TEST_F(VerifyTest, ExistingFoldersAreKept) {
  make(Precision::kFloat32);
  EXPECT_THROW(write_bundle(bundle_, {{"a", "b"}}, /*replace=*/false), base::Error);
  base::write_file(dir_ / "photos/holiday.jpg", "precious");
  EXPECT_THROW(write_bundle(dir_ / "photos", bundle_files(request_), /*replace=*/true), base::Error);
  EXPECT_EQ(base::read_file(dir_ / "photos/holiday.jpg"), "precious");
  write_bundle(bundle_, bundle_files(request_), /*replace=*/true);
  EXPECT_TRUE(verify().good);
}

TEST_F(VerifyTest, EqualRequestsGiveEqualBytes) {
  EXPECT_EQ(bundle_files(test_request(Precision::kInt8)), bundle_files(test_request(Precision::kInt8)));
}

}  // namespace
}  // namespace maskfit::exporting
