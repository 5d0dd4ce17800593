#pragma once

// A bundle: one folder with a model in every form that a device or a program needs, and what goes with it.

#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/finding.h"
#include "export/deepstream.h"
#include "export/onnx_writer.h"
#include "export/pipeline.h"
#include "formats/calibration_cache.h"

namespace maskfit::exporting {

struct BundleRequest {
  network::Model trained;
  Precision precision = Precision::kFloat32;
  OnnxOptions onnx;
  bool keep_batch_norm = false;
  bool deepstream = true;               // its configurations, too
  bool dbscan = false;                  // cluster-mode 1 instead of 2
  std::vector<float> thresholds;        // by class
  std::string threshold_source;         // a sentence
  float nms_iou = 0.3f, eps = 0.3f;     // of the model's own clustering
  std::map<std::string, float> scales;  // int8: of every tensor, by node
  std::set<std::string> float_layers;   // int8: convolutions left in real numbers
  int tensorrt = 8503;                  // whose calibration table is written
};

// Exported models of the request: real numbers, and integers when int8 was asked for.
ExportedModel real_model(const BundleRequest& request);
ExportedModel integer_model(const BundleRequest& request);
NvinferConfig nvinfer_config(const BundleRequest& request);

// All files by name. Nothing is written.
std::map<std::string, std::string> bundle_files(const BundleRequest& request);

// Fills a temporary folder beside `folder` and renames it, so a bundle is whole or not there. Throws
// base::Error (kFailed) when the folder exists and is not empty, unless `replace` and it is a bundle.
void write_bundle(const std::filesystem::path& folder, const std::map<std::string, std::string>& files,
                  bool replace);

// A bundle read back.
struct Bundle {
  std::filesystem::path folder;
  network::Model trained;
  ExportedModel real;
  bool has_integers = false;
  ExportedModel integers;
  Pipeline pipeline;
  bool has_deepstream = false;
  NvinferConfig nvinfer;
  std::vector<std::string> labels;
  bool has_table = false;
  formats::CalibrationCache table;
};

// Throws base::Error (kRefused) for a folder that maskfit export did not write.
void check_is_bundle(const std::filesystem::path& folder);

// Throws base::Error (kRefused, kFailed) for a folder that is no bundle and for files that cannot be read.
// `findings` gets every fault that the files show without a picture: swapped sides, another colour order or
// range, another order of classes, a table of another model, files that were changed.
Bundle read_bundle(const std::filesystem::path& folder, base::Findings* findings);

// The integer model as a device with this calibration table would run it. Tensors that the table lacks keep
// the scale of the bundle's own model.
ExportedModel with_table(const ExportedModel& integers, const formats::CalibrationCache& table);

}  // namespace maskfit::exporting
