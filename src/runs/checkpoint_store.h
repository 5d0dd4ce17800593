#pragma once

// Checkpoints on disk. What is in them is the caller's business; here they are bytes that are whole or not
// there.
//
//   step-000000123.ckpt           the bytes
//   step-000000123.ckpt.sha256    "<sha-256>  step-000000123.ckpt", written last; `sha256sum -c` reads it,
//   too
//
// There is no index file that could disagree with the folder: a checkpoint counts when its digest line exists
// and fits its bytes. A run killed in the middle of a save leaves bytes without a line, which is not a
// checkpoint.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/finding.h"

namespace maskfit::runs {

class CheckpointStore {
 public:
  // Keeps the newest `keep_last` whole checkpoints (0: all).
  explicit CheckpointStore(std::filesystem::path folder, int keep_last = 0);

  // Writes the bytes, then the digest line, then drops what is over keep_last. `step` counts finished
  // optimiser steps.
  void save(std::int64_t step, std::string_view bytes) const;

  struct Checkpoint {
    std::int64_t step = 0;
    std::filesystem::path path;
    std::string bytes;
  };
  // The newest checkpoint that is whole; none where there is no such. Each newer one that is torn or altered
  // adds a finding that says what is wrong with it and which older one is used, or that none is left.
  // `findings` may be null.
  std::optional<Checkpoint> newest(base::Findings* findings = nullptr) const;

  // Steps that have a digest line, ascending; the bytes are not looked at.
  std::vector<std::int64_t> steps() const;
  std::filesystem::path path(std::int64_t step) const;

 private:
  std::filesystem::path digest_path(std::int64_t step) const;
  void drop_old() const;

  std::filesystem::path folder_;
  int keep_last_;
};

}  // namespace maskfit::runs
