// `maskfit train` as several processes: started by itself and by others, and what happens when one of them
// dies.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

#include "base/files.h"
#include "tests/end_to_end/tiny_data.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace maskfit {
namespace {
namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::HasSubstr;

class Ranks : public testing::Test {
 protected:
  Ranks() { support::write_tiny_data(data_); }

  std::vector<std::string> training(int epochs, const std::vector<std::string>& more) const {
    std::vector<std::string> words = {MASKFIT_BINARY};
    for (const std::string& word : support::tiny_training(data_, run_, epochs)) words.push_back(word);
    words.insert(words.end(), {"--set", "training_config.checkpoint_interval=1"});
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  // The process of that rank among the children of `parent`, once it has its name in its environment.
  static pid_t rank_process(pid_t parent, int rank) {
    const std::string wanted = "MASKFIT_RANK=" + std::to_string(rank);
    std::ifstream children("/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) +
                           "/children");
    for (pid_t child; children >> child;) {
      std::ifstream file("/proc/" + std::to_string(child) + "/environ", std::ios::binary);
      for (std::string line; std::getline(file, line, '\0');) {
        if (line == wanted) return child;
      }
    }
    return -1;
  }

  bool wait_for_checkpoint() const {
    for (int i = 0; i < 3000; ++i) {
      std::error_code error;
      for (fs::directory_iterator entry(run_ / "checkpoints", error), end; !error && entry != end;
           entry.increment(error)) {
        if (entry->path().extension() == ".sha256") return true;
      }
      std::this_thread::sleep_for(20ms);
    }
    return false;
  }

  int newest_step() const {
    int newest = 0;
    for (const auto& entry : fs::directory_iterator(run_ / "checkpoints")) {
      const std::string name = entry.path().filename().string();  // step-000000123.ckpt.sha256
      if (name.ends_with(".sha256")) newest = std::max(newest, std::stoi(name.substr(5)));
    }
    return newest;
  }

  support::TempDir dir_;
  const fs::path data_ = dir_ / "data", run_ = dir_ / "run", errors_ = dir_ / "errors.txt";
};

TEST_F(Ranks, TwoProcessesTrainOneModel) {
  const support::Outcome outcome = support::run_process(training(2, {"--ranks", "2"}));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(fs::exists(run_ / "model.safetensors"));
  EXPECT_TRUE(fs::exists(run_ / "report.html"));
  EXPECT_THAT(outcome.err, HasSubstr("2 ranks on cpu"));
}

TEST_F(Ranks, OneThatIsKilledEndsAllInSecondsAndOneAloneGoesOn) {
  const pid_t parent = support::start_process(training(100000, {"--ranks", "3"}), errors_);
  ASSERT_GT(parent, 0);
  ASSERT_TRUE(wait_for_checkpoint()) << base::read_file(errors_);
  const pid_t second = rank_process(parent, 2);
  ASSERT_GT(second, 0);
  const auto killed = std::chrono::steady_clock::now();
  ASSERT_EQ(kill(second, SIGKILL), 0);
  int status = 0;
  ASSERT_EQ(waitpid(parent, &status, 0), parent);
  EXPECT_LT(std::chrono::steady_clock::now() - killed, 15s);
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_THAT(base::read_file(errors_), HasSubstr("rank 2 was ended by signal 9"));
  EXPECT_THAT(base::read_file(errors_), HasSubstr("rank 2 has ended without a word"));

  // Three ranks of three pictures take one step an epoch of the nine training pictures, one rank takes three.
  const int epochs = newest_step() + 1;
  const support::Outcome resumed =
      support::run_process({MASKFIT_BINARY, "train", data_.string(), "--out", run_.string(), "--resume",
                            "--epochs", std::to_string(epochs)});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("resumed after step " + std::to_string(3 * (epochs - 1))));
  EXPECT_TRUE(fs::exists(run_ / "model.safetensors"));
}

TEST_F(Ranks, RanksOfTorchrunFindEachOther) {
  const auto environment = [](const char* rank) {
    return std::vector<std::string>{std::string("RANK=") + rank,
                                    std::string("LOCAL_RANK=") + rank,
                                    "WORLD_SIZE=2",
                                    "LOCAL_WORLD_SIZE=2",
                                    "MASTER_ADDR=127.0.0.1",
                                    "MASTER_PORT=" + std::to_string(23000 + getpid() % 9000),
                                    "TORCHELASTIC_RUN_ID=a"};
  };
  support::Outcome first, second;
  std::thread other([&] { second = support::run_process(training(1, {}), environment("1")); });
  first = support::run_process(training(1, {}), environment("0"));
  other.join();
  EXPECT_EQ(first.status, 0) << first.err;
  EXPECT_EQ(second.status, 0) << second.err;
  EXPECT_EQ(second.err, "") << "only rank 0 speaks";
  EXPECT_TRUE(fs::exists(run_ / "model.safetensors"));
}

TEST_F(Ranks, AnErrorIsSaidOnce) {
  const support::Outcome outcome = support::run_process(
      {MASKFIT_BINARY, "train", (dir_ / "nothing").string(), "--out", run_.string(), "--ranks", "2"});
  const support::Outcome alone =
      support::run_process({MASKFIT_BINARY, "train", (dir_ / "nothing").string(), "--out", run_.string()});
  EXPECT_EQ(outcome.status, alone.status) << outcome.err;
  EXPECT_EQ(outcome.err, alone.err);
  const std::size_t at = outcome.err.find("error:");
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(outcome.err.find("error:", at + 1), std::string::npos) << outcome.err;
}

TEST_F(Ranks, OptionsThatDoNotFitAreRefused) {
  for (const std::vector<std::string>& options : {std::vector<std::string>{"--gpus", "2", "--ranks", "2"},
                                                  {"--gpus", "2", "--device", "cpu"},
                                                  {"--ranks", "2", "--device", "cuda"},
                                                  {"--ranks", "2", "--rank-timeout", "0"}}) {
    EXPECT_EQ(support::run_process(training(1, options)).status, 2);
  }
}

}  // namespace
}  // namespace maskfit
