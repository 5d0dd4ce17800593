#pragma once

// The model file: safetensors (docs/model-format.md) whose metadata carries everything needed to run the
// network.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "network/network.h"

namespace maskfit::network {

struct Model {
  Network network;
  std::vector<std::string> class_names;        // in the order of the output channels
  std::string canvas;                          // how a picture meets the input: "stretch" or "letterbox"
  float box_scale = 35.0f, box_offset = 0.5f;  // pixels
  std::string postprocessing;  // PostProcessingConfig as protobuf text: the thresholds it was validated with
  std::map<std::string, std::string>
      provenance;  // dataset digest, spec digest, seed, version, epoch, mAP ...
};

void write_model(const std::filesystem::path& path, const Model& model);
// Recognised by content. Throws base::Error (kRefused) with a hint for a file of another kind or a torn one.
Model read_model(const std::filesystem::path& path);

}  // namespace maskfit::network
