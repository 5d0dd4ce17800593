#include "formats/calibration_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace maskfit::formats {
namespace {

using ::testing::HasSubstr;

base::Error refusal(std::string_view text) {
  try {
    parse_calibration_cache(text, "calibration.bin");
  } catch (const base::Error& error) {
    return error;
  }
  return {base::ExitCode::kDone, "nothing thrown"};
}

TEST(CalibrationCache, RoundTripKeepsOrderAndOddNames) {
  CalibrationCache cache;
  cache.version = 101401;
  cache.scales = {{"z: with: colons ", 0.5f}, {"input_1:0", 1.0f / 127}, {"(Unnamed Layer* 3) [Conv]", 0}};
  const std::string text = print_calibration_cache(cache);
  EXPECT_EQ(text,
            "TRT-101401-EntropyCalibration2\nz: with: colons : 3f000000\ninput_1:0: 3c010204\n"
            "(Unnamed Layer* 3) [Conv]: 0\n");
  EXPECT_EQ(parse_calibration_cache(text, "x"), cache);
}

TEST(CalibrationCache, WindowsLineEndsAndEmptyLines) {
  const CalibrationCache cache =
      parse_calibration_cache("TRT-7000-MinMaxCalibration\r\n\r\na: 3f800000\r\n", "x");
  EXPECT_EQ(cache.version, 7000);
  EXPECT_EQ(cache.algorithm, "MinMaxCalibration");
  EXPECT_EQ(*cache.find("a"), 1);
  EXPECT_EQ(cache.find("b"), nullptr);
}

TEST(CalibrationCache, FaultsAreRefusedWithTheirLine) {
  EXPECT_EQ(refusal("").where(), "calibration.bin:1");
  EXPECT_EQ(refusal("TRT-x-EntropyCalibration2\n").where(), "calibration.bin:1");
  EXPECT_EQ(refusal("TRT-8503-\n").where(), "calibration.bin:1");
  EXPECT_THAT(refusal("TRT-8503-E\na: 3f80\nb 12\n").where(), "calibration.bin:3");
  EXPECT_THAT(refusal("TRT-8503-E\na: 3g\n").what(), HasSubstr("'3g' is no scale"));
  EXPECT_THAT(refusal("TRT-8503-E\na: 123456789\n").what(), HasSubstr("no scale"));
  EXPECT_THAT(refusal("TRT-8503-E\na: 7f800000\n").what(), HasSubstr("no scale"));  // infinite
  EXPECT_THAT(refusal("TRT-8503-E\na: bf800000\n").what(), HasSubstr("no scale"));  // negative
  EXPECT_THAT(refusal("TRT-8503-E\na: 0\na: 0\n").what(), HasSubstr("'a' comes twice"));
}

TEST(CalibrationCache, VersionsAsTensorRtCountsThem) {
  EXPECT_EQ(tensorrt_version("7.0.0"), 7000);
  EXPECT_EQ(tensorrt_version("8.5.3"), 8503);
  EXPECT_EQ(tensorrt_version("10.14.1"), 101401);
  EXPECT_EQ(tensorrt_version("8503"), 8503);
  for (const char* wrong : {"", "8.5", "8.5.x", "85", "8.500.1"})
    EXPECT_THROW(tensorrt_version(wrong), base::Error);
}

}  // namespace
}  // namespace maskfit::formats
