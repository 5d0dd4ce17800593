// A training that is killed with SIGKILL, at the worst moments, and goes on as if nothing had happened.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "base/files.h"
#include "tests/end_to_end/tiny_data.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace maskfit {
namespace {
namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr int kEpochs = 10;

std::vector<std::string> training(const fs::path& data, const fs::path& run, bool resume) {
  std::vector<std::string> words = {MASKFIT_BINARY};
  for (const std::string& word : support::tiny_training(data, run, kEpochs)) words.push_back(word);
  for (const char* set : {"training_config.checkpoint_interval=1", "training_config.deterministic=true",
                          "evaluation_config.first_validation_epoch=4"}) {
    words.insert(words.end(), {"--set", set});
  }
  if (resume) words.push_back("--resume");
  return words;
}

// What lies in the checkpoint folder: finished checkpoints, and whether a file is being written.
struct Moment {
  int checkpoints = 0;
  bool writing = false;
};

Moment look(const fs::path& folder) {
  Moment moment;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.find(".tmp") != std::string::npos) moment.writing = true;
    if (name.ends_with(".sha256")) ++moment.checkpoints;
  }
  return moment;
}

// Kills the training while it writes a file, once it has written `checkpoints` of them. True when it was
// caught writing.
bool kill_while_writing(const fs::path& data, const fs::path& run, bool resume, int checkpoints) {
  const pid_t child = support::start_process(training(data, run, resume));
  bool caught = false;
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    const Moment moment = look(run / "checkpoints");
    if (moment.checkpoints >= checkpoints && moment.writing) {
      kill(child, SIGKILL);
      caught = true;
      waitpid(child, &status, 0);
      break;
    }
    std::this_thread::sleep_for(100us);
  }
  return caught && WIFSIGNALED(status);
}

TEST(Kill, InTheMiddleOfWritingChangesNothing) {
  const support::TempDir folder;
  const fs::path data = folder / "data", straight = folder / "straight", killed = folder / "killed";
  support::write_tiny_data(data);
  const support::Outcome whole = support::run_process(training(data, straight, false));
  ASSERT_EQ(whole.status, 0) << whole.err;

  // Again and again, so that several kinds of half-written files are met. --keep-checkpoints leaves three.
  int caught = 0;
  for (int i = 0; i < 4; ++i) caught += kill_while_writing(data, killed, i > 0, 1 + i % 3);
  EXPECT_GE(caught, 1) << "never killed while a file was written: the test has tested nothing";
  const support::Outcome resumed = support::run_process(training(data, killed, true));
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(base::sha256(base::read_file(killed / "model.safetensors")),
            base::sha256(base::read_file(straight / "model.safetensors")));
  EXPECT_FALSE(look(killed / "checkpoints").writing) << "half-written files were left";
}

}  // namespace
}  // namespace maskfit
