#pragma once

// What the audit knows of each picture's file. Every picture is read and decoded once, at the smallest scale
// that serves; the next audit reads the facts from a cache instead.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "audit/fingerprint.h"
#include "base/interrupt.h"

namespace maskfit::audit {

// Tells a changed file from an unchanged one without reading it. The change time (ctime) moves with every
// write and cannot be set back as the modification time can, so an edit of the same length shows as well.
struct FileStamp {
  std::int64_t bytes = -1;  // -1: there is no such file
  std::int64_t modified_ns = 0, changed_ns = 0;
  bool operator==(const FileStamp&) const = default;
};
FileStamp stamp_of(const std::filesystem::path& path);

struct PictureFacts {
  FileStamp stamp;
  std::int64_t seen_ns = 0;   // when the file was looked at, since the epoch
  std::string digest;         // SHA-256 of the file's bytes, hexadecimal; "" when it could not be read
  std::string error;          // why it cannot be used; "" when it can. The rest holds only then:
  int width = 0, height = 0;  // upright
  int orientation = 1;        // EXIF
  std::string format;         // "jpeg", ...
  std::string notes;          // what was mended on the way, separated by "; "
  bool grey = false;          // no colour anywhere
  std::uint64_t hash = 0;
  Print print{};

  bool usable() const { return error.empty(); }
};

struct FactsOptions {
  // Read before and written after; "": none. A cache that is damaged, of another version or not writable only
  // costs time.
  std::filesystem::path cache;
  int threads = 0;  // 0: all usable cores
  base::StopToken stop;
  // Called now and then; from one thread at a time.
  std::function<void(std::int64_t done, std::int64_t total)> progress;
};

struct FactsResult {
  std::vector<PictureFacts> facts;  // one a path, in their order
  std::int64_t decoded = 0;         // pictures that had to be decoded
  std::int64_t from_cache = 0;      // pictures that had not
};

// From the bytes of one file.
PictureFacts facts_of(const std::string& bytes, const std::string& name);

// A picture that is missing or damaged is a value, see PictureFacts::error. Interrupted, it saves to the
// cache what was done and throws base::Error (kInterrupted).
FactsResult collect_facts(const std::vector<std::filesystem::path>& paths, const FactsOptions& options);

}  // namespace maskfit::audit
