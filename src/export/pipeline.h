#pragma once

// pipeline.json: everything that a program needs around the network, and what the bundle's files are known
// by.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/finding.h"
#include "export/deepstream.h"

namespace maskfit::exporting {

struct Pipeline {
  std::string model_file, precision;
  std::vector<std::string> class_names;
  std::vector<float> thresholds;               // by class
  std::string threshold_source;                // where they come from, a sentence
  std::map<std::string, std::string> digests;  // SHA-256 of the bundle's other files
  // As in the file, for the checks.
  std::string color = "RGB", canvas = "stretch";
  double range_low = 0, range_high = 1;
  std::vector<int> input;  // channels, height, width
  float nms_iou = 0.3f;
};

std::string pipeline_json(const Pipeline& pipeline, const network::Model& model);
// Throws base::Error (kRefused) for text that is no such description.
Pipeline pipeline_from_json(const std::string& text, const std::string& name_for_errors);
// What differs from what the model was trained with.
base::Findings check_pipeline(const Pipeline& pipeline, const network::Model& model,
                              const std::string& name_for_errors);

}  // namespace maskfit::exporting
