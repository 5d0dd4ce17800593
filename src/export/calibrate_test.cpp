#include "export/calibrate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "export/test_model.h"

namespace maskfit::exporting {
namespace {

using ::testing::HasSubstr;

std::vector<float> normal_values(std::size_t count, float sigma) {
  base::Rng rng(3, base::Purpose::kTest);
  std::vector<float> values(count);
  for (float& value : values) value = sigma * rng.normal();
  return values;
}

TEST(MagnitudeHistogram, MinMaxFitsEverything) {
  MagnitudeHistogram histogram;
  histogram.add(std::vector<float>{0, 0.5f, -3.25f, 1});
  EXPECT_EQ(histogram.range(CalibrationMethod::kMinMax), 3.25f);
  EXPECT_EQ(histogram.largest(), 3.25f);
}

TEST(MagnitudeHistogram, NothingButZerosHasNoRange) {
  MagnitudeHistogram histogram;
  histogram.add(std::vector<float>(100, 0.0f));
  for (const auto method :
       {CalibrationMethod::kEntropy, CalibrationMethod::kPercentile, CalibrationMethod::kMinMax}) {
    EXPECT_EQ(histogram.range(method), 0);
  }
}

// One value in 100 000 that is a hundred times larger must not cost all others their resolution.
TEST(MagnitudeHistogram, EntropyAndPercentileCutAnOutlier) {
  std::vector<float> values = normal_values(100000, 1);
  values[17] = 400;
  MagnitudeHistogram histogram;
  histogram.add(values);
  EXPECT_EQ(histogram.range(CalibrationMethod::kMinMax), 400);
  for (const auto method : {CalibrationMethod::kEntropy, CalibrationMethod::kPercentile}) {
    EXPECT_GT(histogram.range(method), 2);
    EXPECT_LT(histogram.range(method), 14) << name_of(method);
  }
}

TEST(MagnitudeHistogram, UniformValuesAreNotCut) {
  base::Rng rng(3, base::Purpose::kTest);
  std::vector<float> values(200000);
  for (float& value : values) value = rng.uniform();
  MagnitudeHistogram histogram;
  histogram.add(values);
  EXPECT_GT(histogram.range(CalibrationMethod::kEntropy), 0.97f);
  EXPECT_LE(histogram.range(CalibrationMethod::kEntropy), 1.0f);
}

TEST(MagnitudeHistogram, OrderAndParting) {
  const std::vector<float> small = normal_values(5000, 0.001f), large = normal_values(5000, 37);
  MagnitudeHistogram a, b, parts, other;
  a.add(small);
  a.add(large);
  b.add(large);
  b.add(small);
  parts.add(small);
  other.add(large);
  parts.merge(other);
  for (const auto method :
       {CalibrationMethod::kEntropy, CalibrationMethod::kPercentile, CalibrationMethod::kMinMax}) {
    EXPECT_EQ(a.range(method), b.range(method)) << name_of(method);
    EXPECT_EQ(a.range(method), parts.range(method)) << name_of(method);
  }
}

TEST(MagnitudeHistogram, NotFiniteIsNoticed) {
  MagnitudeHistogram histogram;
  histogram.add(std::vector<float>{1, std::numeric_limits<float>::infinity()});
  EXPECT_FALSE(histogram.finite());
}

TEST(Calibrator, EveryNodeHasAScaleWhateverTheOrder) {
  const ExportedModel exported = test_model({.fold = true, .pool = true});
  const std::vector<float> a = test_pixels(1), b = test_pixels(2);
  Calibrator one(exported.model), two(exported.model);
  one.add({a, b});
  two.add({b});
  two.add({a});
  EXPECT_EQ(one.pictures(), 2);
  const auto scales = one.scales(CalibrationMethod::kEntropy);
  EXPECT_EQ(scales, two.scales(CalibrationMethod::kEntropy));
  EXPECT_EQ(scales.size(), exported.model.network.nodes.size());
  EXPECT_EQ(scales.at("pool1"), scales.at("activation_1"));
  EXPECT_NEAR(one.scales(CalibrationMethod::kMinMax).at("input_1"), 1.0 / 127, 1e-4);
}

TEST(Calibrator, BrokenModelIsRefusedByItsLayer) {
  ExportedModel exported = test_model({});
  exported.model.network.weights.at("block_2a_conv_1/bias").values[0] =
      std::numeric_limits<float>::quiet_NaN();
  Calibrator calibrator(exported.model);
  const std::vector<float> pixels = test_pixels(1);
  calibrator.add({pixels});
  try {
    calibrator.scales(CalibrationMethod::kMinMax);
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("'block_2a_conv_1'"));
  }
}

TEST(CalibrationMethod, NamesRoundTrip) {
  for (const auto method :
       {CalibrationMethod::kEntropy, CalibrationMethod::kPercentile, CalibrationMethod::kMinMax}) {
    EXPECT_EQ(calibration_method_from_name(name_of(method)), method);
  }
  EXPECT_THROW(calibration_method_from_name("best"), base::Error);
}

}  // namespace
}  // namespace maskfit::exporting
