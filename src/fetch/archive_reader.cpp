#include "fetch/archive_reader.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <locale.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "fetch/disk.h"
#include "fetch/entry_name.h"

namespace maskfit::fetch {
namespace fs = std::filesystem;
namespace {

using Handle = std::unique_ptr<archive, int (*)(archive*)>;

constexpr std::size_t kBlockBytes = 1u << 18u;
constexpr std::uint64_t kSpareBytes = 256u << 20u;

// libarchive turns the UTF-16 and UTF-8 names of 7z, rar and zip into the locale's encoding; without a UTF-8
// one they would be lost. For this thread, for the object's life.
class Utf8Locale {
 public:
  Utf8Locale() : utf8_(::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {
    if (utf8_ != nullptr) before_ = ::uselocale(utf8_);
  }
  ~Utf8Locale() {
    if (utf8_ == nullptr) return;
    ::uselocale(before_);
    ::freelocale(utf8_);
  }
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;

 private:
  locale_t utf8_, before_ = nullptr;
};

// A file without a name: it vanishes with the process, however that ends.
class Scratch {
 public:
  explicit Scratch(const fs::path& folder)
      : fd_(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)) {
    if (fd_ >= 0) return;
    std::string name = (folder / ".maskfit-scratch-XXXXXX").string();  // not every file system has O_TMPFILE
    fd_ = ::mkostemp(name.data(), O_CLOEXEC);
    if (fd_ < 0) {
      throw base::Error(base::ExitCode::kFailed,
                        fmt::format("cannot write a scratch file: {}", std::strerror(errno)),
                        folder.string());
    }
    ::unlink(name.c_str());
  }
  ~Scratch() { ::close(fd_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  void append(std::string_view bytes, const fs::path& folder) {
    while (!bytes.empty()) {
      const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) {
        throw base::Error(base::ExitCode::kMachine,
                          fmt::format("cannot unpack an inner archive: {}", std::strerror(errno)),
                          folder.string(), "free some disk space and run it again");
      }
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
  }
  int rewound() const {
    ::lseek(fd_, 0, SEEK_SET);
    return fd_;
  }

 private:
  int fd_;
};

Handle new_reader() {
  Handle handle(archive_read_new(), archive_read_free);
  MASKFIT_CHECK(handle != nullptr, "libarchive gives no handle");
  archive_read_support_filter_all(handle.get());
  archive_read_support_format_zip(handle.get());
  archive_read_support_format_tar(handle.get());
  archive_read_support_format_gnutar(handle.get());
  archive_read_support_format_7zip(handle.get());
  archive_read_support_format_rar(handle.get());
  archive_read_support_format_rar5(handle.get());
  archive_read_support_format_cpio(handle.get());
  return handle;
}

std::string message(archive* handle) {
  const char* text = archive_error_string(handle);
  return text == nullptr ? "no reason given" : to_utf8(text);
}

bool means_encrypted(const std::string& text) {
  const std::string lower = base::to_lower(text);
  return lower.find("encrypt") != std::string::npos || lower.find("passphrase") != std::string::npos;
}

// What all archives of one walk share.
struct Walk {
  const ArchiveLimits& limits;
  ArchiveVisitor& visitor;
  base::StopToken stop;
  fs::path scratch;
  std::uint64_t file_bytes = 0;  // of the archive on disk
  std::uint64_t unpacked = 0;
  bool bomb = false;
  ArchiveWalk result;

  // Counts into a problem of the same kind and archive.
  void problem(ArchiveFault fault, const std::string& name, const std::string& what) {
    for (ArchiveProblem& known : result.problems) {
      if (known.fault == fault && known.archive == name) return void(++known.count);
    }
    result.problems.push_back({fault, name, what, 1});
  }

  std::optional<std::string> over_limits(std::uint64_t more) const {
    const std::uint64_t total = unpacked + std::min(more, std::uint64_t{1} << 62u);
    const double allowed = limits.ratio * static_cast<double>(std::max<std::uint64_t>(file_bytes, 1));
    if (total > limits.ratio_from_bytes && static_cast<double>(total) > allowed) {
      return fmt::format("it would unpack to more than {} times its size ({} from {})", limits.ratio,
                         format_bytes(total), format_bytes(file_bytes));
    }
    if (total > limits.total_bytes)
      return fmt::format("it would unpack to more than {}", format_bytes(limits.total_bytes));
    return std::nullopt;
  }
};

class LibarchiveEntry : public EntryReader {
 public:
  LibarchiveEntry(archive* handle, Walk& walk) : handle_(handle), walk_(walk), block_(kBlockBytes) {
    // The first bytes are kept back once, to see whether this is an archive itself.
    while (sniffed_.size() < kArchiveSniffBytes && !failure_) {
      const std::size_t before = sniffed_.size();
      try {
        sniffed_ += read_block(kArchiveSniffBytes - sniffed_.size());
      } catch (const EntryBroken& broken) {
        failure_ = broken;
      }
      if (sniffed_.size() == before) break;
    }
  }

  std::string_view sniffed() const { return sniffed_; }
  bool fatal() const { return fatal_; }
  const std::optional<EntryBroken>& failure() const { return failure_; }

  std::string_view read() override {
    if (!given_ && !sniffed_.empty()) {
      given_ = true;
      return sniffed_;
    }
    if (failure_) throw EntryBroken(*failure_);
    return read_block(block_.size());
  }

 private:
  std::string_view read_block(std::size_t at_most) {
    walk_.stop.throw_if_requested();
    const la_ssize_t n = archive_read_data(handle_, block_.data(), std::min(at_most, block_.size()));
    if (n < 0) {
      fatal_ = n == ARCHIVE_FATAL;
      const std::string text = message(handle_);
      throw EntryBroken{text, means_encrypted(text), false};
    }
    walk_.unpacked += static_cast<std::uint64_t>(n);
    if (const auto over = walk_.over_limits(0)) {
      walk_.bomb = true;
      throw EntryBroken{*over, false, true};
    }
    return {block_.data(), static_cast<std::size_t>(n)};
  }

  archive* handle_;
  Walk& walk_;
  std::vector<char> block_;
  std::string sniffed_;
  bool given_ = false, fatal_ = false;
  std::optional<EntryBroken> failure_;
};

void walk_handle(archive* handle, const std::string& name, const std::string& prefix, int depth, Walk& walk);

// `fd` stays the caller's.
void walk_inner(int fd, const std::string& name, const std::string& prefix, int depth, Walk& walk) {
  const Handle handle = new_reader();
  if (archive_read_open_fd(handle.get(), fd, kBlockBytes) != ARCHIVE_OK) {
    walk.problem(ArchiveFault::kUnreadable, name, message(handle.get()));
    return;
  }
  walk_handle(handle.get(), name, prefix, depth, walk);
}

void enter_nested(const ArchiveEntry& entry, const std::string& inner_path, LibarchiveEntry& reader,
                  const std::string& name, int depth, Walk& walk) {
  const std::string inner_name = name + " > " + inner_path;
  if (depth + 1 > walk.limits.depth) {
    walk.problem(ArchiveFault::kDepth, inner_name,
                 fmt::format("it lies more than {} archives deep", walk.limits.depth));
    return;
  }
  if (!walk.visitor.enter(entry)) return;
  require_free(walk.scratch, entry.size, kSpareBytes, "unpacking the inner archive " + entry.path);
  Scratch scratch(walk.scratch);
  std::optional<EntryBroken> torn;
  try {
    for (std::string_view bytes = reader.read(); !bytes.empty(); bytes = reader.read()) {
      scratch.append(bytes, walk.scratch);
    }
  } catch (const EntryBroken& broken) {
    if (broken.limits || broken.encrypted) throw;
    torn = broken;  // what came of it may still be read
  }
  walk_inner(scratch.rewound(), inner_name, entry.path + "/", depth + 1, walk);
  if (torn) throw EntryBroken(*torn);
}

// One entry; false ends the archive.
bool take_entry(archive* handle, archive_entry* raw, const std::string& name, const std::string& prefix,
                int depth, Walk& walk) {
  const char* written = archive_entry_pathname(raw);
  if (written == nullptr) written = archive_entry_pathname_utf8(raw);
  const EntryName path = entry_name(written == nullptr ? "" : written);
  if (archive_entry_filetype(raw) == AE_IFDIR) return true;
  if (archive_entry_hardlink(raw) != nullptr || archive_entry_filetype(raw) != AE_IFREG) {
    walk.problem(ArchiveFault::kLinks, name, fmt::format("'{}' is a link or a device", path.path));
    return true;
  }
  if (path.escapes || path.path.empty()) {
    walk.problem(ArchiveFault::kEscape, name,
                 fmt::format("'{}' leads out of the folder", to_utf8(written == nullptr ? "" : written)));
    return true;
  }
  const ArchiveEntry entry{prefix + path.path,
                           archive_entry_size_is_set(raw) != 0
                               ? static_cast<std::uint64_t>(std::max<la_int64_t>(0, archive_entry_size(raw)))
                               : 0};
  if (archive_entry_is_data_encrypted(raw) != 0) {
    walk.problem(ArchiveFault::kEncrypted, name, fmt::format("'{}' is encrypted", path.path));
    return true;
  }
  if (const auto over = walk.over_limits(entry.size)) {
    walk.bomb = true;
    walk.problem(ArchiveFault::kBomb, name, fmt::format("'{}': {}", path.path, *over));
    return false;
  }
  LibarchiveEntry reader(handle, walk);
  try {
    const std::uint64_t before = walk.unpacked;
    if (!reader.failure() && looks_like_archive(reader.sniffed())) {
      enter_nested(entry, path.path, reader, name, depth, walk);
    } else {
      ++walk.result.entries;
      walk.visitor.on_entry(entry, reader);
      if (reader.failure()) throw EntryBroken(*reader.failure());
    }
    // What is skipped has to be unpacked in most formats all the same: it counts.
    walk.unpacked = std::max(walk.unpacked, before + entry.size);
  } catch (const EntryBroken& broken) {
    const ArchiveFault fault = broken.limits      ? ArchiveFault::kBomb
                               : broken.encrypted ? ArchiveFault::kEncrypted
                                                  : ArchiveFault::kTorn;
    walk.problem(fault, name, fmt::format("'{}': {}", path.path, broken.what));
    return !broken.limits && !reader.fatal();
  }
  return !walk.bomb;
}

void walk_handle(archive* handle, const std::string& name, const std::string& prefix, int depth, Walk& walk) {
  const std::uint64_t before = walk.result.entries;
  while (!walk.bomb) {
    walk.stop.throw_if_requested();
    archive_entry* raw = nullptr;
    const int status = archive_read_next_header(handle, &raw);
    if (status == ARCHIVE_EOF) return;
    if (status == ARCHIVE_RETRY) continue;
    if (status < ARCHIVE_WARN) {
      const std::string text = message(handle);
      const std::uint64_t read = walk.result.entries - before;
      const bool torn = read > 0 || archive_format(handle) != 0;
      walk.problem(means_encrypted(text) ? ArchiveFault::kEncrypted
                   : torn                ? ArchiveFault::kTorn
                                         : ArchiveFault::kUnreadable,
                   name, fmt::format("{} (after {} files)", text, read));
      return;
    }
    if (walk.result.entries >= walk.limits.entries) {
      walk.problem(ArchiveFault::kBomb, name,
                   fmt::format("it holds more than {} files", walk.limits.entries));
      walk.bomb = true;
      return;
    }
    if (!take_entry(handle, raw, name, prefix, depth, walk)) return;
  }
}

}  // namespace

bool looks_like_archive(std::string_view first) {
  using std::string_view_literals::operator""sv;
  for (const std::string_view magic : {"PK\x03\x04"sv, "PK\x05\x06"sv, "PK\x07\x08"sv, "7z\xbc\xaf\x27\x1c"sv,
                                       "Rar!\x1a\x07"sv, "\x1f\x8b\x08"sv, "BZh"sv,
                                       "\xfd"
                                       "7zXZ\x00"sv,
                                       "\x28\xb5\x2f\xfd"sv}) {
    if (first.starts_with(magic)) return true;
  }
  return first.size() >= 262 && first.substr(257, 5) == "ustar";
}

ArchiveWalk walk_archive(const fs::path& file, const fs::path& scratch, const ArchiveLimits& limits,
                         ArchiveVisitor& visitor, base::StopToken stop) {
  const Utf8Locale utf8;
  Walk walk{limits, visitor, stop, scratch, 0, 0, false, {}};
  const std::string name = file.string();
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    walk.problem(ArchiveFault::kUnreadable, name, std::strerror(errno));
    return walk.result;
  }
  struct stat facts = {};
  ::fstat(fd, &facts);
  walk.file_bytes = static_cast<std::uint64_t>(facts.st_size);
  try {
    walk_inner(fd, name, "", 1, walk);
  } catch (...) {
    ::close(fd);
    throw;
  }
  ::close(fd);
  return walk.result;
}

}  // namespace maskfit::fetch
