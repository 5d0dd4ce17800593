#pragma once

// DeepStream's configuration files: written, read back and held against the model they belong to.

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "base/finding.h"
#include "export/exported_model.h"
#include "formats/key_file.h"
#include "postprocess/nvinfer.h"

namespace maskfit::exporting {

// What [property] and [class-attrs-<i>] say about the way from a frame to boxes.
struct NvinferConfig {
  std::string onnx_file, labels_file,
      calibration_file;  // relative to the config's folder; calibration: "" without int8
  int network_mode = 0;  // 0 fp32, 1 int8, 2 fp16
  int batch = 1;
  std::array<int, 3> infer_dims{};  // channels, height, width
  float net_scale_factor = 1;       // input = factor * (byte - offset)
  std::vector<float> offsets;       // by channel; empty: none
  int color_format = 0;             // 0 RGB, 1 BGR, 2 grey
  bool keep_aspect_ratio = false;   // the rest black, right and below
  int classes = 0;
  postprocess::NvinferClusterMode mode = postprocess::NvinferClusterMode::kGroupRectangles;
  std::vector<std::string> outputs;
  std::vector<postprocess::NvinferClass> class_attributes;  // one a class
};

// The factor that brings bytes to 0..1, with the digits that NVIDIA's own files carry.
inline constexpr const char* kNetScaleFactor = "0.0039215697906911373";

// The configuration that treats frames as the model's training did. thresholds: one a class. `dbscan`:
// cluster-mode 1 with the model's eps, instead of NMS.
struct DeepstreamOptions {
  Precision precision = Precision::kFloat32;
  std::vector<float> thresholds;
  float nms_iou = 0.3f, eps = 0.3f;
  bool dbscan = false;
  int batch = 1;
};
NvinferConfig deepstream_config(const network::Model& model, const DeepstreamOptions& options);

// Throws base::Error (kRefused) for a model that DeepStream's parser would decode wrongly: it knows one box
// scale and offset.
void check_parser_constants(const network::Model& model);

formats::KeyFile to_key_file(const NvinferConfig& config);

// Throws base::Error (kRefused) with file and line for values that are no numbers or not as many as there
// must be. `findings` gets keys that nvinfer does not know, keys of the encrypted models of old, and comments
// behind values.
NvinferConfig nvinfer_config_of(const formats::KeyFile& file, const std::string& name_for_errors,
                                base::Findings* findings);

// What is wrong between a configuration and its model: every fault by name, with the value that would be
// right. `folder`: where its paths start. `labels`: the lines of its labels file.
base::Findings check_nvinfer(const NvinferConfig& config, const network::Model& model,
                             const std::filesystem::path& folder, const std::vector<std::string>& labels,
                             const std::string& name_for_errors);

// deepstream-app's own file for one kind of source.
enum class DeepstreamSource { kFile, kCamera, kRtsp };
formats::KeyFile deepstream_app_file(DeepstreamSource source, const NvinferConfig& config,
                                     const std::string& config_file);
base::Findings check_deepstream_app(const formats::KeyFile& file, const NvinferConfig& config,
                                    const std::filesystem::path& folder, const std::string& name_for_errors);

}  // namespace maskfit::exporting
