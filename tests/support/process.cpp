#include "tests/support/process.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "tests/support/temp_dir.h"

namespace maskfit::support {
namespace {
namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

constexpr int kCouldNotStart = 127;

[[noreturn]] void become(const std::vector<std::string>& words, const std::vector<std::string>& environment,
                         const fs::path& out, const fs::path& err) {
  if (std::freopen(out.c_str(), "w", stdout) == nullptr ||
      std::freopen(err.c_str(), "w", stderr) == nullptr) {
    ::_exit(kCouldNotStart);
  }
  for (const std::string& line : environment) ::putenv(const_cast<char*>(line.c_str()));
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
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

bool have_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((fs::path(folder) / name).c_str(), X_OK) == 0) return true;
  }
  return false;
}

}  // namespace maskfit::support
