#include "fetch/placer.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

#include "base/error.h"

namespace maskfit::fetch {
namespace fs = std::filesystem;
namespace {

constexpr char kTemporaryName[] = ".maskfit-tmp";

[[noreturn]] void fail(const std::string& action, const fs::path& path, int error) {
  const bool full = error == ENOSPC || error == EDQUOT;
  throw base::Error(full ? base::ExitCode::kMachine : base::ExitCode::kFailed,
                    fmt::format("cannot {}: {}", action, std::strerror(error)), path.string(),
                    full ? "free some disk space and run it again: what is done stays done" : "");
}

}  // namespace

bool same_content(const fs::path& a, const fs::path& b) {
  std::error_code error;
  if (fs::equivalent(a, b, error)) return true;
  if (fs::file_size(a, error) != fs::file_size(b, error) || error) return false;
  std::ifstream one(a, std::ios::binary), two(b, std::ios::binary);
  std::vector<char> x(1 << 16), y(1 << 16);
  while (one && two) {
    one.read(x.data(), static_cast<std::streamsize>(x.size()));
    two.read(y.data(), static_cast<std::streamsize>(y.size()));
    if (one.gcount() != two.gcount() ||
        std::memcmp(x.data(), y.data(), static_cast<std::size_t>(one.gcount())) != 0) {
      return false;
    }
  }
  return one.eof() && two.eof();
}

Placer::Placer(const fs::path& root) : root_(root), temporary_(root / kTemporaryName) {
  std::error_code error;
  fs::create_directories(root_, error);
  if (error) fail("create the folder", root_, error.value());
  lock_ = ::open(root_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock_ < 0) fail("open the folder", root_, errno);
  if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    ::close(lock_);
    throw base::Error(base::ExitCode::kFailed, "another process is writing there", root_.string(),
                      "wait for it, or give another folder");
  }
  fs::remove_all(temporary_, error);
  fs::create_directory(temporary_, error);
  if (error) {
    ::close(lock_);
    fail("create the folder", temporary_, error.value());
  }
}

Placer::~Placer() {
  std::error_code ignored;
  fs::remove_all(temporary_, ignored);
  ::close(lock_);
}

Placed Placer::settle(const fs::path& temporary, const fs::path& target, bool overwrite, Placed how) {
  const fs::path full = root_ / target;
  std::error_code error;
  if (fs::exists(fs::symlink_status(full, error)) &&
      (fs::is_directory(full, error) || fs::file_size(full, error) > 0)) {
    if (!fs::is_directory(full, error) && same_content(temporary, full)) {
      ::unlink(temporary.c_str());
      return Placed::kWasThere;
    }
    if (!overwrite || fs::is_directory(full, error)) {
      ::unlink(temporary.c_str());
      return Placed::kDiffers;
    }
  }
  fs::create_directories(full.parent_path(), error);
  if (error) fail("create the folder", full.parent_path(), error.value());
  if (::rename(temporary.c_str(), full.c_str()) != 0) fail("rename", full, errno);
  return how;
}

Placed Placer::link(const fs::path& source, const fs::path& target, bool overwrite, bool copy,
                    base::StopToken stop) {
  std::error_code error;
  if (fs::equivalent(source, root_ / target, error)) return Placed::kWasThere;
  const fs::path temporary = temporary_ / std::to_string(count_++);
  // A hard link to a symbolic link would only be another name of the link.
  const fs::path real = fs::canonical(source, error);
  if (error) fail("read the file", source, error.value());
  if (!copy && ::link(real.c_str(), temporary.c_str()) == 0) {
    const Placed placed = settle(temporary, target, overwrite, Placed::kLinked);
    // rename() of one name of a file onto another of the same file does nothing and leaves both.
    ::unlink(temporary.c_str());
    return placed;
  }
  std::ifstream in(real, std::ios::binary);
  if (!in) fail("read the file", source, errno);
  std::vector<char> block(1 << 18);
  return write(
      [&]() -> std::string_view {
        stop.throw_if_requested();
        in.read(block.data(), static_cast<std::streamsize>(block.size()));
        if (in.bad()) fail("read the file", source, EIO);
        return {block.data(), static_cast<std::size_t>(in.gcount())};
      },
      target, overwrite);
}

Placed Placer::write(const std::function<std::string_view()>& next, const fs::path& target, bool overwrite) {
  const fs::path temporary = temporary_ / std::to_string(count_++);
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0) fail("create the file", temporary, errno);
  try {
    for (std::string_view bytes = next(); !bytes.empty(); bytes = next()) {
      while (!bytes.empty()) {
        const ssize_t n = ::write(fd, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) fail("write", root_ / target, errno);
        bytes.remove_prefix(static_cast<std::size_t>(n));
      }
    }
  } catch (...) {
    ::close(fd);
    ::unlink(temporary.c_str());
    throw;
  }
  if (::close(fd) != 0) fail("write", root_ / target, errno);
  return settle(temporary, target, overwrite, Placed::kCopied);
}

}  // namespace maskfit::fetch
