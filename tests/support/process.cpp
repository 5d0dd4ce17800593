#include "tests/support/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "tests/support/temp_dir.h"

extern char** environ;

namespace maskfit::support {
namespace {
namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

constexpr int kCouldNotStart = 127;

// As exec and spawn take them; the words must outlive it.
std::vector<char*> arguments_of(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  return arguments;
}

[[noreturn]] void become(const std::vector<std::string>& words, const std::vector<std::string>& environment,
                         const fs::path& out, const fs::path& err) {
  if (std::freopen(out.c_str(), "w", stdout) == nullptr ||
      std::freopen(err.c_str(), "w", stderr) == nullptr) {
    ::_exit(kCouldNotStart);
  }
  for (const std::string& line : environment) ::putenv(const_cast<char*>(line.c_str()));
  ::execvp(words.at(0).c_str(), arguments_of(words).data());
  ::_exit(kCouldNotStart);
}

}  // namespace

Outcome run_process(const std::vector<std::string>& words, const std::vector<std::string>& environment) {
  const TempDir folder;
  // Files rather than pipes: a program that fills one pipe while we read the other would never end.
  const fs::path out = folder / "out", err = folder / "err";
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("cannot fork");
  if (child == 0) become(words, environment, out, err);
  int status = 0;
  if (::waitpid(child, &status, 0) != child) throw std::runtime_error("cannot wait for " + words.at(0));
  Outcome outcome;
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  outcome.out = read(out);
  outcome.err = read(err);
  if (outcome.status == kCouldNotStart && outcome.err.empty())
    throw std::runtime_error("cannot start " + words.at(0));
  return outcome;
}

pid_t start_process(const std::vector<std::string>& words, const fs::path& err) {
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  pid_t child = -1;
  const int error =
      ::posix_spawnp(&child, words.at(0).c_str(), &files, nullptr, arguments_of(words).data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  if (error != 0) throw std::runtime_error("cannot start " + words.at(0));
  return child;
}

bool have_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((fs::path(folder) / name).c_str(), X_OK) == 0) return true;
  }
  return false;
}

}  // namespace maskfit::support
