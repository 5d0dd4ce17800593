#pragma once

// Archives of any kind that libarchive reads (zip, tar with any packing, 7z, rar), and archives inside them,
// entry by entry. Nothing is written to a folder: who walks an archive gets bytes. Archives come from
// strangers; what they claim is checked and bounded.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/interrupt.h"

namespace maskfit::fetch {

struct ArchiveLimits {
  // Unpacked bytes for one byte of archive; pictures reach 2, XML 30. Asked once `ratio_from_bytes` are
  // exceeded.
  double ratio = 200;
  std::uint64_t ratio_from_bytes = 64u << 20u;
  std::uint64_t total_bytes = std::uint64_t{400} << 30u;
  std::uint64_t entries = 5'000'000;
  int depth = 4;  // archives in archives
};

struct ArchiveEntry {
  std::string path;        // see entry_name(); of a nested one "inner.zip/a/b.jpg"
  std::uint64_t size = 0;  // as stated; 0 when the archive does not say
};

// The content of one entry, in blocks.
class EntryReader {
 public:
  virtual ~EntryReader() = default;
  // "" at the end. Throws EntryBroken.
  virtual std::string_view read() = 0;
};

// The entry's data cannot be read: torn, encrypted, over the limits. walk_archive() deals with it.
struct EntryBroken {
  std::string what;
  bool encrypted = false;
  bool limits = false;  // ends the walk
};

enum class ArchiveFault {
  kUnreadable,  // no archive at all, or of a kind that is not supported
  kTorn,        // it ends or breaks in the middle; entries before that were given
  kEncrypted,
  kBomb,    // over ArchiveLimits; the walk ended there
  kEscape,  // entries whose paths lead out of the folder: left out
  kLinks,   // links and devices: left out
  kDepth,   // an archive too deep inside others: left out
};

struct ArchiveProblem {
  ArchiveFault fault = ArchiveFault::kUnreadable;
  std::string archive;      // path on disk; with " > inner.zip" for nested ones
  std::string what;         // a sentence
  std::uint64_t count = 1;  // entries concerned
};

struct ArchiveWalk {
  std::uint64_t entries = 0;  // files given
  std::vector<ArchiveProblem> problems;
};

class ArchiveVisitor {
 public:
  virtual ~ArchiveVisitor() = default;
  // A regular file. What is not read is skipped.
  virtual void on_entry(const ArchiveEntry& entry, EntryReader& reader) = 0;
  // An archive inside: whether to look into it. It is unpacked to a nameless file beside `scratch` first.
  virtual bool enter(const ArchiveEntry& archive) = 0;
};

// By the first bytes.
bool looks_like_archive(std::string_view first_bytes);
inline constexpr std::size_t kArchiveSniffBytes = 512;

// Walks in the order of the archive. `scratch`: a folder that exists, for nested archives. Data faults are
// problems of the result; throws Error for machine ones (no room, Ctrl-C).
ArchiveWalk walk_archive(const std::filesystem::path& archive, const std::filesystem::path& scratch,
                         const ArchiveLimits& limits, ArchiveVisitor& visitor, base::StopToken stop);

}  // namespace maskfit::fetch
