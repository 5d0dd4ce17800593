#include "network/model_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"
#include "base/files.h"
#include "formats/safetensors.h"
#include "network/backbones.h"
#include "tests/support/temp_dir.h"

namespace maskfit::network {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Model tiny_model() {
  BackboneOptions options;
  options.backbone = "resnet10";
  options.input = {3, 32, 48};
  options.classes = 2;
  Model model;
  model.network = make_detectnet(options);
  initialise(model.network, 11);
  model.class_names = {"mask", "no-mask"};
  model.canvas = "letterbox";
  model.box_scale = 0.1f + 35.0f;
  model.box_offset = 0.25f;
  model.postprocessing = "target_class_config {\n  key: \"mask\"\n}\n";
  model.provenance = {{"mAP", "0.874"}, {"note", "quotes \" and umlauts \xC3\xA4"}};
  return model;
}

class ModelFileTest : public ::testing::Test {
 protected:
  // Writes the tiny model after a change to its container, and gives what reading it says.
  template <typename Bend>
  base::Error refusal(Bend bend) {
    write_model(path_, tiny_model());
    formats::Safetensors file = formats::read_safetensors(path_);
    bend(file);
    formats::write_safetensors(path_, file);
    return read_error();
  }

  base::Error read_error() {
    try {
      read_model(path_);
    } catch (const base::Error& error) {
      return error;
    }
    return {base::ExitCode::kDone, "nothing thrown"};
  }

  support::TempDir dir_;
  const std::filesystem::path path_ = dir_ / "face.safetensors";
};

TEST_F(ModelFileTest, RoundTripKeepsEverything) {
  const Model model = tiny_model();
  write_model(path_, model);
  EXPECT_TRUE(read_model(path_) == model);
}

TEST_F(ModelFileTest, EqualModelsGiveEqualBytes) {
  write_model(path_, tiny_model());
  write_model(dir_ / "twin.safetensors", tiny_model());
  EXPECT_EQ(base::read_file(path_), base::read_file(dir_ / "twin.safetensors"));
}

TEST_F(ModelFileTest, OtherSafetensorsFileIsNoModel) {
  const base::Error error = refusal([](auto& file) { file.metadata = {{"format", "pt"}}; });
  EXPECT_EQ(error.code(), base::ExitCode::kRefused);
  EXPECT_EQ(error.where(), path_.string());
  EXPECT_THAT(error.what(), HasSubstr("no maskfit model"));
  EXPECT_THAT(error.hint(), HasSubstr("maskfit train"));
}

TEST_F(ModelFileTest, TornFileIsRefused) {
  write_model(path_, tiny_model());
  const std::string bytes = base::read_file(path_);
  base::write_file(path_, std::string_view(bytes).substr(0, bytes.size() - 100));
  EXPECT_EQ(read_error().code(), base::ExitCode::kRefused);
}

TEST_F(ModelFileTest, NewerVersionAsksForAnUpdate) {
  const base::Error error = refusal([](auto& file) { file.metadata["format_version"] = "2"; });
  EXPECT_THAT(error.what(), HasSubstr("version 2"));
  EXPECT_THAT(error.hint(), HasSubstr("update"));
}

TEST_F(ModelFileTest, MissingEntryIsNamed) {
  EXPECT_THAT(refusal([](auto& file) { file.metadata.erase("box_scale"); }).what(), HasSubstr("'box_scale'"));
}

TEST_F(ModelFileTest, BrokenEntryIsNamed) {
  EXPECT_THAT(refusal([](auto& file) { file.metadata["box_offset"] = "half"; }).what(),
              HasSubstr("'box_offset'"));
  EXPECT_THAT(refusal([](auto& file) { file.metadata["class_names"] = "[\"mask\""; }).what(),
              HasSubstr("'class_names'"));
  EXPECT_THAT(refusal([](auto& file) { file.metadata["canvas"] = "crop"; }).what(),
              HasSubstr("canvas 'crop'"));
}

// The graph and the entries of a file are data: no word of our source's places and expressions.
TEST_F(ModelFileTest, BrokenPartsAreTheFilesFaultNotOurs) {
  const auto edited = [](const char* from, const char* to) {
    return [=](auto& file) {
      std::string& graph = file.metadata["network"];
      const std::size_t at = graph.find(from);
      ASSERT_NE(at, std::string::npos) << from;
      graph.replace(at, std::string(from).size(), to);
    };
  };
  const std::pair<const char*, const char*> edits[] = {
      {R"("stride":2)", R"("stride":0)"},
      {R"("stride":2)", R"("stride":2000000000)"},
      {R"("padding":3)", R"("padding":2147483647)"},
      {R"("input":[3,32,48])", R"("input":[3,-32,48])"},
      {R"("input":[3,32,48])", R"("input":[3,1000000000,1000000000])"},
      {R"("outputs":["output_bbox")", R"("outputs":["nope")"},
      {R"("outputs":["output_bbox",)", R"("outputs":[)"}};
  for (const auto& [from, to] : edits) {
    const base::Error error = refusal(edited(from, to));
    EXPECT_EQ(error.code(), base::ExitCode::kRefused) << to;
    EXPECT_EQ(error.where(), path_.string());
    EXPECT_THAT(error.what(), Not(HasSubstr("internal check"))) << to;
    EXPECT_THAT(error.what(), Not(HasSubstr(".cpp"))) << to;
  }
}

TEST_F(ModelFileTest, ClassesThatTheirNamesDoNotTellApartAreRefused) {
  EXPECT_THAT(refusal([](auto& file) { file.metadata["class_names"] = R"(["mask","mask"])"; }).what(),
              HasSubstr("two classes are called 'mask'"));
  EXPECT_THAT(refusal([](auto& file) { file.metadata["class_names"] = R"(["mask",""])"; }).what(),
              HasSubstr("no name"));
}

// Such weights find nothing, which must not pass for "there is nothing".
TEST_F(ModelFileTest, WeightsThatAreNotFiniteAreRefusedByName) {
  for (const float value :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Model model = tiny_model();
    model.network.weights.at("bn_conv1/gamma").values[3] = value;
    write_model(path_, model);
    const base::Error error = read_error();
    EXPECT_EQ(error.code(), base::ExitCode::kRefused);
    EXPECT_THAT(error.what(), HasSubstr("'bn_conv1/gamma'"));
    EXPECT_THAT(error.what(), HasSubstr("place 3"));
  }
}

TEST_F(ModelFileTest, BoxScaleMustBeAPositiveNumber) {
  for (const char* scale : {"0", "-35", "nan", "inf"}) {
    EXPECT_THAT(refusal([&](auto& file) { file.metadata["box_scale"] = scale; }).what(),
                HasSubstr("box scale"));
  }
}

TEST_F(ModelFileTest, MissingArrayIsNamed) {
  EXPECT_THAT(refusal([](auto& file) { file.arrays.erase("conv1/kernel"); }).what(),
              HasSubstr("'conv1/kernel'"));
}

TEST_F(ModelFileTest, ArrayThatBelongsToNoNodeIsNamed) {
  const auto add = [](auto& file) { file.arrays["ghost"] = file.arrays.at("conv1/bias"); };
  EXPECT_THAT(refusal(add).what(), HasSubstr("'ghost'"));
}

TEST_F(ModelFileTest, ClassNamesMustNumberTheCoverageChannels) {
  const auto add = [](auto& file) { file.metadata["class_names"] = R"(["mask"])"; };
  EXPECT_THAT(refusal(add).what(), HasSubstr("1 class names for 2 coverage channels"));
  Model model = tiny_model();
  model.class_names.pop_back();
  EXPECT_THROW(write_model(path_, model), base::CheckFailed);
}

TEST_F(ModelFileTest, IncompleteModelIsNotWritten) {
  Model model = tiny_model();
  model.network.weights.erase("output_cov/bias");
  EXPECT_THROW(write_model(path_, model), base::CheckFailed);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

}  // namespace
}  // namespace maskfit::network
