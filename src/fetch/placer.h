#pragma once

// Files put in their place whole or not at all: written into a folder of temporary files on the same disk,
// then renamed.

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "base/interrupt.h"

namespace maskfit::fetch {

enum class Placed { kLinked, kCopied, kWasThere, kDiffers };

class Placer {
 public:
  // `root` is made when missing, with ".maskfit-tmp" in it, which is emptied first (leftovers of a killed
  // run) and removed at the end. One process at a time: throws Error (kFailed) when another holds the folder.
  explicit Placer(const std::filesystem::path& root);
  ~Placer();
  Placer(const Placer&) = delete;
  Placer& operator=(const Placer&) = delete;

  // `target` is relative to the root. kDiffers: another file is there and stays, unless `overwrite`. An empty
  // file there counts as none. Throws Error for the machine's faults.
  Placed link(const std::filesystem::path& source, const std::filesystem::path& target, bool overwrite,
              bool copy, base::StopToken stop);
  // `next` gives block after block, "" at the end; what it throws leaves nothing behind.
  Placed write(const std::function<std::string_view()>& next, const std::filesystem::path& target,
               bool overwrite);

 private:
  Placed settle(const std::filesystem::path& temporary, const std::filesystem::path& target, bool overwrite,
                Placed how);

  std::filesystem::path root_, temporary_;
  int lock_ = -1;
  int count_ = 0;
};

// Whether two files hold the same bytes.
bool same_content(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace maskfit::fetch
