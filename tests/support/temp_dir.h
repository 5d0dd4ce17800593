#pragma once

#include <filesystem>

namespace maskfit::support {

// A fresh folder that is deleted with its contents when the object goes.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::filesystem::path& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

// ../shared/data beside the checkout, or empty when it is absent: skip the test then and say so.
std::filesystem::path shared_data();
// The root of the checkout.
std::filesystem::path source_dir();

}  // namespace maskfit::support
