#pragma once

// What decoding each picture showed, kept beside a dataset, so that a second import decodes only what
// changed.
//
// Names, sizes and times cannot prove that a file is the same: an edit may keep its length, a copy its time.
// Size, time of change, time of the inode and inode together can, unless the file was changed in the very
// moment of the import; whatever they do not prove, the SHA-256 of the content does. Labels and class lists
// are read anew each time and need no cache.

#include <atomic>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "image/image.h"

namespace maskfit::dataset {

// What is known of a picture without its pixels.
struct PictureFacts {
  image::Size upright;
  image::ReadInfo info;
  std::string refused, remedy;  // why it cannot be used; empty when it can

  bool good() const { return refused.empty(); }
};

// The system's facts about a file; all 0 for one that cannot be asked.
struct FileStamp {
  std::int64_t size = 0, modified_ns = 0, changed_ns = 0;
  std::uint64_t inode = 0;
  bool operator==(const FileStamp&) const = default;
};
FileStamp stamp_of(const std::filesystem::path& file);

class PictureCache {
 public:
  // An empty path keeps nothing. A cache that is missing, torn or of another version is empty.
  explicit PictureCache(std::filesystem::path file);

  // Facts of a picture by its path, without reading it, when its stamp proves that it is unchanged.
  std::optional<PictureFacts> find(const std::string& picture, const FileStamp& stamp) const;
  // The same by content.
  std::optional<PictureFacts> find_content(const std::string& picture, const std::string& sha256) const;
  // Safe to call from several threads, as the two above.
  void store(const std::string& picture, const FileStamp& stamp, const std::string& sha256,
             const PictureFacts& facts);
  // Keeps an entry that was found by find().
  void keep(const std::string& picture);
  // Writes what was stored or kept since the start; with `all`, what was there before too (an import that was
  // interrupted has not seen every picture).
  void save(bool all) const;
  bool enabled() const { return !file_.empty(); }

 private:
  struct Entry {
    FileStamp stamp;
    std::string sha256;
    PictureFacts facts;
  };

  std::filesystem::path file_;
  std::int64_t started_ns_ = 0;  // of this import
  std::int64_t written_ns_ = 0;  // when the import began that wrote the old entries
  std::unordered_map<std::string, Entry> old_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Entry> new_;
};

}  // namespace maskfit::dataset
