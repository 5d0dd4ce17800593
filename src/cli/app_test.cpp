#include "cli/app.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <sstream>
#include <stdexcept>

#include "base/error.h"
#include "base/text.h"

namespace maskfit::cli {
namespace {
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// A command with an option and a positional argument that returns the option's value.
Command echo(const std::string& name) {
  return {name, "Summary of " + name, [](CLI::App& app) -> std::function<int()> {
            auto epochs = std::make_shared<int>(7);
            auto input = std::make_shared<std::string>();
            app.add_option("--epochs", *epochs, "How long");
            app.add_option("INPUT", *input, "What to read");
            return [epochs, input] { return *epochs; };
          }};
}

template <typename Thrower>
Command throwing(const std::string& name, Thrower thrower) {
  return {name, "Fails", [thrower](CLI::App&) -> std::function<int()> {
            return [thrower]() -> int {
              thrower();
              return 0;
            };
          }};
}

std::vector<Command> table() {
  return {
      echo("train"),
      echo("data import"),
      echo("data stats"),
      throwing("refuse",
               [] { throw base::Error(base::ExitCode::kRefused, "bad box", "a.txt:3", "mend it"); }),
      throwing("stop", [] { throw base::Error(base::ExitCode::kInterrupted, "stopped after epoch 3"); }),
      throwing("check", [] { MASKFIT_CHECK(1 == 2, "n={}", 5); }),
      throwing(
          "torch",
          [] { throw std::runtime_error("shapes differ\nException raised from x at y.cpp:3\nframe #0"); }),
      throwing("cuda-memory",
               [] { throw std::runtime_error("CUDA out of memory. Tried to allocate 2 GiB"); }),
      throwing(
          "cpu-memory",
          [] { throw std::runtime_error("can't allocate memory: 12 bytes. Error code 12\nframe #0: x"); }),
      throwing("memory", [] { throw std::bad_alloc(); }),
  };
}

struct Outcome {
  int code;
  std::string out, err;
};

Outcome run_words(const std::vector<std::string>& words) {
  std::ostringstream out, err;
  const int code = run(words, table(), out, err);
  return {code, out.str(), err.str()};
}

TEST(Run, ReturnsTheCommandsCode) {
  EXPECT_EQ(run_words({"train"}).code, 7);
  EXPECT_EQ(run_words({"train", "--epochs", "3"}).code, 3);
  EXPECT_EQ(run_words({"train", "some/path", "--epochs=4"}).code, 4);
}

TEST(Run, LostOutputIsAFailureOfACommandThatWasDone) {
  std::ostringstream out, err;
  out.setstate(std::ios::badbit);
  EXPECT_EQ(run({"--version"}, table(), out, err), 1);
  EXPECT_THAT(err.str(), HasSubstr("cannot write to stdout"));
}

TEST(Run, FindsACommandInAGroup) {
  EXPECT_EQ(run_words({"data", "import", "--epochs", "5"}).code, 5);
}

TEST(Run, MisspeltOptionNamesTheNearest) {
  const Outcome outcome = run_words({"train", "--epoch=3"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err,
            "maskfit train: error: unknown option '--epoch'\n  hint:  did you mean '--epochs'?\n");
  EXPECT_EQ(outcome.out, "");
}

TEST(Run, OptionUnlikeAnyOtherPointsToTheHelp) {
  const Outcome outcome = run_words({"train", "--zzzzzzzz"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("`maskfit train --help` lists the options"));
}

TEST(Run, ArgumentTooManyIsNamed) {
  const Outcome outcome = run_words({"train", "a", "b"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("unexpected argument 'b'"));
}

TEST(Run, ValueThatIsNoNumberIsAUsageError) {
  const Outcome outcome = run_words({"train", "--epochs", "many"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("--epochs"), HasSubstr("many")));
}

TEST(Run, MisspeltCommandNamesTheNearest) {
  EXPECT_THAT(run_words({"trian"}).err,
              HasSubstr("there is no command 'trian'\n  hint:  did you mean 'train'?"));
  EXPECT_THAT(run_words({"data", "imprt", "x"}).err,
              HasSubstr("there is no command 'data imprt'\n  hint:  did you mean 'data import'?"));
  EXPECT_THAT(run_words({"dta", "import"}).err, HasSubstr("did you mean 'data'?"));
  EXPECT_EQ(run_words({"trian"}).code, 2);
}

TEST(Run, GroupAloneListsItsCommandsAndIsAUsageError) {
  const Outcome outcome = run_words({"data"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("data import"), HasSubstr("data stats"), Not(HasSubstr("train"))));
  EXPECT_EQ(run_words({"help", "data"}).code, 0);
}

TEST(Run, NoWordsPrintTheOverviewAsAUsageError) {
  EXPECT_EQ(run_words({}).code, 2);
  EXPECT_THAT(run_words({}).err, HasSubstr("Usage: maskfit COMMAND"));
}

TEST(Run, HelpInAllSpellings) {
  for (const auto& words : {std::vector<std::string>{"help"}, {"--help"}, {"-h"}}) {
    const Outcome outcome = run_words(words);
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(outcome.out, AllOf(HasSubstr("Summary of train"), HasSubstr("data import")));
  }
  for (const auto& words :
       {std::vector<std::string>{"help", "train"}, {"train", "--help"}, {"train", "-h"}}) {
    const Outcome outcome = run_words(words);
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(outcome.out, AllOf(HasSubstr("maskfit train"), HasSubstr("--epochs"), HasSubstr("How long")));
  }
  EXPECT_EQ(run_words({"help", "trian"}).code, 2);
}

TEST(Run, VersionNamesLibTorchAndTheBuild) {
  const Outcome outcome = run_words({"--version"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, StartsWith("maskfit "));
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("\nLibTorch "), HasSubstr("\nbuilt with ")));
}

TEST(Run, ErrorIsPrintedAsWhatWhereHintWithItsCode) {
  const Outcome outcome = run_words({"refuse"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(outcome.err, "maskfit refuse: error: bad box\n  where: a.txt:3\n  hint:  mend it\n");
}

TEST(Run, InterruptIsNoError) {
  const Outcome outcome = run_words({"stop"});
  EXPECT_EQ(outcome.code, 130);
  EXPECT_EQ(outcome.err, "maskfit stop: stopped after epoch 3\n");
}

TEST(Run, BrokenCheckAsksForAReport) {
  const Outcome outcome = run_words({"check"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("1 == 2"), HasSubstr("n=5"), HasSubstr("please report")));
}

TEST(Run, LibTorchBacktraceIsLeftOut) {
  EXPECT_EQ(run_words({"torch"}).err, "maskfit torch: error: shapes differ\n");
  EXPECT_THAT(run_words({"cpu-memory"}).err, Not(HasSubstr("frame #")));
}

TEST(Run, OutOfMemoryIsTheMachinesFault) {
  EXPECT_EQ(run_words({"memory"}).code, 4);
  EXPECT_EQ(run_words({"cuda-memory"}).code, 4);
  EXPECT_THAT(run_words({"cuda-memory"}).err, HasSubstr("--batch"));
}

TEST(CommandTable, EveryCommandHasAUniqueNameASummaryAndHelp) {
  std::vector<std::string> names;
  for (const Command& command : command_table()) {
    EXPECT_THAT(names, Not(testing::Contains(command.name)));
    names.push_back(command.name);
    EXPECT_FALSE(command.summary.empty()) << command.name;
    std::ostringstream out, err;
    std::vector<std::string> words = base::split_words(command.name);
    words.push_back("--help");
    EXPECT_EQ(run(words, command_table(), out, err), 0) << command.name << err.str();
    EXPECT_THAT(out.str(), HasSubstr(command.summary));
  }
}

}  // namespace
}  // namespace maskfit::cli
