#include "spec/load.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "spec/defaults.h"
#include "spec/print.h"
#include "spec/text_parser.h"
#include "tests/support/temp_dir.h"

namespace maskfit::spec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::filesystem::path testdata(const std::string& name) {
  return support::source_dir() / "src/spec/testdata" / name;
}

std::vector<std::string> lines(const base::Findings& findings) {
  std::vector<std::string> texts;
  for (const base::Finding& finding : findings) {
    texts.push_back(finding.field + ": " + finding.what);
  }
  return texts;
}

template <typename Spec>
void expect_round_trip(const Spec& spec) {
  for (const bool all : {false, true}) {
    const std::string text = to_text(spec, {.comments = all, .all_fields = all});
    Spec again;
    Source source("printed");
    base::Findings findings;
    parse_text(text, &again, &source, &findings);
    EXPECT_THAT(lines(findings), IsEmpty());
    EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(spec, again)) << text;
    EXPECT_EQ(digest(spec), digest(again));
  }
}

// ---- whole specs ----

TEST(LoadSpec, FaceMaskTrainSpecIsValid) {
  const auto loaded = load_experiment(testdata("tlt2_train_resnet18.txt"));
  EXPECT_THAT(lines(check_loaded(loaded)),
              ElementsAre("model_config.activation.activation_type: has no effect"));
  expect_round_trip(loaded.spec);
  EXPECT_EQ(loaded.spec.cost_function_config().target_classes(1).class_weight(), 8.0f);
  EXPECT_EQ(loaded.spec.bbox_rasterizer_config().deadzone_radius(), 0.400000154972f);
}

TEST(LoadSpec, FaceMaskRetrainSpecIsValid) {
  const auto loaded = load_experiment(testdata("tlt2_retrain_resnet18.txt"));
  EXPECT_FALSE(has_refused(check_loaded(loaded)));
  EXPECT_FALSE(has_refused(check_loaded(loaded, {.purpose = Purpose::kRun})));
  EXPECT_TRUE(loaded.spec.model_config().load_graph());
  expect_round_trip(loaded.spec);
}

TEST(LoadSpec, Tao5TrainSpecIsValid) {
  const auto loaded = load_experiment(testdata("tao5_train_resnet34.txt"));
  EXPECT_THAT(lines(check_loaded(loaded)),
              ElementsAre("training_config.visualizer.num_images: has no effect"));
  expect_round_trip(loaded.spec);
  EXPECT_EQ(loaded.spec.dataset_config().target_class_mapping().at("mask"), "mask");
  EXPECT_EQ(loaded.spec.dataset_config().data_sources(0).tfrecords_path(), "/data/a/tfrecords/*");
}

TEST(LoadSpec, DatasetConvertSpecsAreValid) {
  for (const char* name :
       {"tlt2_tfrecords_trainval.txt", "tlt2_tfrecords_val.txt", "tao5_tfrecords_coco.txt"}) {
    SCOPED_TRACE(name);
    const auto loaded = load_dataset_export(testdata(name));
    EXPECT_THAT(lines(check_loaded(loaded)), ElementsAre("image_directory_path: has no effect"));
    expect_round_trip(loaded.spec);
  }
}

TEST(LoadSpec, InferenceSpecsAreValid) {
  for (const char* name : {"tlt2_inference_tlt.txt", "tao5_inference_tlt.txt"}) {
    SCOPED_TRACE(name);
    const auto loaded = load_inference(testdata(name));
    EXPECT_THAT(lines(check_loaded(loaded)), IsEmpty());
    expect_round_trip(loaded.spec);
  }
}

TEST(LoadSpec, EngineSpecIsValidButItsCommandWouldRefuseIt) {
  const auto loaded = load_inference(testdata("tlt2_inference_etlt.txt"));
  EXPECT_THAT(
      lines(check_loaded(loaded)),
      ElementsAre("inferencer_config.tensorrt_config: valid, but not supported yet by the command that needs "
                  "it"));
  EXPECT_TRUE(has_refused(check_loaded(loaded, {.purpose = Purpose::kRun})));
  expect_round_trip(loaded.spec);
}

TEST(LoadSpec, EffectiveSpecsRoundTripToo) {
  auto train = load_experiment(testdata("tao5_train_resnet34.txt"));
  apply_defaults(&train.spec);
  expect_round_trip(train.spec);
  auto inference = load_inference(testdata("tlt2_inference_tlt.txt"));
  apply_defaults(&inference.spec);
  expect_round_trip(inference.spec);
}

// ---- which kind ----

TEST(SniffKind, TellsTheThreeKindsApart) {
  EXPECT_EQ(sniff_kind(base::read_file(testdata("tlt2_train_resnet18.txt")), ""), Kind::kExperiment);
  EXPECT_EQ(sniff_kind(base::read_file(testdata("tao5_tfrecords_coco.txt")), ""), Kind::kDatasetExport);
  EXPECT_EQ(sniff_kind(base::read_file(testdata("tlt2_inference_etlt.txt")), ""), Kind::kInference);
}

TEST(SniffKind, SeesThroughTyposAndBrokenFiles) {
  EXPECT_EQ(sniff_kind("trainin_config { num_epochs: 5", ""), Kind::kExperiment);
  EXPECT_EQ(sniff_kind("inferencer_cofig: { \"", ""), Kind::kInference);
  EXPECT_EQ(sniff_kind("kiti_config { }", ""), Kind::kDatasetExport);
}

TEST(SniffKind, RefusesOtherFiles) {
  for (const char* text : {"", "# nothing\n", "hello world", "model:\n  layers: 18\n", "\x89PNG\r\n\x1a\n"}) {
    try {
      sniff_kind(text, "notes.txt");
      ADD_FAILURE() << text;
    } catch (const base::Error& error) {
      EXPECT_EQ(error.code(), base::ExitCode::kRefused);
      EXPECT_EQ(error.where(), "notes.txt");
      EXPECT_THAT(error.what(), HasSubstr("not a spec file"));
    }
  }
}

// ---- findings together ----

TEST(CheckLoaded, DoesNotCallMissingWhatAnUnreadableLineMayHaveSet) {
  const auto loaded = read_dataset_export(
      "kitti_config {\n  root_directory_path: /data\n  partition_mode: \"random\"\n  num_partitions: 2\n  "
      "val_split: "
      "120\n}",
      "t.txt");
  EXPECT_THAT(
      lines(check_loaded(loaded)),
      ElementsAre(
          HasSubstr(
              "kitti_config.root_directory_path: expected a value for root_directory_path, found \"/\""),
          "kitti_config.val_split: 120 is out of range"));
}

TEST(CheckLoaded, ReportsInTheOrderOfTheFile) {
  const auto loaded =
      read_inference("inferencer_config {\n image_width: 0\n batch_siz: 1\n image_channels: 2\n}", "i.txt");
  std::vector<int> found;
  for (const base::Finding& finding : check_loaded(loaded)) found.push_back(finding.line);
  EXPECT_THAT(found, ElementsAre(2, 3, 4));
}

TEST(ThrowIfRefused, ListsEveryRefusalAndNoWarning) {
  const auto loaded =
      read_inference("inferencer_config {\n image_width: 0\n input_nodes: \"in\"\n}", "i.txt");
  try {
    throw_if_refused(check_loaded(loaded));
    ADD_FAILURE();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::ExitCode::kRefused);
    EXPECT_THAT(error.what(), HasSubstr("i.txt:2:2: inferencer_config.image_width: 0 is out of range"));
    EXPECT_THAT(error.what(), HasSubstr("bbox_handler_config is missing"));
    EXPECT_THAT(error.what(), testing::Not(HasSubstr("has no effect")));
  }
  EXPECT_NO_THROW(throw_if_refused({}));
}

// ---- specs that build on a recipe ----

TEST(LoadSpec, ASpecThatNamesARecipeNeedsNothingElse) {
  const auto loaded =
      read_experiment("training_config { recipe: SCRATCH num_epochs: 7 }", "s.txt", {"mask", "no-mask"});
  EXPECT_THAT(lines(check_loaded(loaded)), IsEmpty());
  EXPECT_EQ(loaded.spec.training_config().num_epochs(), 7u);
  EXPECT_GT(loaded.spec.training_config().batch_size_per_gpu(), 0u);
  EXPECT_EQ(loaded.spec.cost_function_config().target_classes_size(), 2);
  EXPECT_EQ(loaded.spec.bbox_rasterizer_config().target_class_config().count("no-mask"), 1u);
}

TEST(LoadSpec, ItsOwnClassesCountMoreThanTheDataset) {
  const auto loaded = read_experiment(
      "training_config { recipe: TLT } cost_function_config { target_classes { name: \"helmet\" "
      "class_weight: 1 "
      "coverage_foreground_weight: 0.1 objectives { name: \"cov\" initial_weight: 1 weight_target: 1 } "
      "objectives { "
      "name: \"bbox\" initial_weight: 1 weight_target: 1 } } }",
      "s.txt", {"mask"});
  EXPECT_THAT(lines(check_loaded(loaded)), IsEmpty());
  EXPECT_EQ(loaded.spec.postprocessing_config().target_class_config().count("helmet"), 1u);
  EXPECT_EQ(loaded.spec.postprocessing_config().target_class_config().count("mask"), 0u);
}

TEST(LoadSpec, WithoutARecipeASpecMustBeComplete) {
  const auto loaded = read_experiment("training_config { num_epochs: 7 }", "s.txt", {"mask"});
  EXPECT_THAT(lines(check_loaded(loaded)), testing::Contains("model_config: model_config is missing"));
}

}  // namespace
}  // namespace maskfit::spec
