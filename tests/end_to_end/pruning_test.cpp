// A detector made small: trained, pruned, useless, retrained, good again. With the binary alone.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "dataset/synthetic.h"
#include "tests/end_to_end/binary.h"
#include "tests/support/temp_dir.h"

namespace maskfit {
namespace {
namespace fs = std::filesystem;
using nlohmann::json;
using support::maskfit;
using support::Outcome;
using testing::HasSubstr;

// Large faces in small pictures, so that a minute is enough.
class Pruning : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new support::TempDir;
    dataset::SyntheticOptions drawn;
    drawn.pictures = 64;
    drawn.size = {96, 64};
    drawn.max_heads = 2;
    drawn.min_face_height = 24;
    drawn.max_face_height = 48;
    drawn.val_percent = 25;
    dataset::write_synthetic(drawn, *folder_ / "data");
    trained_ = maskfit(with_schedule({"train", data(), "--out", at("run"), "--backbone", "resnet10", "--size",
                                      "96x64", "--batch", "8", "--set", "model_config.width_multiplier=0.25"},
                                     120));
  }
  static void TearDownTestSuite() { delete folder_; }
  void SetUp() override { ASSERT_EQ(trained_.status, 0) << trained_.err; }

  // A short run: no mosaics, weights averaged over few steps, validation at the end.
  static std::vector<std::string> with_schedule(std::vector<std::string> words, int epochs) {
    for (const char* set : {"augmentation_config.mosaic_probability=0", "training_config.ema_decay=0.9",
                            "training_config.learning_rate.warmup_cosine_schedule.max_learning_rate=2e-3",
                            "training_config.threads=1", "evaluation_config.first_validation_epoch=1000"}) {
      words.insert(words.end(), {"--set", set});
    }
    words.insert(words.end(), {"--epochs", std::to_string(epochs)});
    return words;
  }

  static std::string at(const std::string& name) { return (*folder_ / name).string(); }
  static std::string data() { return at("data"); }
  static std::string model() { return at("run/model.safetensors"); }

  static double map_of(const std::string& file) {
    const Outcome outcome = maskfit({"evaluate", file, data(), "--json"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return json::parse(outcome.out).at("mAP");
  }

  static Outcome prune(std::vector<std::string> words) {
    words.insert(words.begin(), {"prune", model(), "--no-speed", "--granularity", "4", "--min-filters", "4"});
    return maskfit(words);
  }

  static support::TempDir* folder_;
  static Outcome trained_;
};

support::TempDir* Pruning::folder_ = nullptr;
Outcome Pruning::trained_;

TEST_F(Pruning, AThirdOfTheParametersRetrainedIsAsGoodAgain) {
  const Outcome pruned = prune({"-o", at("small.st"), "--keep-params", "30%", "--json", "--sensitivity",
                                data(), "--sensitivity-pictures", "8"});
  ASSERT_EQ(pruned.status, 0) << pruned.err;
  const json report = json::parse(pruned.out);
  EXPECT_LE(report.at("parameter_ratio"), 0.3);
  EXPECT_GT(report.at("parameter_ratio"), 0.2);
  EXPECT_EQ(report.at("mAP").at("pictures"), 8);
  for (const json& layer : report.at("layers")) {
    const bool smaller = layer.at("filters")[1] < layer.at("filters")[0];
    EXPECT_EQ(layer.at("ap_drop").is_number(), smaller) << layer.at("name");
  }
  EXPECT_LT(fs::file_size(at("small.st")), 0.4 * static_cast<double>(fs::file_size(model())));

  const double before = map_of(model()), broken = map_of(at("small.st"));
  const Outcome retrained = maskfit(with_schedule(
      {"train", data(), "--from", at("small.st"), "--teacher", model(), "--out", at("again")}, 80));
  ASSERT_EQ(retrained.status, 0) << retrained.err;
  EXPECT_THAT(retrained.err, HasSubstr("pruned to"));
  const double after = map_of(at("again/model.safetensors"));
  RecordProperty("map", fmt::format("{:.3f} {:.3f} {:.3f}", before, broken, after));
  std::cout << fmt::format("mAP {:.3f}, pruned {:.3f}, retrained {:.3f}\n", before, broken, after);
  EXPECT_GT(before, 0.4);
  EXPECT_GT(after, before - 0.1);
  EXPECT_GT(after, broken + 0.1);
  // As small as it was.
  EXPECT_LT(fs::file_size(at("again/model.safetensors")),
            1.1 * static_cast<double>(fs::file_size(at("small.st"))));
}

TEST_F(Pruning, EverythingKeptIsTheSameDetector) {
  const Outcome outcome = prune({"-o", at("whole.st"), "--keep-params", "100%"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("nothing was removed"));
  EXPECT_EQ(map_of(at("whole.st")), map_of(model()));
}

TEST_F(Pruning, SpeedsAreMeasuredNotAssumed) {
  const Outcome outcome = maskfit({"prune", model(), "-o", at("fast.st"), "--threshold", "1e9", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json speed = json::parse(outcome.out).at("speed").at(0);
  EXPECT_EQ(speed.at("device"), "cpu");
  EXPECT_GT(speed.at("after"), speed.at("before"));
}

TEST_F(Pruning, RequestsThatCannotBeMetLeaveNoFile) {
  const struct {
    std::vector<std::string> words;
    int status;
    const char* says;
  } cases[] = {
      {{"--keep-params", "0.1%"}, 3, "cannot be reached"},
      {{"--keep-params", "0%"}, 2, "--keep-params"},
      {{"--threshold", "nan"}, 2, "--threshold"},
      {{}, 2, "how small"},
      {{"--threshold", "0.5", "--exclude", "block_1a_conv1"}, 2, "block_1a_conv_1"},
      {{"--threshold", "0.5", "--normalizer", "mean"}, 2, "max, L2, off"},
      {{"--latency", "1000000img/s"}, 3, "cannot be reached"},
  };
  for (const auto& each : cases) {
    std::vector<std::string> words = {"-o", at("never.st")};
    words.insert(words.end(), each.words.begin(), each.words.end());
    const Outcome outcome = prune(words);
    EXPECT_EQ(outcome.status, each.status) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(each.says));
    EXPECT_FALSE(fs::exists(at("never.st")));
  }
}

TEST_F(Pruning, ExistingFilesAndOthersAreRefused) {
  base::write_file(at("there.st"), "something of the user's");
  const Outcome exists = prune({"-o", at("there.st"), "--threshold", "0.5"});
  EXPECT_EQ(exists.status, 1);
  EXPECT_THAT(exists.err, HasSubstr("--force"));
  EXPECT_EQ(base::read_file(at("there.st")), "something of the user's");
  const Outcome no_model = maskfit({"prune", at("there.st"), "-o", at("never.st"), "--threshold", "0.5"});
  EXPECT_EQ(no_model.status, 3);
  EXPECT_THAT(no_model.err, HasSubstr("there.st"));
}

}  // namespace
}  // namespace maskfit
