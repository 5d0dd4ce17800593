#pragma once

// What is known of a picture without its pixels, learnt by reading and decoding its file once, at the
// smallest scale that serves. The import and the audit ask the same, and share what they learn through a
// PictureCache.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/interrupt.h"
#include "dataset/fingerprint.h"
#include "image/image.h"

namespace maskfit::dataset {

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
  std::int64_t seen_ns = 0;        // when the file was looked at, since the epoch
  std::string digest;              // SHA-256 of the file's bytes, hexadecimal; "" when it could not be read
  std::string error, remedy;       // why it cannot be used; "" when it can. The rest holds only then:
  image::Size upright;             // after EXIF's orientation
  int orientation = 1;             // EXIF
  std::string format;              // "jpeg", ...
  std::vector<std::string> notes;  // what was mended on the way
  bool grey = false;               // no colour anywhere
  std::uint64_t hash = 0;
  Print print{};

  bool usable() const { return error.empty(); }
  // As in the file, before EXIF.
  image::Size stored_size() const {
    return orientation >= 5 ? image::Size{upright.height, upright.width} : upright;
  }
};

// From the bytes of one file. All of them are decoded, so that damage shows wherever it is.
PictureFacts facts_of(const std::string& bytes, const std::string& name);

struct FactsOptions {
  std::filesystem::path cache;  // see PictureCache; "": none
  int threads = 0;              // 0: all usable cores
  base::StopToken stop;
  // Called now and then; from one thread at a time.
  std::function<void(std::int64_t done, std::int64_t total)> progress;
};

struct FactsResult {
  std::vector<PictureFacts> facts;  // one a path, in their order
  std::int64_t decoded = 0;         // pictures that had to be decoded
  std::int64_t from_cache = 0;      // pictures that had not
};

// A picture that is missing or damaged is a value, see PictureFacts::error. Interrupted, it saves to the
// cache what was done and throws base::Error (kInterrupted).
FactsResult collect_facts(const std::vector<std::filesystem::path>& paths, const FactsOptions& options);

}  // namespace maskfit::dataset
