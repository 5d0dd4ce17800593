// Training on from a model: its network stays as it is, its weights are where training begins.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "dataset/synthetic.h"
#include "network/model_file.h"
#include "tests/support/temp_dir.h"
#include "train/build_network.h"
#include "train/finished_model.h"
#include "train/teacher.h"
#include "train/train_loop.h"

namespace maskfit::train {
namespace {
namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;

const std::vector<std::string> kClasses = {"mask", "no-mask"};

class Notices : public Observer {
 public:
  void on_notice(Notice, const std::string& sentence) override { sentences.push_back(sentence); }
  std::vector<std::string> sentences;
};

// A model as pruning leaves it: its spec describes a network of a quarter of the channels, its network has an
// eighth.
class RetrainTest : public testing::Test {
 protected:
  RetrainTest() {
    network::Model model = small_model(kClasses);
    network::write_model(small(), model);
    request_.from = small();
    request_.epochs = 1;
    request_.assignments = {"training_config.deterministic=true"};
  }

  static spec::Experiment experiment_of_width(double width, const std::vector<std::string>& classes) {
    RunRequest request;
    request.backbone = "resnet10";
    request.size = "96x64";
    request.batch = 4;
    request.epochs = 9;
    request.assignments = {fmt::format("model_config.width_multiplier={}", width)};
    return effective_experiment(request, classes, true);
  }

  static network::Model small_model(const std::vector<std::string>& classes) {
    network::Model model = finished_model(build_network(experiment_of_width(0.125, classes)),
                                          experiment_of_width(0.25, classes), {});
    model.provenance["prune/parameters"] = "[2000000,100000]";
    model.provenance["prune/parent/map"] = "0.8";
    return model;
  }

  void draw_data() {
    dataset::SyntheticOptions drawn;
    drawn.pictures = 10;
    drawn.size = {96, 64};
    drawn.min_face_height = 16;
    drawn.max_face_height = 40;
    dataset::write_synthetic(drawn, dir_ / "data");
  }

  network::Model train_to(const std::string& name, Notices* notices = nullptr) {
    Notices silent;
    const PreparedRun run = prepare_run(request_, {.data = dir_ / "data", .out = dir_ / name});
    train(run, TrainOptions(), notices ? *notices : silent);
    return network::read_model(dir_ / name / "model.safetensors");
  }

  base::Error refusal() {
    try {
      build_network(effective_experiment(request_, kClasses, true));
    } catch (const base::Error& error) {
      return error;
    }
    return {base::ExitCode::kDone, "nothing thrown"};
  }

  fs::path small() const { return dir_ / "small.safetensors"; }

  support::TempDir dir_;
  RunRequest request_;
};

TEST_F(RetrainTest, SpecOfTheModelIsWhereItBegins) {
  const spec::Experiment experiment = effective_experiment(request_, {}, true);
  EXPECT_EQ(experiment.training_config().num_epochs(), 1u);
  EXPECT_EQ(experiment.training_config().batch_size_per_gpu(), 4u);
  EXPECT_EQ(experiment.augmentation_config().preprocessing().output_image_width(), 96u);
  EXPECT_TRUE(experiment.model_config().load_graph());
  EXPECT_EQ(experiment.model_config().pretrained_model_file(), fs::absolute(small()).string());
}

TEST_F(RetrainTest, NetworkAndWeightsAreThoseOfTheFile) {
  PretrainedReport report;
  const network::Network built = build_network(effective_experiment(request_, kClasses, true), &report);
  const network::Network in_file = network::read_model(small()).network;
  EXPECT_EQ(built.nodes, in_file.nodes);
  EXPECT_EQ(built.weights, in_file.weights);
  EXPECT_EQ(built.input, in_file.input);
  EXPECT_THAT(report.loaded, HasSubstr("pruned to"));
  EXPECT_THAT(report.loaded, HasSubstr("of 2.000 million, which reached mAP 0.8"));
  EXPECT_EQ(report.lineage.at("prune/parent/map"), "0.8");
}

TEST_F(RetrainTest, RecipeTakesItsInputSizeFromTheModel) {
  request_.recipe = "tlt";
  const spec::Experiment experiment = effective_experiment(request_, kClasses, true);
  EXPECT_EQ(experiment.training_config().recipe(), spec::TrainingConfig::TLT);
  EXPECT_EQ(experiment.augmentation_config().preprocessing().output_image_height(), 64u);
}

TEST_F(RetrainTest, AnotherInputSizeKeepsTheChannels) {
  request_.size = "64x32";
  const network::Network built = build_network(effective_experiment(request_, kClasses, true));
  EXPECT_EQ(built.input, (network::Shape{3, 32, 64}));
  EXPECT_EQ(built.weights, network::read_model(small()).network.weights);
}

TEST_F(RetrainTest, ModelOfOtherClassesIsRefusedWithBothLists) {
  network::write_model(small(), small_model({"face"}));
  request_.recipe = "scratch";
  EXPECT_EQ(refusal().code(), base::ExitCode::kRefused);
  EXPECT_THAT(std::string(refusal().what()), testing::AllOf(HasSubstr("face"), HasSubstr("mask, no-mask")));
}

TEST_F(RetrainTest, RefusedModelLeavesNoRunFolder) {
  draw_data();
  network::write_model(small(), small_model({"face"}));
  request_.recipe = "scratch";
  EXPECT_THROW(train_to("run"), base::Error);
  EXPECT_FALSE(fs::exists(dir_ / "run"));
}

TEST_F(RetrainTest, ModelOfAnotherBoxScaleIsRefused) {
  network::Model model = small_model(kClasses);
  model.box_scale = 16;
  network::write_model(small(), model);
  request_.assignments.push_back("model_config.objective_set.bbox.scale=35");
  EXPECT_THAT(std::string(refusal().what()), testing::AllOf(HasSubstr("16"), HasSubstr("35")));
}

TEST_F(RetrainTest, BackboneAndModelContradict) {
  request_.backbone = "resnet18";
  EXPECT_EQ(refusal().code(), base::ExitCode::kUsage);
  EXPECT_EQ(refusal().where(), "--backbone");
}

TEST_F(RetrainTest, FileThatIsNoModelIsRefused) {
  base::write_file(small(), "not a model");
  EXPECT_EQ(refusal().code(), base::ExitCode::kRefused);
}

TEST_F(RetrainTest, RetrainedModelIsAsSmallAndSaysHowItWasPruned) {
  draw_data();
  Notices notices;
  const network::Model before = network::read_model(small()), after = train_to("run", &notices);
  EXPECT_EQ(after.network.nodes, before.network.nodes);
  EXPECT_NE(after.network.weights, before.network.weights);
  EXPECT_EQ(after.provenance.at("prune/parameters"), "[2000000,100000]");
  EXPECT_THAT(notices.sentences, Contains(HasSubstr("network and all weights of")));
}

// ---- a teacher ----

TEST_F(RetrainTest, TeacherChangesWhatIsLearnt) {
  draw_data();
  const network::Model alone = train_to("alone");
  network::Model teacher = small_model(kClasses);
  teacher.network = build_network(experiment_of_width(0.5, kClasses));
  network::write_model(dir_ / "teacher.safetensors", teacher);
  request_.teacher = dir_ / "teacher.safetensors";
  Notices notices;
  const network::Model taught = train_to("taught", &notices);
  EXPECT_NE(taught.network.weights, alone.network.weights);
  EXPECT_EQ(taught.network.nodes, alone.network.nodes);
  EXPECT_THAT(notices.sentences, Contains(HasSubstr("teacher.safetensors")));
  // A run that goes on from there has no teacher unless it is given one.
  request_.from = dir_ / "taught" / "model.safetensors";
  request_.teacher.reset();
  EXPECT_FALSE(effective_experiment(request_, kClasses, true).cost_function_config().has_distillation());
}

TEST_F(RetrainTest, TeacherOfWeightZeroChangesNothing) {
  draw_data();
  const network::Model alone = train_to("alone");
  request_.teacher = small();
  request_.assignments.push_back("cost_function_config.distillation.coverage_weight=0");
  request_.assignments.push_back("cost_function_config.distillation.box_weight=0");
  EXPECT_EQ(train_to("taught").network.weights, alone.network.weights);
}

TEST_F(RetrainTest, TeacherUnlikeTheStudentIsRefusedWithBothValues) {
  const spec::Experiment plain = effective_experiment(request_, kClasses, true);
  const network::Network student = build_network(plain);
  const auto refused = [&](const network::Model& teacher) -> std::string {
    network::write_model(dir_ / "teacher.safetensors", teacher);
    spec::Experiment experiment = plain;
    experiment.mutable_cost_function_config()->mutable_distillation()->set_teacher(
        (dir_ / "teacher.safetensors").string());
    try {
      Teacher::open(experiment, student, "cpu");
    } catch (const base::Error& error) {
      return error.what();
    }
    return "nothing thrown";
  };
  EXPECT_THAT(refused(small_model({"face"})), HasSubstr("classes"));
  network::Model scaled = small_model(kClasses);
  scaled.box_offset = 8;
  EXPECT_THAT(refused(scaled), HasSubstr("offset 8"));
  RunRequest finer;
  finer.backbone = "resnet10";
  finer.size = "96x64";
  finer.assignments = {"model_config.neck=fpn8", "model_config.width_multiplier=0.125"};
  network::Model stride8 = small_model(kClasses);
  stride8.network = build_network(effective_experiment(finer, kClasses, true));
  EXPECT_THAT(refused(stride8), testing::AllOf(HasSubstr("12x8"), HasSubstr("6x4")));
  EXPECT_EQ(Teacher::open(plain, student, "cpu"), nullptr);
}

}  // namespace
}  // namespace maskfit::train
