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
  std::string canvas = "stretch";              // how a picture meets the input: "stretch" or "letterbox"
  float box_scale = 35.0f, box_offset = 0.5f;  // pixels
  std::string postprocessing;  // PostProcessingConfig as protobuf text: the thresholds it was validated with
  std::map<std::string, std::string>
      provenance;  // dataset digest, spec digest, seed, version, epoch, mAP ...

  bool operator==(const Model&) const = default;
};

// Where `provenance` keeps the confidence from which detections of a class are worth showing.
std::string confidence_threshold_key(const std::string& class_name);

// Equal models give equal bytes. Atomic, replaces an existing file. Throws base::CheckFailed for a model
// whose weights are not those of its graph or whose class names do not number its coverage channels.
void write_model(const std::filesystem::path& path, const Model& model);

// Recognised by content. Throws base::Error (kRefused) with the file and a hint for a file of another kind,
// newer, torn, with weights that are not finite, or whose graph, arrays and classes do not agree.
Model read_model(const std::filesystem::path& path);

}  // namespace maskfit::network
