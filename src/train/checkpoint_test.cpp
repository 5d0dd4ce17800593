#include "train/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "formats/safetensors.h"

namespace maskfit::train {
namespace {
using testing::HasSubstr;

Checkpoint example() {
  Checkpoint checkpoint;
  checkpoint.step = 470;
  checkpoint.texts = {{"spec_digest", "abc"}, {"empty", ""}};
  checkpoint.numbers = {{"best/map", {0.1 + 0.2}}, {"none", {}}, {"sums", {1e-310, -0.0, 1.0 / 3}}};
  checkpoint.arrays = {{"weights/conv1/kernel", {{2, 1, 1, 2}, {1.0f, -0.0f, 1e-42f, 3.25f}}},
                       {"adam/step", {{}, {7}}}};
  return checkpoint;
}

TEST(Checkpoint, ReturnsBitForBit) {
  const Checkpoint before = example();
  const Checkpoint after = decode_checkpoint(encode_checkpoint(before), "test");
  EXPECT_EQ(after.step, before.step);
  EXPECT_EQ(after.texts, before.texts);
  EXPECT_EQ(after.numbers, before.numbers);
  EXPECT_TRUE(std::signbit(after.numbers.at("sums")[1]));
  for (const auto& [name, array] : before.arrays) {
    EXPECT_EQ(after.array(name).shape, array.shape) << name;
    EXPECT_EQ(after.array(name).values, array.values) << name;
  }
  EXPECT_EQ(encode_checkpoint(after), encode_checkpoint(before));
}

TEST(Checkpoint, NumbersThatAreNoneSurvive) {
  Checkpoint checkpoint;
  const double infinity = std::numeric_limits<double>::infinity();
  checkpoint.numbers["x"] = {infinity, -infinity, std::numeric_limits<double>::quiet_NaN()};
  const auto after = decode_checkpoint(encode_checkpoint(checkpoint), "test").numbers.at("x");
  EXPECT_EQ(after[0], infinity);
  EXPECT_EQ(after[1], -infinity);
  EXPECT_TRUE(std::isnan(after[2]));
}

TEST(Checkpoint, OfAnotherNetworkNamesWhatIsMissing) {
  const Checkpoint checkpoint = example();
  try {
    checkpoint.array("weights/block_9/kernel");
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("weights/block_9/kernel"));
    EXPECT_THAT(error.hint(), HasSubstr("another network"));
  }
  EXPECT_THROW(checkpoint.numbers_of("sums", 4), base::Error);
  EXPECT_EQ(checkpoint.numbers_of("sums", 3).size(), 3u);
}

TEST(Checkpoint, OtherSafetensorsFilesAreRefused) {
  formats::Safetensors model;
  model.metadata["format"] = "maskfit-model";
  EXPECT_THROW(decode_checkpoint(formats::encode_safetensors(model), "model.safetensors"), base::Error);
}

TEST(Checkpoint, NewerVersionIsRefused) {
  formats::Safetensors file = formats::decode_safetensors(encode_checkpoint(example()), "test");
  file.metadata["version"] = "2";
  try {
    decode_checkpoint(formats::encode_safetensors(file), "test");
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("version 2"));
  }
}

TEST(Checkpoint, TruncatedFileIsRefused) {
  const std::string bytes = encode_checkpoint(example());
  for (std::size_t length = 0; length < bytes.size(); length += 7) {
    EXPECT_THROW(decode_checkpoint(std::string_view(bytes).substr(0, length), "test"), base::Error) << length;
  }
}

}  // namespace
}  // namespace maskfit::train
