#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "base/files.h"
#include "cli/app.h"
#include "tests/support/temp_dir.h"

namespace maskfit::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct Outcome {
  int code = 0;
  std::string out, err;
};

Outcome spec_command(std::vector<std::string> words) {
  words.insert(words.begin(), "spec");
  std::ostringstream out, err;
  Outcome outcome;
  testing::internal::CaptureStdout();
  outcome.code = run(words, command_table(), out, err);
  outcome.out = testing::internal::GetCapturedStdout() + out.str();
  outcome.err = err.str();
  return outcome;
}

std::string testdata(const std::string& name) {
  return support::source_dir() / "src/spec/testdata" / name;
}

TEST(SpecCheck, ValidSpecsOfEveryKind) {
  const Outcome outcome =
      spec_command({"check", testdata("tlt2_train_resnet18.txt"), testdata("tlt2_inference_tlt.txt"),
                    testdata("tlt2_tfrecords_trainval.txt")});
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("valid train spec, 0 errors"), HasSubstr("valid inference spec, 0 errors"),
                    HasSubstr("valid dataset_convert spec, 0 errors")));
}

TEST(SpecCheck, ErrorsAreLinesOfFileLineColumnAndExitWith3) {
  const support::TempDir folder;
  const std::string file = folder / "bad.txt";
  base::write_file(file, "training_config {\n  num_epoch: 5\n}\n");
  const Outcome outcome = spec_command({"check", file});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(
      outcome.out,
      AllOf(StartsWith(file +
                       ":2:3: error: training_config.num_epoch: unknown field in training_config; did you "
                       "mean num_epochs?\n"),
            HasSubstr("invalid train spec, 1 error, 0 warnings")));
}

TEST(SpecCheck, ForRunAlsoRefusesWhatTheCommandWould) {
  EXPECT_EQ(spec_command({"check", testdata("tlt2_inference_etlt.txt")}).code, 0);
  const Outcome outcome = spec_command({"check", "--for-run", testdata("tlt2_inference_etlt.txt")});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.out, HasSubstr("error: inferencer_config.tensorrt_config: not supported yet"));
}

TEST(SpecCheck, JsonHoldsTheSameFindings) {
  const Outcome outcome = spec_command({"check", "--json", testdata("tlt2_train_resnet18.txt")});
  const auto report = nlohmann::json::parse(outcome.out);
  ASSERT_EQ(report.size(), 1u);
  EXPECT_EQ(report[0]["kind"], "train spec");
  EXPECT_EQ(report[0]["valid"], true);
  EXPECT_EQ(report[0]["findings"][0]["field"], "model_config.activation.activation_type");
  EXPECT_EQ(report[0]["findings"][0]["severity"], "warning");
}

TEST(SpecCheck, FileThatIsNoSpecOrNotThere) {
  const support::TempDir folder;
  base::write_file(folder / "notes.txt", "hello");
  const Outcome no_spec = spec_command({"check", folder / "notes.txt"});
  EXPECT_EQ(no_spec.code, 3);
  EXPECT_THAT(no_spec.out, AllOf(HasSubstr("not a spec file"), HasSubstr("notes.txt: invalid file")));
  const Outcome missing = spec_command({"check", folder / "missing.txt"});
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.out, HasSubstr("No such file"));
}

TEST(SpecCheck, AMissingFileDoesNotHideTheOthers) {
  const support::TempDir folder;
  const std::string bad = folder / "bad.txt";
  base::write_file(bad, "training_config { num_epoch: 5 }");
  const Outcome outcome =
      spec_command({"check", folder / "missing.txt", bad, testdata("tlt2_train_resnet18.txt")});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("missing.txt: invalid file, 1 error"), HasSubstr("num_epochs?"),
                                 HasSubstr("tlt2_train_resnet18.txt: valid train spec")));
}

TEST(SpecShow, PrintsDefaultsChangesAndDigest) {
  const Outcome outcome =
      spec_command({"show", testdata("tlt2_train_resnet18.txt"), "--set", "training_config.num_epochs=5",
                    "--set", "training_config.precision=bf16"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(StartsWith("# Effective train spec of"), HasSubstr("# digest "),
                                 HasSubstr("  num_epochs: 5  # epochs. "), HasSubstr("precision: BF16"),
                                 HasSubstr("    rotate_probability: 1  # ")));
}

TEST(SpecShow, WhatItPrintsIsAValidSpec) {
  const support::TempDir folder;
  base::write_file(folder / "shown.txt", spec_command({"show", testdata("tao5_train_resnet34.txt")}).out);
  const Outcome outcome = spec_command({"check", folder / "shown.txt"});
  EXPECT_EQ(outcome.code, 0) << outcome.out;
}

TEST(SpecShow, RefusesABadChangeAndNamesIt) {
  const Outcome outcome =
      spec_command({"show", testdata("tlt2_train_resnet18.txt"), "--set", "training_config.num_epoch=5"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("--set training_config.num_epoch=5"), HasSubstr("did you mean num_epochs?")));
}

TEST(SpecDefaults, OfBothRecipesAreValidAndNameTheClasses) {
  const support::TempDir folder;
  for (const char* recipe : {"scratch", "tlt"}) {
    const Outcome outcome = spec_command({"defaults", "--recipe", recipe, "--class", "helmet"});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(outcome.out, AllOf(HasSubstr("\"helmet\""), Not(HasSubstr("no-mask"))));
    const std::string file = folder / (std::string(recipe) + ".txt");
    base::write_file(file, outcome.out);
    EXPECT_EQ(spec_command({"check", file}).code, 0) << spec_command({"check", file}).out;
  }
  EXPECT_EQ(spec_command({"defaults", "--recipe", "magic"}).code, 2);
}

TEST(SpecDefaults, ClassesMustBeToldApartByTheirNames) {
  EXPECT_EQ(spec_command({"defaults", "--class", ""}).code, 2);
  EXPECT_EQ(spec_command({"defaults", "--class", "mask", "--class", "mask"}).code, 2);
  EXPECT_EQ(spec_command({"show", testdata("tlt2_train_resnet18.txt"), "--class", "a", "--class", "a"}).code,
            2);
}

TEST(SpecReference, PrintsThePage) {
  EXPECT_THAT(spec_command({"reference"}).out, StartsWith("# Spec reference"));
}

}  // namespace
}  // namespace maskfit::cli
