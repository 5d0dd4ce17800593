// A text laid over a message that already holds something.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/experiment.pb.h"
#include "spec/print.h"
#include "spec/text_parser.h"

namespace maskfit::spec {
namespace {

using testing::HasSubstr;

struct Parsed {
  Experiment spec;
  Source source{"train.txt"};
  base::Findings findings;
};

Parsed parse(std::string_view text, ParseMode mode = ParseMode::kFresh, const Experiment& base = {}) {
  Parsed parsed;
  parsed.spec = base;
  parse_text(text, &parsed.spec, &parsed.source, &parsed.findings, mode);
  return parsed;
}

TEST(TextParserOverlay, ReplacesFieldsMergesSectionsAndReplacesLists) {
  const Experiment base =
      parse("random_seed: 3 model_config { num_layers: 34 arch: \"vgg\" freeze_blocks: [0, 1] }").spec;
  const Parsed parsed = parse("model_config { num_layers: 18 freeze_blocks: 2 }", ParseMode::kOverlay, base);
  EXPECT_TRUE(parsed.findings.empty());
  EXPECT_EQ(to_text(parsed.spec, {.comments = false, .all_fields = false}),
            "random_seed: 3\nmodel_config {\n  num_layers: 18\n  freeze_blocks: 2\n  arch: \"vgg\"\n}\n");
}

TEST(TextParserOverlay, AnExplicitZeroReplaces) {
  const Experiment base =
      parse("augmentation_config { spatial_augmentation { hflip_probability: 0.5 } }").spec;
  const Parsed parsed = parse("augmentation_config { spatial_augmentation { hflip_probability: 0 } }",
                              ParseMode::kOverlay, base);
  EXPECT_EQ(parsed.spec.augmentation_config().spatial_augmentation().hflip_probability(), 0);
}

TEST(TextParserOverlay, MergesMapEntriesOfTheSameKey) {
  const Experiment base = parse(
                              "bbox_rasterizer_config { target_class_config { key: \"m\" value { "
                              "cov_radius_x: 1 cov_radius_y: 1 } } }")
                              .spec;
  const Parsed parsed = parse(
      "bbox_rasterizer_config { target_class_config { key: \"m\" value { cov_radius_x: 0.5 } } "
      "target_class_config { "
      "key: \"n\" value { cov_radius_x: 0.25 } } }",
      ParseMode::kOverlay, base);
  const auto& map = parsed.spec.bbox_rasterizer_config().target_class_config();
  EXPECT_EQ(map.at("m").cov_radius_x(), 0.5f);
  EXPECT_EQ(map.at("m").cov_radius_y(), 1.0f);
  EXPECT_EQ(map.at("n").cov_radius_x(), 0.25f);
}

TEST(TextParserOverlay, AnotherChoiceReplacesTheOldOne) {
  const Experiment base =
      parse("training_config { learning_rate { soft_start_annealing_schedule { soft_start: 0.1 } } }").spec;
  const Parsed parsed =
      parse("training_config { learning_rate { warmup_cosine_schedule { max_learning_rate: 1 } } }",
            ParseMode::kOverlay, base);
  EXPECT_TRUE(parsed.findings.empty());
  EXPECT_TRUE(parsed.spec.training_config().learning_rate().has_warmup_cosine_schedule());
}

TEST(TextParserOverlay, FieldSetTwiceInTheTextIsStillAnError) {
  const Experiment base = parse("random_seed: 3").spec;
  const Parsed once = parse("random_seed: 4", ParseMode::kOverlay, base);
  EXPECT_TRUE(once.findings.empty());
  const Parsed twice = parse("random_seed: 4\nrandom_seed: 5", ParseMode::kOverlay, base);
  ASSERT_EQ(twice.findings.size(), 1u);
  EXPECT_THAT(base::to_string(twice.findings[0]),
              HasSubstr("train.txt:2:1: random_seed: random_seed is set twice"));
}

}  // namespace
}  // namespace maskfit::spec
