#include "spec/text_parser.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "spec/experiment.pb.h"
#include "spec/inference.pb.h"
#include "tests/support/temp_dir.h"

namespace maskfit::spec {
namespace {

using google::protobuf::Message;
using google::protobuf::TextFormat;
using testing::ElementsAre;
using testing::HasSubstr;

struct Parsed {
  Experiment spec;
  Source source{"train.txt"};
  base::Findings findings;
};

Parsed parse(std::string_view text) {
  Parsed parsed;
  parse_text(text, &parsed.spec, &parsed.source, &parsed.findings);
  return parsed;
}

std::vector<std::string> messages(std::string_view text) {
  std::vector<std::string> lines;
  for (const base::Finding& finding : parse(text).findings) lines.push_back(base::to_string(finding));
  return lines;
}

// ---- every kind of error, with line, column, field and remedy ----

TEST(TextParser, UnknownFieldNamesTheNearestOne) {
  EXPECT_THAT(
      messages("training_config {\n  num_epoch: 5\n}"),
      ElementsAre("train.txt:2:3: training_config.num_epoch: unknown field in training_config; did you mean "
                  "num_epochs?"));
}

TEST(TextParser, UnknownFieldNamesTheSectionThatHasIt) {
  EXPECT_THAT(
      messages("model_config { arch: \"resnet\" num_epochs: 5 }"),
      ElementsAre("train.txt:1:31: model_config.num_epochs: unknown field in model_config; it belongs into "
                  "training_config"));
}

TEST(TextParser, UnknownFieldNothingLikeItListsTheKnownOnes) {
  EXPECT_THAT(messages("model_config { objective_set { zzzzzzzzzz { a: 1 b { c: 2 } } } }"),
              ElementsAre("train.txt:1:32: model_config.objective_set.zzzzzzzzzz: unknown field in "
                          "model_config.objective_set; known here: bbox, cov"));
}

TEST(TextParser, UnknownSectionAtTheTopLevel) {
  EXPECT_THAT(messages("\n\ntrainin_config: { num_epochs: 5 }"),
              ElementsAre("train.txt:3:1: trainin_config: unknown field at the top level; did you mean "
                          "training_config?"));
}

TEST(TextParser, BadEnumNamesTheAllowedOnes) {
  EXPECT_THAT(
      messages("dataset_config {\n sampling_mode: UNIFROM\n}"),
      ElementsAre(
          "train.txt:2:17: dataset_config.sampling_mode: sampling_mode has no value UNIFROM; allowed: "
          "USER_DEFINED, PROPORTIONAL, UNIFORM; did you mean UNIFORM?"));
  EXPECT_THAT(
      messages("dataset_config { sampling_mode: 3 }"),
      ElementsAre("train.txt:1:33: dataset_config.sampling_mode: sampling_mode has no value 3; allowed: "
                  "USER_DEFINED, PROPORTIONAL, UNIFORM"));
  EXPECT_THAT(
      messages("dataset_config { sampling_mode: \"UNIFORM\" }"),
      ElementsAre(HasSubstr("1:33: dataset_config.sampling_mode: sampling_mode has no value \"UNIFORM\"; "
                            "allowed: USER_DEFINED, PROPORTIONAL, UNIFORM; without quotes")));
}

TEST(TextParser, WordForAWholeNumber) {
  EXPECT_THAT(
      messages("training_config { num_epochs: many }"),
      ElementsAre("train.txt:1:31: training_config.num_epochs: many is not a whole number; allowed: a whole "
                  "number, above 0"));
}

TEST(TextParser, DecimalPointInAWholeNumber) {
  EXPECT_THAT(
      messages("training_config { num_epochs: 1e2 }"),
      ElementsAre(
          "train.txt:1:31: training_config.num_epochs: 1e2 has a decimal point or an exponent; allowed: "
          "a whole number, above 0"));
}

TEST(TextParser, NegativeNumberForAnUnsignedField) {
  EXPECT_THAT(
      messages("random_seed: -3"),
      ElementsAre("train.txt:1:14: random_seed: -3 is not 0 or more; allowed: a whole number, 0 or more"));
}

TEST(TextParser, WholeNumberThatDoesNotFit) {
  EXPECT_THAT(messages("random_seed: 4294967296"),
              ElementsAre("train.txt:1:14: random_seed: 4294967296 is too large; at most 4294967295"));
}

TEST(TextParser, TextForANumber) {
  EXPECT_THAT(
      messages("bbox_rasterizer_config { deadzone_radius: \"0.5\" }"),
      ElementsAre(
          "train.txt:1:43: bbox_rasterizer_config.deadzone_radius: \"0.5\" is not a number; allowed: a "
          "number from 0 to 1"));
}

TEST(TextParser, NumberForAFlag) {
  EXPECT_THAT(
      messages("model_config { use_batch_norm: 2 }"),
      ElementsAre("train.txt:1:32: model_config.use_batch_norm: 2 is not true or false; allowed: true or "
                  "false"));
}

TEST(TextParser, TextWithoutQuotes) {
  EXPECT_THAT(messages("model_config { arch: resnet }"),
              ElementsAre("train.txt:1:22: model_config.arch: resnet is text and must stand in quotes; write "
                          "\"resnet\""));
}

TEST(TextParser, MissingColon) {
  EXPECT_THAT(
      messages("training_config {\n  num_epochs 120\n  batch_size_per_gpu: 24\n}"),
      ElementsAre(
          "train.txt:2:14: training_config.num_epochs: expected \":\" after num_epochs, found \"120\""));
}

TEST(TextParser, MissingValue) {
  EXPECT_THAT(
      messages("training_config { num_epochs: }"),
      ElementsAre("train.txt:1:31: training_config.num_epochs: expected a value for num_epochs, found \"}\"; "
                  "allowed: a whole number, above 0"));
}

TEST(TextParser, SectionWhereAValueBelongs) {
  EXPECT_THAT(messages("training_config { num_epochs: { } batch_size_per_gpu: -1 }"),
              ElementsAre(HasSubstr("1:31: training_config.num_epochs: num_epochs is one value, found \"{\""),
                          HasSubstr("1:55: training_config.batch_size_per_gpu: -1 is not 0 or more")));
}

TEST(TextParser, ValueWhereASectionBelongs) {
  EXPECT_THAT(messages("training_config: 5\nrandom_seed: x"),
              ElementsAre("train.txt:1:18: training_config: training_config is a section, found \"5\"; write "
                          "training_config { ... }",
                          HasSubstr("2:14: random_seed: x is not a whole number")));
}

TEST(TextParser, ListForASingleValue) {
  EXPECT_THAT(messages("random_seed: [1, 2]"),
              ElementsAre(HasSubstr("1:14: random_seed: random_seed is one value, found \"[\"")));
}

TEST(TextParser, FieldSetTwice) {
  EXPECT_THAT(
      messages("training_config {\n num_epochs: 5\n num_epochs: 6\n}"),
      ElementsAre("train.txt:3:2: training_config.num_epochs: num_epochs is set twice, first in line 2; keep "
                  "one of them"));
  EXPECT_THAT(messages("model_config { }\nmodel_config { arch: \"vgg\" }"),
              ElementsAre(HasSubstr("2:1: model_config: model_config is set twice, first in line 1")));
}

TEST(TextParser, TwoChoicesOfOne) {
  EXPECT_THAT(
      messages("dataset_config {\n validation_fold: 0\n validation_data_source { }\n}"),
      ElementsAre("train.txt:3:2: dataset_config.validation_data_source: validation_data_source excludes "
                  "validation_fold of line 2; keep one of them"));
}

TEST(TextParser, BraceThatIsNeverClosed) {
  EXPECT_THAT(
      messages("training_config {\n optimizer {\n  adam { }\n"),
      ElementsAre(
          "train.txt:2:12: training_config.optimizer: the \"{\" is never closed; add the missing \"}\"",
          "train.txt:1:17: training_config: the \"{\" is never closed; add the missing \"}\""));
}

TEST(TextParser, BraceThatClosesNothing) {
  const Parsed parsed = parse("model_config { }\n}\nrandom_seed: 4");
  ASSERT_EQ(parsed.findings.size(), 1u);
  EXPECT_EQ(base::to_string(parsed.findings[0]), "train.txt:2:1: \"}\" closes nothing; delete it");
  EXPECT_EQ(parsed.spec.random_seed(), 4u);
}

TEST(TextParser, WrongBracket) {
  EXPECT_THAT(messages("model_config < num_layers: 18 }"),
              ElementsAre(HasSubstr("1:31: model_config: expected \">\", found \"}\"")));
}

TEST(TextParser, StringThatIsNeverClosed) {
  EXPECT_THAT(messages("model_config {\n  arch: \"resnet\n  num_layers: 18\n}"),
              ElementsAre(HasSubstr(
                  "train.txt:2:16: unreadable text: String literals cannot cross line boundaries")));
}

TEST(TextParser, ListThatIsNeverClosed) {
  EXPECT_THAT(
      messages("model_config { freeze_blocks: [0, 1 }"),
      ElementsAre(HasSubstr("1:37: model_config.freeze_blocks: expected \",\" or \"]\" in the list, found "
                            "\"}\"")));
}

TEST(TextParser, BadItemOfAListKeepsItsPlace) {
  EXPECT_THAT(messages("model_config { freeze_blocks: [0, one, 2] num_layers: 18 }"),
              ElementsAre(HasSubstr("1:35: model_config.freeze_blocks[1]: one is not a number")));
}

TEST(TextParser, MapEntryWithoutKeyOrValue) {
  EXPECT_THAT(messages("dataset_config { target_class_mapping { value: \"mask\" } }"),
              ElementsAre(HasSubstr("1:39: dataset_config.target_class_mapping[]: the entry has no key")));
  EXPECT_THAT(
      messages("dataset_config { target_class_mapping { key: \"mask\" } }"),
      ElementsAre(HasSubstr("1:39: dataset_config.target_class_mapping[mask]: the entry has no value")));
}

TEST(TextParser, FieldInAMapEntryIsNamedByItsKey) {
  EXPECT_THAT(
      messages("bbox_rasterizer_config { target_class_config { key: \"mask\" value { cov_radius: 1 } } }"),
      ElementsAre(
          HasSubstr("1:68: bbox_rasterizer_config.target_class_config[mask].cov_radius: unknown field")));
  EXPECT_THAT(
      messages("bbox_rasterizer_config { target_class_config { value { cov_radius_x: ? } key: \"mask\" } }"),
      ElementsAre(
          HasSubstr("bbox_rasterizer_config.target_class_config[mask].cov_radius_x: expected a value")));
}

TEST(TextParser, ReportsEveryErrorOfAFile) {
  EXPECT_THAT(messages("random_sed: 1\ntraining_config { num_epochs: x }\nmodel_config { arch: 5 } }\n"),
              ElementsAre(HasSubstr("1:1:"), HasSubstr("2:31:"), HasSubstr("3:22:"), HasSubstr("3:26:")));
}

TEST(TextParser, ColumnsAreCharactersAsInAnEditor) {
  EXPECT_THAT(messages("\trandom_seed: x"), ElementsAre(HasSubstr("1:15: random_seed")));
  EXPECT_THAT(messages("model_config { arch: \"épé\" nmm_layers: 18 }"),
              ElementsAre(HasSubstr("1:28: model_config.nmm")));
  EXPECT_THAT(messages("random_seed: 1\r\nrandom_sed: 1\r\n"), ElementsAre(HasSubstr("2:1: random_sed")));
}

// ---- what must be understood ----

TEST(TextParser, AcceptsEverySpellingOfAFlag) {
  for (const char* yes : {"true", "True", "t", "1"}) {
    const Parsed parsed = parse(std::string("model_config { use_batch_norm: ") + yes + " }");
    EXPECT_TRUE(parsed.findings.empty() && parsed.spec.model_config().use_batch_norm()) << yes;
  }
  for (const char* no : {"false", "False", "f", "0"}) {
    const Parsed parsed = parse(std::string("model_config { use_batch_norm: ") + no + " }");
    EXPECT_TRUE(parsed.findings.empty() && !parsed.spec.model_config().use_batch_norm()) << no;
  }
}

TEST(TextParser, MinSamplesMayBeAFraction) {
  const Parsed parsed = parse(
      "postprocessing_config { target_class_config { key: \"m\" value: { clustering_config { "
      "dbscan_min_samples: 0.05 "
      "} } } }");
  EXPECT_TRUE(parsed.findings.empty());
  EXPECT_FLOAT_EQ(parsed.spec.postprocessing_config()
                      .target_class_config()
                      .at("m")
                      .clustering_config()
                      .dbscan_min_samples(),
                  0.05f);
}

TEST(TextParser, AnExplicitZeroOfAChoiceCountsAsSet) {
  const Parsed parsed = parse("dataset_config { validation_fold: 0 }");
  EXPECT_EQ(parsed.spec.dataset_config().dataset_split_type_case(), DatasetConfig::kValidationFold);
}

TEST(TextParser, LastOfARepeatedMapKeyWins) {
  const Parsed parsed = parse(
      "dataset_config { target_class_mapping { key: \"a\" value: \"x\" } target_class_mapping { key: \"b\" "
      "value: "
      "\"x\" }\n target_class_mapping { key: \"a\" value: \"y\" } }");
  EXPECT_TRUE(parsed.findings.empty());
  EXPECT_EQ(parsed.spec.dataset_config().target_class_mapping_size(), 2);
  EXPECT_EQ(parsed.spec.dataset_config().target_class_mapping().at("a"), "y");
  EXPECT_EQ(parsed.source.at("dataset_config.target_class_mapping[a]").line, 2);
}

TEST(TextParser, RemembersThePlaceOfEveryField) {
  const Parsed parsed = parse(
      "training_config {\n  num_epochs: 5\n}\ncost_function_config {\n  target_classes {\n"
      "    name: \"m\" class_weight: 2 }\n}");
  EXPECT_EQ(parsed.source.at("training_config.num_epochs").line, 2);
  EXPECT_EQ(parsed.source.at("training_config.num_epochs").column, 3);
  EXPECT_EQ(parsed.source.at("cost_function_config.target_classes[0].class_weight").column, 15);
  // Of a field that is not there: the section's.
  EXPECT_EQ(parsed.source.at("cost_function_config.target_classes[0].objectives").line, 5);
  EXPECT_EQ(parsed.source.at("model_config.arch").line, 0);
}

// protobuf's own parser is the judge of what a good file means.
template <typename Spec>
void expect_same_as_protobuf(const std::string& text) {
  Spec ours, theirs;
  Source source;
  base::Findings findings;
  parse_text(text, &ours, &source, &findings);
  ASSERT_TRUE(findings.empty()) << base::to_string(findings.front());
  ASSERT_TRUE(TextFormat::ParseFromString(text, &theirs));
  // A repeated key of a map stays twice in protobuf's message until it is serialised.
  ASSERT_TRUE(theirs.ParseFromString(theirs.SerializeAsString()));
  std::string difference;
  google::protobuf::util::MessageDifferencer differencer;
  differencer.ReportDifferencesToString(&difference);
  EXPECT_TRUE(differencer.Compare(theirs, ours)) << difference;
}

TEST(TextParser, AgreesWithProtobufOnWholeSpecs) {
  const auto folder = support::source_dir() / "src/spec/testdata";
  for (const char* name :
       {"tlt2_train_resnet18.txt", "tlt2_retrain_resnet18.txt", "tao5_train_resnet34.txt"}) {
    SCOPED_TRACE(name);
    expect_same_as_protobuf<Experiment>(base::read_file(folder / name));
  }
  for (const char* name :
       {"tlt2_tfrecords_trainval.txt", "tlt2_tfrecords_val.txt", "tao5_tfrecords_coco.txt"}) {
    SCOPED_TRACE(name);
    expect_same_as_protobuf<DatasetExportConfig>(base::read_file(folder / name));
  }
  for (const char* name : {"tlt2_inference_tlt.txt", "tlt2_inference_etlt.txt", "tao5_inference_tlt.txt"}) {
    SCOPED_TRACE(name);
    expect_same_as_protobuf<Inference>(base::read_file(folder / name));
  }
}

// Editors on Windows put a byte order mark before the text.
TEST(TextParser, ByteOrderMarkIsNoText) {
  const Parsed parsed = parse("\xEF\xBB\xBFrandom_seed: 7");
  EXPECT_TRUE(parsed.findings.empty());
  EXPECT_EQ(parsed.spec.random_seed(), 7u);
  EXPECT_THAT(messages("\xEF\xBB\xBF\nfoo: 1"), ElementsAre(HasSubstr("train.txt:2:1: foo: unknown field")));
}

// A megabyte in one line, every bracket of it open: once a minute's work, because each token's column was
// counted from the start of the line.
TEST(TextParser, LongLinesAndDeepNestingTakeNoTime) {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += "training_config{";
  EXPECT_THAT(messages(text),
              testing::Contains(HasSubstr("train.txt:1:17: training_config.training_config: unknown")));
}

// Whatever the bytes, the parser comes back, and says so when the text is not whole.
TEST(TextParser, SurvivesTruncationAtAnyPlace) {
  const std::string text =
      base::read_file(support::source_dir() / "src/spec/testdata/tao5_train_resnet34.txt");
  for (std::size_t length = 0; length < text.size(); length += 11) {
    const Parsed parsed = parse(std::string_view(text).substr(0, length));
    int depth = 0;
    for (const char c : text.substr(0, length)) depth += (c == '{') - (c == '}');
    if (depth > 0) EXPECT_FALSE(parsed.findings.empty()) << length;
  }
}

TEST(TextParser, SurvivesDamagedBytes) {
  const std::string text =
      base::read_file(support::source_dir() / "src/spec/testdata/tlt2_inference_tlt.txt");
  constexpr char kNoise[] = "\0{}[]<>\":,-#\\\x01\xff";
  const std::string noise(kNoise, sizeof kNoise - 1);
  for (std::size_t i = 0; i < text.size(); i += 3) {
    std::string damaged = text;
    damaged[i] = noise[i / 3 % noise.size()];
    parse(damaged);
  }
}

}  // namespace
}  // namespace maskfit::spec
