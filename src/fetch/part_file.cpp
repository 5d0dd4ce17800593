#include "fetch/part_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"

namespace maskfit::fetch {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void fail(const std::string& action, const fs::path& path) {
  const int error = errno;
  const bool full = error == ENOSPC || error == EDQUOT;
  throw base::Error(full ? base::ExitCode::kMachine : base::ExitCode::kFailed,
                    fmt::format("cannot {}: {}", action, std::strerror(error)), path.string(),
                    full ? "free some disk space and run it again: what came so far is kept" : "");
}

PartState read_state(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return {};
  const auto json = nlohmann::json::parse(base::read_file(path), nullptr, false);
  if (!json.is_object()) return {};
  try {
    return {json.value("url", ""), json.value("validator", ""), json.value("total_bytes", std::uint64_t{0}),
            json.value("file_name", "")};
  } catch (const nlohmann::json::exception&) {  // a field of another kind: begin again
    return {};
  }
}

}  // namespace

PartFile::PartFile(const fs::path& path, const std::string& url)
    : part_path_(path.string() + ".part"), state_path_(path.string() + ".part.json") {
  fd_ = ::open(part_path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (fd_ < 0) fail("create the file", part_path_);
  if (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
    ::close(fd_);
    throw base::Error(base::ExitCode::kFailed, "another process is downloading this file",
                      part_path_.string(), "wait for it, or give another folder with --to");
  }
  struct stat facts = {};
  if (::fstat(fd_, &facts) != 0) fail("look at the file", part_path_);
  size_ = static_cast<std::uint64_t>(facts.st_size);
  state_ = read_state(state_path_);
  if (size_ > 0 && state_.url != url) restart();
  state_.url = url;
}

PartFile::~PartFile() {
  if (fd_ >= 0) ::close(fd_);
}

void PartFile::set_state(const PartState& state) {
  state_ = state;
  const nlohmann::json json = {{"url", state.url},
                               {"validator", state.validator},
                               {"total_bytes", state.total_bytes},
                               {"file_name", state.file_name}};
  base::write_file(state_path_, json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

void PartFile::restart() {
  if (::ftruncate(fd_, 0) != 0) fail("empty the file", part_path_);
  size_ = 0;
  state_ = {state_.url, "", 0, ""};
}

void PartFile::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(size_));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("write", part_path_);
    bytes.remove_prefix(static_cast<std::size_t>(n));
    size_ += static_cast<std::uint64_t>(n);
  }
}

void PartFile::finish(const fs::path& target) {
  if (::fsync(fd_) != 0) fail("sync", part_path_);
  if (::rename(part_path_.c_str(), target.c_str()) != 0) fail("rename", target);
  ::unlink(state_path_.c_str());
}

void PartFile::discard() {
  ::unlink(part_path_.c_str());
  ::unlink(state_path_.c_str());
}

}  // namespace maskfit::fetch
