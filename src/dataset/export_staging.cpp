#include "dataset/export_staging.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace maskfit::dataset {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void fail(const std::string& action, const fs::path& path, int error) {
  throw base::Error(base::ExitCode::kFailed, fmt::format("cannot {}: {}", action, std::strerror(error)),
                    path.string(), error == ENOSPC ? "free some disk space and run it again" : "");
}

void check(const std::error_code& error, const std::string& action, const fs::path& path) {
  if (error) fail(action, path, error.value());
}

// What conversions to `target` left beside it when they were killed: staging folders of processes that are
// gone.
void remove_leavings(const fs::path& target) {
  const std::string beginning = fmt::format(".{}.tmp", target.filename().string());
  std::error_code ignored;
  std::vector<fs::path> dead;
  for (const auto& entry : fs::directory_iterator(target.parent_path(), ignored)) {
    const std::string name = entry.path().filename().string();
    long long pid = 0;
    if (!name.starts_with(beginning) || !base::parse_int(name.substr(beginning.size()), &pid)) continue;
    if (pid > 0 && ::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH) dead.push_back(entry.path());
  }
  for (const fs::path& folder : dead) fs::remove_all(folder, ignored);
}

// "a/b/" and "a/b" are one folder; links on the way are followed where they exist.
fs::path plain(const fs::path& path) {
  std::error_code ignored;
  fs::path full = fs::weakly_canonical(fs::absolute(path), ignored);
  return full.has_filename() ? full : full.parent_path();
}

}  // namespace

bool lies_inside(const fs::path& inner, const fs::path& outer) {
  const fs::path relative = plain(inner).lexically_relative(plain(outer));
  return !relative.empty() && *relative.begin() != "..";
}

void check_apart(const fs::path& source, const fs::path& target) {
  if (!lies_inside(source, target) && !lies_inside(target, source)) return;
  throw base::Error(base::ExitCode::kUsage,
                    fmt::format("the output folder and the data in {} lie in each other", source.string()),
                    target.string(), "give a folder of its own, beside the data");
}

StagedFolder::StagedFolder(const fs::path& target, base::Overwrite overwrite) : target_(plain(target)) {
  std::error_code error;
  const fs::file_status status = fs::status(target_, error);
  if (fs::exists(status) && !fs::is_directory(status)) {
    throw base::Error(base::ExitCode::kFailed, "it is a file", target_.string(),
                      "give the name of a folder that is to be made");
  }
  if (fs::exists(status) && !fs::is_empty(target_, error)) {
    check(error, "look into the folder", target_);
    if (overwrite == base::Overwrite::kRefuse) {
      throw base::Error(base::ExitCode::kFailed, "the output folder is not empty", target_.string(),
                        "give another name, or --force to replace an earlier conversion");
    }
    if (!fs::exists(target_ / kMarkFile, error)) {
      throw base::Error(
          base::ExitCode::kFailed,
          fmt::format("the output folder is not empty and no earlier conversion (it has no {})", kMarkFile),
          target_.string(), "give another name; --force replaces only what maskfit has written");
    }
  }
  remove_leavings(target_);
  staged_ = target_.parent_path() / fmt::format(".{}.tmp{}", target_.filename().string(), ::getpid());
  fs::remove_all(staged_, error);
  fs::create_directories(staged_, error);
  check(error, "create the output folder", target_);
}

StagedFolder::~StagedFolder() {
  std::error_code ignored;
  if (!committed_) fs::remove_all(staged_, ignored);
}

fs::path StagedFolder::made(const fs::path& file) const {
  fs::path path = staged_ / file;
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  check(error, "create the folder", path.parent_path());
  return path;
}

void StagedFolder::write(const fs::path& file, std::string_view bytes) const {
  const fs::path path = made(file);
  // Without base::write_file's sync of each file: commit() syncs them together.
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0) fail("create the file", target_ / file, errno);
  int error = 0;
  while (!bytes.empty() && error == 0) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n >= 0) bytes.remove_prefix(static_cast<std::size_t>(n));
    if (n < 0 && errno != EINTR) error = errno;
  }
  if (::close(fd) != 0 && error == 0) error = errno;
  if (error != 0) fail("write", target_ / file, error);
}

void StagedFolder::link(const fs::path& file, const fs::path& source) const {
  const fs::path path = made(file);
  std::error_code error;
  const fs::path original = fs::canonical(source, error);
  check(error, "read", source);
  fs::create_hard_link(original, path, error);
  if (!error) return;
  fs::create_symlink(original, path, error);
  check(error, "link the picture to " + original.string(), target_ / file);
}

void StagedFolder::copy(const fs::path& file, const fs::path& source) const {
  // Not std::filesystem::copy_file: it calls a full disk an input/output error.
  write(file, base::read_file(source));
}

void StagedFolder::commit(std::string_view mark) {
  write(kMarkFile, mark);
  const int fd = ::open(staged_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) {
    const int failed = ::syncfs(fd) != 0 ? errno : 0;
    ::close(fd);
    if (failed != 0) fail("sync", target_, failed);
  }
  std::error_code error, ignored;
  const fs::path old = staged_.string() + "-old";
  const bool replaces = fs::exists(target_, ignored);
  if (replaces) {
    fs::rename(target_, old, error);
    check(error, "move the earlier conversion away", target_);
  }
  fs::rename(staged_, target_, error);
  if (error) {
    if (replaces) fs::rename(old, target_, ignored);
    fail("rename", target_, error.value());
  }
  committed_ = true;
  if (replaces) fs::remove_all(old, ignored);
}

}  // namespace maskfit::dataset
