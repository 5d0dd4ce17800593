#pragma once

// A folder that is written beside its final place and appears there whole or not at all.

#include <filesystem>
#include <string>
#include <string_view>

#include "base/files.h"

namespace maskfit::dataset {

class StagedFolder {
 public:
  // The file that marks a folder as one of ours; a folder that holds something else is never replaced.
  static constexpr const char* kMarkFile = "conversion.json";

  // Throws base::Error (kFailed) when `target` has files already and may not be replaced: without
  // Overwrite::kAllow, or because it has no mark.
  StagedFolder(const std::filesystem::path& target, base::Overwrite overwrite);
  // Removes what was written unless commit() has succeeded.
  ~StagedFolder();
  StagedFolder(const StagedFolder&) = delete;
  StagedFolder& operator=(const StagedFolder&) = delete;

  // Paths are relative to the folder; missing folders are made. Safe to call from several threads for
  // different files. Throw base::Error with the system's reason.
  void write(const std::filesystem::path& file, std::string_view bytes) const;
  // A hard link where the file system has them, else a symbolic one.
  void link(const std::filesystem::path& file, const std::filesystem::path& source) const;
  void copy(const std::filesystem::path& file, const std::filesystem::path& source) const;

  // Writes the mark, syncs, and puts the folder at its place.
  void commit(std::string_view mark);

 private:
  std::filesystem::path made(const std::filesystem::path& file) const;

  std::filesystem::path target_, staged_;
  bool committed_ = false;
};

// Whether `inner` is `outer` or lies in it, links followed; neither has to exist.
bool lies_inside(const std::filesystem::path& inner, const std::filesystem::path& outer);

// Throws base::Error (kUsage) when one of the two folders is the other or lies in it: the next import of the
// source would read the output, too, or the output would replace its own source.
void check_apart(const std::filesystem::path& source, const std::filesystem::path& target);

}  // namespace maskfit::dataset
