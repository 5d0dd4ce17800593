#pragma once

// The reference's calibration data ("calibration.tensor"): an HDF5 file of picture batches.
//
//   /                                   attributes count (batches) and shape (of one batch)
//   /_tensorfile_array_key__<i>/_tensorfile_array_key_    float32 [N][3][H][W], 0..1, gzip

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "base/files.h"

namespace maskfit::formats {

using BatchShape = std::array<std::int64_t, 4>;  // pictures, channels, height, width

// Writes batch after batch into a temporary file beside the target; only close() gives it its name. Batches
// must be of one shape (CheckFailed otherwise).
class TensorfileWriter {
 public:
  // Throws base::Error (kFailed) when the file exists and may not be overwritten.
  TensorfileWriter(std::filesystem::path path, BatchShape shape, base::Overwrite overwrite);
  ~TensorfileWriter();  // without close(): the temporary file is deleted
  TensorfileWriter(const TensorfileWriter&) = delete;
  TensorfileWriter& operator=(const TensorfileWriter&) = delete;

  void add(std::span<const float> batch);
  void close();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

class TensorfileReader {
 public:
  // Throws base::Error (kRefused) for a file that is no tensorfile, is torn, or whose groups do not match its
  // count.
  explicit TensorfileReader(std::filesystem::path path);
  ~TensorfileReader();
  TensorfileReader(const TensorfileReader&) = delete;
  TensorfileReader& operator=(const TensorfileReader&) = delete;

  std::int64_t count() const;
  const BatchShape& shape() const;
  // Batch `index`, [N][C][H][W]. Throws base::Error (kRefused) naming both numbers when there are fewer.
  std::vector<float> batch(std::int64_t index) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace maskfit::formats
