#include "train/evaluate_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "dataset/synthetic.h"
#include "tests/support/temp_dir.h"
#include "train/build_network.h"
#include "train/finished_model.h"
#include "train/run_report.h"
#include "train/run_request.h"

namespace maskfit::train {
namespace {
using testing::HasSubstr;

// An untrained model and ten drawn pictures, two of them for validation.
class EvaluateModelTest : public testing::Test {
 protected:
  EvaluateModelTest() {
    dataset::SyntheticOptions drawn;
    drawn.pictures = 10;
    drawn.size = {96, 64};
    drawn.min_face_height = 16;
    drawn.max_face_height = 40;
    data_ = dataset::write_synthetic(drawn, dir_ / "data");
    write({"mask", "no-mask"});
    request_.model = dir_ / "model.safetensors";
    request_.data = dir_ / "data";
  }

  void write(const std::vector<std::string>& classes) {
    network::write_model(dir_ / "model.safetensors", model(classes));
  }

  network::Model model(const std::vector<std::string>& classes) {
    RunRequest request;
    request.backbone = "resnet10";
    request.size = "96x64";
    request.assignments = {"model_config.width_multiplier=0.25"};
    const spec::Experiment experiment = effective_experiment(request, classes, true);
    return finished_model(build_network(experiment), experiment, {});
  }

  support::TempDir dir_;
  dataset::Dataset data_;
  EvaluateRequest request_;
};

TEST_F(EvaluateModelTest, EverySampleOfTheSplitOnce) {
  EXPECT_EQ(evaluate_model(request_).validation.evaluation.pictures, 2);
  EXPECT_EQ(evaluate_model(request_).split, "val");
  request_.split = "train";
  EXPECT_EQ(evaluate_model(request_).validation.evaluation.pictures, 8);
  request_.split = "all";
  const EvaluatedModel all = evaluate_model(request_);
  EXPECT_EQ(all.validation.evaluation.pictures, 10);
  std::set<std::string> ids;
  for (const auto& picture : all.validation.detected.pictures) ids.insert(picture.id);
  EXPECT_EQ(ids.size(), 10u);
}

TEST_F(EvaluateModelTest, DataWithoutAValidationPartIsTakenWhole) {
  for (auto& sample : data_.samples) sample.split = "train";
  dataset::write_dataset(data_, {}, "test");
  EXPECT_EQ(evaluate_model(request_).validation.evaluation.pictures, 10);
  request_.split = "val";
  EXPECT_THROW(evaluate_model(request_), base::Error);
}

TEST_F(EvaluateModelTest, SeveralNetworksOnSomeOfThePictures) {
  request_.split = "all";
  request_.max_pictures = 4;
  const network::Model model = network::read_model(request_.model);
  const Evaluator evaluator(request_, model);
  EXPECT_EQ(evaluator.pictures(), 4);
  const Validation first = evaluator.evaluate(model.network);
  EXPECT_EQ(first.evaluation.pictures, 4);
  EXPECT_EQ(evaluator.evaluate(model.network).evaluation.map, first.evaluation.map);
  request_.max_pictures = 99;
  EXPECT_EQ(Evaluator(request_, model).pictures(), 10);
}

TEST_F(EvaluateModelTest, ModelOfOtherClassesIsRefusedWithBothLists) {
  write({"helmet"});
  try {
    evaluate_model(request_);
    FAIL() << "evaluated a helmet detector on masks";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::ExitCode::kRefused);
    EXPECT_THAT(error.hint(), HasSubstr("helmet"));
    EXPECT_THAT(error.hint(), HasSubstr("no-mask"));
  }
}

// The order of class_names is that of the channels, whatever order the spec in the provenance had.
TEST_F(EvaluateModelTest, ClassNamesOfTheModelFileAreTheTruth) {
  network::Model swapped = model({"mask", "no-mask"});
  swapped.class_names = {"no-mask", "mask"};
  network::write_model(request_.model, swapped);
  const EvaluatedModel evaluated = evaluate_model(request_);
  EXPECT_EQ(evaluated.validation.evaluation.classes.at(0).name, "no-mask");
  EXPECT_EQ(evaluated.validation.evaluation.classes.at(1).name, "mask");

  // A model that really was trained in that order says the same of the same channels.
  network::Model trained = model({"no-mask", "mask"});
  trained.network = swapped.network;
  network::write_model(request_.model, trained);
  EXPECT_EQ(nlohmann::json::parse(evaluation_json(evaluate_model(request_).validation)).at("classes"),
            nlohmann::json::parse(evaluation_json(evaluated.validation)).at("classes"));
}

TEST_F(EvaluateModelTest, ClassNamesThatContradictTheSpecAreRefused) {
  network::Model other = model({"mask", "no-mask"});
  other.class_names = {"mask", "helmet"};
  network::write_model(request_.model, other);
  try {
    evaluate_model(request_);
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::ExitCode::kRefused);
    EXPECT_THAT(error.what(), HasSubstr("mask, helmet"));
    EXPECT_THAT(error.what(), HasSubstr("mask, no-mask"));
  }
}

TEST_F(EvaluateModelTest, OutputsThatAreNotFiniteAreNotAnApOfZero) {
  network::Model broken = model({"mask", "no-mask"});
  for (auto& [name, array] : broken.network.weights) {
    if (name.ends_with("/moving_variance")) array.values[0] = -1;  // finite, but its root is not
  }
  network::write_model(request_.model, broken);
  try {
    evaluate_model(request_);
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::ExitCode::kRefused);
    EXPECT_THAT(error.what(), HasSubstr("not finite"));
  }
}

TEST_F(EvaluateModelTest, SpecFileWithOtherClassesIsRefused) {
  base::write_file(dir_ / "spec.txt",
                   "training_config { recipe: TLT } cost_function_config { target_classes { name: \"hat\" "
                   "class_weight: 1 coverage_foreground_weight: 0.5 objectives { name: \"cov\" "
                   "initial_weight: 1 weight_target: 1 } "
                   "objectives { name: \"bbox\" initial_weight: 1 weight_target: 1 } } }");
  request_.spec_file = dir_ / "spec.txt";
  try {
    evaluate_model(request_);
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("hat"));
  }
}

TEST_F(EvaluateModelTest, AllPointUnlessTheReferenceIsAskedFor) {
  EXPECT_EQ(evaluate_model(request_).validation.evaluation.options.mode, evaluate::ApMode::kAllPoint);
  request_.reference_exact = true;
  EXPECT_TRUE(evaluate_model(request_).validation.evaluation.options.reference_matching);
}

TEST_F(EvaluateModelTest, AnUntrainedModelGetsADiagnosis) {
  EXPECT_FALSE(evaluate_model(request_).validation.diagnosis.empty());
}

TEST_F(EvaluateModelTest, StoppingIsAnInterrupt) {
  const std::atomic<bool> stopped{true};
  request_.stop = base::StopToken(&stopped);
  try {
    evaluate_model(request_);
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::ExitCode::kInterrupted);
  }
}

TEST_F(EvaluateModelTest, JsonHasEveryFigureAndParses) {
  const auto json = nlohmann::json::parse(evaluation_json(evaluate_model(request_).validation));
  for (const char* name : {"mAP", "mAP_all_point", "mAP_sample", "mAP_integrate", "mAP50", "mAP75",
                           "mAP50_95", "confusion", "diagnosis", "pictures", "median_seconds_per_picture"}) {
    EXPECT_TRUE(json.contains(name)) << name;
  }
  EXPECT_EQ(json.at("classes").at(1).at("name"), "no-mask");
  EXPECT_EQ(json.at("confusion").at("names").size(), 3u);
  EXPECT_EQ(json.at("confusion").at("counts").size(), 3u);
}

TEST_F(EvaluateModelTest, TableNamesEveryClassAndTheMean) {
  const std::string table = evaluation_table(evaluate_model(request_).validation.evaluation);
  EXPECT_THAT(table, HasSubstr("\nmask "));
  EXPECT_THAT(table, HasSubstr("\nno-mask "));
  EXPECT_THAT(table, HasSubstr("\nmean "));
}

TEST_F(EvaluateModelTest, ReportShowsWorstPicturesInTheirOwnPixels) {
  const EvaluatedModel evaluated = evaluate_model(request_);
  report::Report page;
  add_evaluation(evaluated.validation.evaluation, evaluated.validation.detected.pictures, *evaluated.pictures,
                 1, 1, &page);
  ASSERT_EQ(page.worst.size(), 1u);
  EXPECT_EQ(page.worst[0].image.width, 96);
  const dataset::Sample* sample = nullptr;
  for (const auto& candidate : data_.samples) {
    if (candidate.id == page.worst[0].id) sample = &candidate;
  }
  ASSERT_NE(sample, nullptr);
  ASSERT_EQ(page.worst[0].truths.size(), sample->boxes.size());
  EXPECT_NEAR(page.worst[0].truths[0].box.x2, sample->boxes[0].box_in_image.x2, 1e-3);
}

TEST(RunReport, CurvesRunOverEpochs) {
  const std::vector<runs::MetricsRecord> records = {
      {"train", 1, 5, {{"total_cost", 2.0}, {"learning_rate", 0.1}, {"mean_cost_mask_cov", 1.0}}},
      {"validation",
       1,
       10,
       {{"validation_cost", 3.0}, {"mean average precision (mAP) (in %)", 50}, {"mask_AP (in %)", 40}}}};
  report::Report page;
  add_curves(records, {"mask"}, 10, &page);
  ASSERT_EQ(page.losses.size(), 4u);
  EXPECT_EQ(page.losses[0].points.at(0).x, 0.5);
  EXPECT_EQ(page.losses[0].points.at(0).y, 2.0);
  EXPECT_EQ(page.learning_rate->points.at(0).y, 0.1);
  EXPECT_EQ(page.ap.at(0).points.at(0).y, 0.5);
  EXPECT_EQ(page.ap.at(1).name, "mask");
  EXPECT_EQ(page.ap.at(1).points.at(0).y, 0.4);
}

}  // namespace
}  // namespace maskfit::train
