#pragma once

// The smallest data that can be trained on, for tests of the binary.

#include <filesystem>
#include <string>
#include <vector>

#include "dataset/synthetic.h"

namespace maskfit::support {

// Twelve drawn pictures of 64x64 with one or two faces, as a dataset.
inline void write_tiny_data(const std::filesystem::path& folder) {
  dataset::SyntheticOptions options;
  options.pictures = 12;
  options.size = {64, 64};
  options.max_heads = 2;
  options.min_face_height = 24;
  options.max_face_height = 40;
  options.val_percent = 25;
  dataset::write_synthetic(options, folder);
}

// `maskfit train` with the smallest network, three steps an epoch.
inline std::vector<std::string> tiny_training(const std::filesystem::path& data,
                                              const std::filesystem::path& run, int epochs) {
  return {"train",      data.string(),
          "--out",      run.string(),
          "--backbone", "resnet10",
          "--size",     "64x64",
          "--batch",    "3",
          "--set",      "model_config.width_multiplier=0.25",
          "--epochs",   std::to_string(epochs)};
}

}  // namespace maskfit::support
