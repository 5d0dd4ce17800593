#include "cli/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace maskfit::cli {
namespace {
using testing::HasSubstr;
using testing::Not;

train::StepReport report() {
  train::StepReport r;
  r.at = {3, 120, 23, 46, 117};
  r.costs.total = 0.01234;
  r.costs.parts = {
      {"mask", "cov", 0.1, 0.5, 0.1}, {"mask", "bbox", 0.2, 0.5, 0.9}, {"no-mask", "cov", 0.1, 0.5, 1}};
  r.learning_rate = 5e-4;
  r.images_per_second = 812.4;
  r.eta_seconds = 723;
  return r;
}

// What a progress object wrote into a file.
std::string written(bool terminal, const std::function<void(TrainingProgress&)>& use) {
  std::FILE* file = std::tmpfile();
  {
    TrainingProgress progress(file, terminal);
    use(progress);
  }
  std::string text(static_cast<std::size_t>(std::ftell(file)), '\0');
  std::rewind(file);
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text;
}

TEST(TrainingProgress, BarSaysWhereTheRunStandsAndHowItDoes) {
  EXPECT_EQ(bar_text(report(), 0),
            "epoch 3/120 [==========>         ] 23/46  loss 0.0123  mask cov 0.0050 bbox 0.0900  no-mask cov "
            "0.0500  "
            "lr 5.0e-04  812 img/s  ETA 12:03");
}

TEST(TrainingProgress, NarrowTerminalNeverWraps) {
  for (int columns : {20, 60, 79, 120}) {
    EXPECT_LE(bar_text(report(), columns).size(), static_cast<std::size_t>(columns));
  }
  EXPECT_THAT(bar_text(report(), 100), HasSubstr("loss 0.0123"));
}

TEST(TrainingProgress, NoEscapesWhereThereIsNoTerminal) {
  const std::string text = written(false, [](TrainingProgress& progress) {
    for (int i = 0; i < 100; ++i) progress.on_progress(report());
    progress.on_epoch({{3, 120, 46, 46, 138}, 0.5, 1e-3, 12, 100});
  });
  EXPECT_THAT(text, Not(HasSubstr("\033")));
  EXPECT_THAT(text, Not(HasSubstr("\r")));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2) << "one step line in five seconds, one epoch line";
}

TEST(TrainingProgress, LinesOnATerminalDoNotMixWithTheBar) {
  const std::string text = written(true, [](TrainingProgress& progress) {
    progress.on_progress(report());
    progress.on_notice(train::Notice::kWarning, "a batch was skipped");
  });
  EXPECT_THAT(text, HasSubstr("\r\033[Kwarning: a batch was skipped\n"));
}

TEST(TrainingProgress, ValidationNamesEveryClassAndTheDiagnosis) {
  evaluate::Evaluation evaluation;
  evaluation.map = 0.25;
  evaluation.classes.resize(2);
  evaluation.classes[0].name = "mask";
  evaluation.classes[0].ap = 0.5;
  evaluation.classes[1].name = "no-mask";
  train::ValidationReport r;
  r.at.epoch = 4;
  r.evaluation = &evaluation;
  r.best = true;
  r.diagnosis = {"no label of class no-mask"};
  const std::string text = written(false, [&](TrainingProgress& progress) { progress.on_validation(r); });
  EXPECT_THAT(text, HasSubstr("validation after epoch 4: mAP 0.2500 (best so far)"));
  EXPECT_THAT(text, HasSubstr("mask             AP 0.5000"));
  EXPECT_THAT(text, HasSubstr("no label of class no-mask"));
}

}  // namespace
}  // namespace maskfit::cli
