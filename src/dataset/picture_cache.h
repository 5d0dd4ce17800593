#pragma once

// What is known of each picture, kept beside a dataset (DATASET/picture-cache.bin): a row of records by path,
// sealed with a digest. The import fills it, the audit reads it, and a second import or audit decodes only
// what changed since.
//
// Names, sizes and times cannot prove that a file is the same: an edit may keep its length, a copy its time.
// Size, modification time and change time together can, unless the file was written in the very moment in
// which it was looked at; whatever they do not prove, the SHA-256 of the content does.

#include <atomic>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "dataset/picture_facts.h"

namespace maskfit::dataset {

inline constexpr const char* kPictureCacheName = "picture-cache.bin";

// Absolute path -> facts.
using FactsByPath = std::unordered_map<std::string, PictureFacts>;

std::string pack_facts(const FactsByPath& facts);
// Nothing for bytes that pack_facts() of this version did not write, or that were changed since.
std::optional<FactsByPath> unpack_facts(std::string_view bytes);

// Whether the cached facts may be used for a file that looks like `now`, without reading it: the stamps
// agree, and the file had been quiet for a while when it was looked at (a second write within the clock's
// grain would leave no trace).
bool still_valid(const PictureFacts& cached, const FileStamp& now);

class PictureCache {
 public:
  // Of the pictures that the file knew before, kSeen keeps those that were looked at since; kAll keeps all.
  enum class Keep { kSeen, kAll };

  // "" keeps nothing. A file that is missing, damaged or of another version is an empty cache.
  explicit PictureCache(std::filesystem::path file);

  // From the cache where that is certain to be right, else from the file. Safe from several threads.
  PictureFacts look_at(const std::filesystem::path& picture);
  // Pictures that had to be decoded.
  std::int64_t decoded() const { return decoded_; }
  // Writes the file when it would say anything new. One that cannot be written is given up: it would only
  // have saved time.
  void save(Keep keep) const;

 private:
  struct Entry {
    PictureFacts facts;
    bool seen = false;
  };

  std::filesystem::path file_;
  std::atomic<std::int64_t> decoded_ = 0;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Entry> entries_;
  bool changed_ = false;
};

}  // namespace maskfit::dataset
