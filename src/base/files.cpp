#include "base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/sha256.h"
#include "base/temporaries.h"

namespace maskfit::base {
namespace fs = std::filesystem;
namespace {

fs::path longest_existing_prefix(fs::path path) {
  std::error_code ignored;
  while (!path.empty() && !fs::exists(path, ignored) && path != path.parent_path()) path = path.parent_path();
  return path;
}

// The longest part of the path that there is, or where one is if there is none of it.
std::string missing_hint(const fs::path& path) {
  if (path.empty()) return "the name is empty";
  const fs::path prefix = longest_existing_prefix(path);
  if (!prefix.empty()) return fmt::format("the path exists up to '{}'", prefix.string());
  std::error_code ignored;
  return fmt::format("there is no '{}' in the current folder, '{}'", path.begin()->string(),
                     fs::current_path(ignored).string());
}

// What to do about a reason of the system; "" where there is nothing to say.
std::string remedy_of(int error, const fs::path& path) {
  switch (error) {
    case ENOENT:
      return missing_hint(path);
    case ENOTDIR:
      return fmt::format("'{}' is a file, not a folder", longest_existing_prefix(path).string());
    case EACCES:
    case EPERM:
      return "check the permissions of the file and of the folders above it, or give another path";
    case EROFS:
      return "the file system is mounted read-only; give another path";
    case ENOSPC:
    case EDQUOT:
      return "free some disk space and run it again";
    case ENAMETOOLONG:
      return "the name is too long for this file system; give a shorter one";
    default:
      return "";
  }
}

[[noreturn]] void fail(const std::string& action, const fs::path& path, int error) {
  throw Error(ExitCode::kFailed, fmt::format("cannot {}: {}", action, std::strerror(error)), path.string(),
              remedy_of(error, path));
}

// A descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

void write_all(int fd, std::string_view bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("write", path, errno);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

void make_parent(const fs::path& path) {
  if (!path.has_parent_path()) return;
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) fail("create the folder", path.parent_path(), error.value());
}

}  // namespace

void write_file(const fs::path& path, std::string_view bytes, Overwrite overwrite) {
  std::error_code ignored;
  if (overwrite == Overwrite::kRefuse && fs::exists(path, ignored)) {
    throw Error(ExitCode::kFailed, "the file exists already", path.string(), "give another name, or --force");
  }
  make_parent(path);
  const fs::path temporary = temporary_beside(path);
  try {
    Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (file.get() < 0) fail("create the file", path, errno);
    write_all(file.get(), bytes, path);
    if (::fsync(file.get()) != 0) fail("sync", path, errno);
    if (::rename(temporary.c_str(), path.c_str()) != 0) fail("rename", path, errno);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  // The rename itself is durable only once the folder is synced.
  Descriptor folder(
      ::open(path.has_parent_path() ? path.parent_path().c_str() : ".", O_RDONLY | O_DIRECTORY));
  if (folder.get() >= 0) ::fsync(folder.get());
}

std::string read_file(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    throw Error(ExitCode::kFailed, "expected a file, found a folder", path.string(), "name a file in it");
  }
  // A pipe without a writer and /dev/zero never end.
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored)) {
    throw Error(ExitCode::kFailed, "expected a file, found a pipe or a device", path.string(),
                "write what it gives into a file first");
  }
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) fail("read the file", path, errno);
  // One more than it has, so that its end is met in the first round; files of /proc say 0 and have more.
  std::string bytes(static_cast<std::size_t>(status.st_size) + 1, '\0');
  for (std::size_t size = 0;;) {
    const ssize_t n = ::read(file.get(), bytes.data() + size, bytes.size() - size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("read the file", path, errno);
    size += static_cast<std::size_t>(n);
    if (n == 0) {
      bytes.resize(size);
      return bytes;
    }
    if (size == bytes.size()) bytes.resize(2 * size + 4096);
  }
}

void append_line(const fs::path& path, std::string_view line) {
  make_parent(path);
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (file.get() < 0) fail("open", path, errno);
  write_all(file.get(), std::string(line) + "\n", path);
}

std::string sha256(std::string_view bytes) {
  Sha256 digest;
  digest.add(bytes);
  return digest.finish();
}

}  // namespace maskfit::base
