#include "formats/onnx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "base/error.h"
#include "formats/float16.h"
#include "formats/onnx.pb.h"

namespace maskfit::formats {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

OnnxModel small_model() {
  OnnxModel model;
  model.opset = 13;
  model.producer = "maskfit";
  model.producer_version = "1";
  model.graph_name = "g";
  const float kernel[] = {1.5f, -2};
  const std::int64_t pads[] = {0, 1};
  const std::int8_t integers[] = {-127, 3};
  model.constants = {onnx_tensor("k", std::span<const float>(kernel), {2}),
                     onnx_tensor("p", std::span<const std::int64_t>(pads), {2}),
                     onnx_tensor("i", std::span<const std::int8_t>(integers), {1, 2}),
                     onnx_tensor_f16("h", kernel, {2})};
  model.nodes = {{"n",
                  "Conv",
                  {"x", "k", ""},
                  {"y"},
                  {{"pads", std::vector<std::int64_t>{0, -1}},
                   {"alpha", 0.5f},
                   {"mode", std::string("nearest")},
                   {"axis", std::int64_t{0}},
                   {"scales", std::vector<float>{1, 2}}},
                  ""}};
  model.inputs = {{"x", OnnxType::kFloat32, {std::string("batch"), std::int64_t{3}}}};
  model.outputs = {{"y", OnnxType::kFloat16, {std::int64_t{1}}}};
  model.metadata = {{"a", "1"}, {"b", "\xC3\xA4 \"quoted\""}};
  return model;
}

base::Error refusal(std::string_view bytes) {
  try {
    decode_onnx(bytes, "m.onnx");
  } catch (const base::Error& error) {
    return error;
  }
  return {base::ExitCode::kDone, "nothing thrown"};
}

TEST(Onnx, RoundTripKeepsEverything) {
  const OnnxModel model = small_model();
  EXPECT_EQ(decode_onnx(encode_onnx(model), "m"), model);
  EXPECT_EQ(encode_onnx(model), encode_onnx(model));
}

TEST(Onnx, ConstantsGiveTheirValues) {
  const OnnxModel model = decode_onnx(encode_onnx(small_model()), "m");
  EXPECT_THAT(float_values(model.constants[0]), ElementsAre(1.5f, -2));
  EXPECT_THAT(int64_values(model.constants[1]), ElementsAre(0, 1));
  EXPECT_THAT(int8_values(model.constants[2]), ElementsAre(-127, 3));
  EXPECT_THAT(float_values(model.constants[3]), ElementsAre(1.5f, -2));
  EXPECT_THROW(int8_values(model.constants[0]), base::CheckFailed);
}

// Other writers keep numbers in typed fields instead of raw bytes.
TEST(Onnx, TypedFieldsAreReadLikeRawBytes) {
  onnx_wire::Model wire;
  wire.set_ir_version(7);
  auto* floats = wire.mutable_graph()->add_initializer();
  floats->set_data_type(1);
  floats->add_dims(2);
  floats->add_float_data(0.25f);
  floats->add_float_data(4);
  auto* bytes = wire.mutable_graph()->add_initializer();
  bytes->set_data_type(3);
  bytes->add_dims(1);
  bytes->add_int32_data(-5);
  const OnnxModel model = decode_onnx(wire.SerializeAsString(), "m");
  EXPECT_THAT(float_values(model.constants[0]), ElementsAre(0.25f, 4));
  EXPECT_THAT(int8_values(model.constants[1]), ElementsAre(-5));
}

TEST(Onnx, RubbishIsRefusedWithTheFile) {
  for (const std::string& bytes :
       {std::string(), std::string("PNG"), std::string(40, '\xFF'), std::string("\x08\x07")}) {
    const base::Error error = refusal(bytes);
    EXPECT_THAT(error.what(), HasSubstr("no ONNX model"));
    EXPECT_EQ(error.where(), "m.onnx");
    EXPECT_EQ(error.code(), base::ExitCode::kRefused);
  }
}

TEST(Onnx, EveryTornFileIsRefusedOrDiffers) {
  const OnnxModel model = small_model();
  const std::string bytes = encode_onnx(model);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    try {
      EXPECT_NE(decode_onnx(bytes.substr(0, size), "m"), model) << size;
    } catch (const base::Error&) {  // refused: as good
    }
  }
}

TEST(Onnx, ConstantWhoseSizeDoesNotMatchItsShape) {
  OnnxModel model = small_model();
  model.constants[0].shape = {3};
  EXPECT_THAT(refusal(encode_onnx(model)).what(), HasSubstr("the constant 'k' has 8 bytes"));
  model.constants[0].shape = {1LL << 40, 1LL << 40};
  EXPECT_THAT(refusal(encode_onnx(model)).what(), HasSubstr("the constant 'k'"));
  model.constants[0].shape = {-1};
  EXPECT_THAT(refusal(encode_onnx(model)).what(), HasSubstr("the constant 'k'"));
}

TEST(Onnx, ConstantsInOtherFilesAreRefused) {
  onnx_wire::Model wire;
  auto* constant = wire.mutable_graph()->add_initializer();
  constant->set_name("w");
  constant->set_data_type(1);
  constant->set_data_location(1);
  EXPECT_THAT(refusal(wire.SerializeAsString()).what(), HasSubstr("'w' is kept in another file"));
}

TEST(Onnx, UnknownElementTypeIsRefusedByNumber) {
  onnx_wire::Model wire;
  wire.mutable_graph()->add_initializer()->set_data_type(16);
  EXPECT_THAT(refusal(wire.SerializeAsString()).what(), HasSubstr("element type 16"));
}

TEST(Float16, RoundsToNearestEven) {
  EXPECT_EQ(float16_from_float(1), 0x3C00);
  EXPECT_EQ(float16_from_float(-2), 0xC000);
  EXPECT_EQ(float16_from_float(65504), 0x7BFF);
  EXPECT_EQ(float16_from_float(65519.99f), 0x7BFF);
  EXPECT_EQ(float16_from_float(65520), 0x7C00);
  EXPECT_EQ(float16_from_float(1 + 0x1p-11f), 0x3C00);      // half a step: to the even neighbour
  EXPECT_EQ(float16_from_float(1 + 3 * 0x1p-11f), 0x3C02);  // likewise, upwards
  EXPECT_EQ(float16_from_float(0x1p-24f), 0x0001);
  EXPECT_EQ(float16_from_float(0x1p-25f), 0x0000);
  EXPECT_EQ(float16_from_float(-0x1.8p-25f), 0x8001);
  EXPECT_EQ(float16_from_float(0x1.FFFp-15f), 0x0400);  // rounds up into the normal range
  EXPECT_EQ(float16_from_float(std::numeric_limits<float>::infinity()), 0x7C00);
  EXPECT_TRUE(std::isnan(float_from_float16(float16_from_float(std::nanf("")))));
}

TEST(Float16, EveryValueSurvives) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = float_from_float16(static_cast<std::uint16_t>(bits));
    if (std::isnan(value)) continue;
    ASSERT_EQ(float16_from_float(value), bits);
  }
}

}  // namespace
}  // namespace maskfit::formats
