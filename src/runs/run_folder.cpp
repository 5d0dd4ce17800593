#include "runs/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/temporaries.h"

namespace maskfit::runs {
namespace fs = std::filesystem;
using base::Error;
using base::ExitCode;

// flock: the kernel lets go of it however the process ends, so a killed run leaves no stale lock.
struct RunFolder::Lock {
  explicit Lock(const fs::path& folder) {
    const fs::path path = folder / ".lock";
    fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) {
      throw Error(ExitCode::kFailed,
                  fmt::format("cannot write into the run folder: {}", std::strerror(errno)), folder.string(),
                  "check its permissions, or give another --out");
    }
    if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
      ::close(fd);
      throw Error(ExitCode::kFailed, "another training is writing into this run folder", folder.string(),
                  "wait for it, stop it, or give another --out");
    }
  }
  ~Lock() { ::close(fd); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  int fd = -1;
};

RunFolder::RunFolder(fs::path path, std::unique_ptr<Lock> lock)
    : path_(std::move(path)), lock_(std::move(lock)) {}
RunFolder::RunFolder(RunFolder&&) noexcept = default;
RunFolder& RunFolder::operator=(RunFolder&&) noexcept = default;
RunFolder::~RunFolder() = default;

bool RunFolder::holds_run(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / "experiment_spec.txt", ignored) || fs::exists(folder / "status.json", ignored) ||
         fs::exists(folder / "checkpoints", ignored);
}

bool RunFolder::holds_progress(const fs::path& folder) {
  std::error_code ignored;
  const auto is_filled = [&](const char* name) {
    const fs::path path = folder / name;
    return fs::exists(path, ignored) && !fs::is_empty(path, ignored);
  };
  return is_filled("checkpoints") || is_filled("metrics.jsonl") || is_filled("model.safetensors") ||
         is_filled("best.safetensors") || is_filled("report.html");
}

RunFolder RunFolder::of_another(const fs::path& folder) {
  return {folder, nullptr};
}

RunFolder RunFolder::create(const fs::path& folder, base::Overwrite overwrite) {
  if (holds_progress(folder) && overwrite == base::Overwrite::kRefuse) {
    throw Error(ExitCode::kFailed, "the folder holds a run already", folder.string(),
                "continue it with --resume, give another --out, or replace it with --force");
  }
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    throw Error(ExitCode::kFailed, fmt::format("cannot create the run folder: {}", error.message()),
                folder.string(), "check its permissions, or give another --out");
  }
  RunFolder run(folder, std::make_unique<Lock>(folder));
  base::remove_stale_temporaries(folder);
  for (const fs::path& path : {run.checkpoints(), run.events(), run.metrics(), run.status(), run.model(),
                               run.best_model(), run.report(), run.spec()}) {
    fs::remove_all(path, error);
    if (error)
      throw Error(ExitCode::kFailed, fmt::format("cannot remove: {}", error.message()), path.string());
  }
  return run;
}

RunFolder RunFolder::resume(const fs::path& folder) {
  if (!holds_run(folder)) {
    throw Error(ExitCode::kFailed, "there is no run to resume in this folder", folder.string(),
                "check --out, or leave --resume away to begin a run");
  }
  RunFolder run(folder, std::make_unique<Lock>(folder));
  for (const fs::path& written : {run.path(), run.checkpoints()}) base::remove_stale_temporaries(written);
  return run;
}

}  // namespace maskfit::runs
