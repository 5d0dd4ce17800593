#include "base/files.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/error.h"

namespace maskfit::base {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void fail(const std::string& action, const fs::path& path, int error,
                       const std::string& hint = "") {
  throw Error(ExitCode::kFailed, fmt::format("cannot {}: {}", action, std::strerror(error)), path.string(),
              hint);
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
    if (n < 0) fail("write", path, errno, errno == ENOSPC ? "free some disk space and run it again" : "");
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

void make_parent(const fs::path& path) {
  if (!path.has_parent_path()) return;
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) fail("create the folder", path.parent_path(), error.value());
}

fs::path longest_existing_prefix(fs::path path) {
  std::error_code ignored;
  while (!path.empty() && !fs::exists(path, ignored) && path != path.parent_path()) path = path.parent_path();
  return path;
}

}  // namespace

void write_file(const fs::path& path, std::string_view bytes, Overwrite overwrite) {
  std::error_code ignored;
  if (overwrite == Overwrite::kRefuse && fs::exists(path, ignored)) {
    throw Error(ExitCode::kFailed, "the file exists already", path.string(), "give another name, or --force");
  }
  make_parent(path);
  // The process number keeps two writers of one name apart.
  const fs::path temporary = path.string() + fmt::format(".tmp{}", ::getpid());
  try {
    Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (file.get() < 0) fail("create the file", temporary, errno);
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
    throw Error(ExitCode::kFailed, "expected a file, found a folder", path.string());
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    const int error = errno;
    const fs::path prefix = longest_existing_prefix(path);
    fail("read the file", path, error,
         prefix == path ? "" : fmt::format("the path exists up to '{}'", prefix.string()));
  }
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (file.bad()) fail("read the file", path, errno);
  return bytes;
}

void append_line(const fs::path& path, std::string_view line) {
  make_parent(path);
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (file.get() < 0) fail("open", path, errno);
  write_all(file.get(), std::string(line) + "\n", path);
}

std::string sha256(std::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  MASKFIT_CHECK(EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_sha256(), nullptr) == 1, "size={}",
                bytes.size());
  std::string hex;
  for (unsigned int i = 0; i < size; ++i) hex += fmt::format("{:02x}", digest[i]);
  return hex;
}

}  // namespace maskfit::base
