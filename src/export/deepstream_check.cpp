// A configuration against its model: the faults that make a device find nothing, each by name.

#include <fmt/ranges.h>

#include <cmath>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "export/deepstream.h"

namespace maskfit::exporting {
namespace {

using postprocess::NvinferClusterMode;

class Checker {
 public:
  Checker(const NvinferConfig& config, const network::Model& model, const std::string& name)
      : config_(config), model_(model), name_(name) {}

  base::Findings check(const std::filesystem::path& folder, const std::vector<std::string>& labels) {
    check_dimensions();
    check_pixels();
    check_classes(labels);
    check_outputs();
    check_clustering();
    check_paths(folder);
    return std::move(findings_);
  }

 private:
  void refuse(const std::string& key, const std::string& what, const std::string& remedy) {
    findings_.push_back({base::Severity::kRefused, name_, 0, key, what, remedy});
  }

  void check_dimensions() {
    const auto& dims = config_.infer_dims;
    const network::Shape& input = model_.network.input;
    const std::string right =
        fmt::format("write infer-dims={};{};{}", input.channels, input.height, input.width);
    if (dims == std::array{input.channels, input.height, input.width}) return;
    if (dims == std::array{input.channels, input.width, input.height}) {
      refuse("infer-dims",
             fmt::format("height and width are swapped: {};{};{}, but the order is channels;height;width",
                         dims[0], dims[1], dims[2]),
             right);
    } else {
      refuse("infer-dims", fmt::format("{};{};{} is not the model's input", dims[0], dims[1], dims[2]),
             right);
    }
  }

  void check_pixels() {
    const float range = config_.net_scale_factor * 255;
    if (std::fabs(range - 1) > 1e-3f) {
      refuse("net-scale-factor",
             fmt::format("pixels reach the network as 0 to {:.4g}; it was trained on 0 to 1", range),
             fmt::format("write net-scale-factor={}", kNetScaleFactor));
    }
    for (const float offset : config_.offsets) {
      if (offset == 0) continue;
      refuse("offsets", fmt::format("{} is taken off every pixel; training took nothing off", offset),
             "delete the line");
      break;
    }
    const int wanted = model_.network.input.channels == 1 ? 2 : 0;
    if (config_.color_format != wanted) {
      const char* names[] = {"RGB", "BGR", "grey"};
      const int given = config_.color_format;
      refuse("model-color-format",
             fmt::format("the network gets {} pictures; it was trained on {}",
                         given >= 0 && given < 3 ? names[given] : "unknown", names[wanted]),
             fmt::format("write model-color-format={}", wanted));
    }
    if (config_.keep_aspect_ratio != (model_.canvas == "letterbox")) {
      refuse("maintain-aspect-ratio",
             config_.keep_aspect_ratio ? "frames are padded; the model was trained on stretched pictures"
                                       : "frames are stretched; the model was trained on padded pictures",
             fmt::format("write maintain-aspect-ratio={}", config_.keep_aspect_ratio ? 0 : 1));
    }
    if (model_.box_scale != postprocess::kNvinferBoxScale ||
        model_.box_offset != postprocess::kNvinferBoxOffset) {
      refuse("onnx-file",
             fmt::format("the parser assumes a box scale of 35 and an offset of 0.5; the model has {} and {}",
                         model_.box_scale, model_.box_offset),
             "train with bbox { scale: 35 offset: 0.5 }");
    }
  }

  void check_classes(const std::vector<std::string>& labels) {
    const auto& names = model_.class_names;
    if (config_.classes != static_cast<int>(names.size())) {
      refuse("num-detected-classes", fmt::format("{} where the model has {}", config_.classes, names.size()),
             fmt::format("write num-detected-classes={}", names.size()));
    }
    if (labels == names) return;
    const bool same_names = std::set<std::string>(labels.begin(), labels.end()) ==
                            std::set<std::string>(names.begin(), names.end());
    refuse("labelfile-path",
           same_names ? fmt::format("the classes are in another order: {} in the file, {} in the model",
                                    fmt::join(labels, ", "), fmt::join(names, ", "))
                      : fmt::format("the labels are {}, the model's classes {}", fmt::join(labels, ", "),
                                    fmt::join(names, ", ")),
           fmt::format("write the model's classes, one a line: {}", fmt::join(names, ", ")));
  }

  void check_outputs() {
    std::set<std::string> wanted;
    for (const std::string& output : model_.network.outputs)
      wanted.insert(tensor_name(model_.network, output));
    if (std::set<std::string>(config_.outputs.begin(), config_.outputs.end()) == wanted) return;
    refuse("output-blob-names",
           fmt::format("'{}' are not the model's outputs", fmt::join(config_.outputs, ";")),
           fmt::format("write output-blob-names={}", fmt::join(wanted, ";")));
  }

  void check_clustering() {
    if (config_.mode == NvinferClusterMode::kGroupRectangles) {
      refuse("cluster-mode", "0 groups with OpenCV and reports the confidence -0.1", "write cluster-mode=2");
    }
    for (std::size_t c = 0; c < config_.class_attributes.size(); ++c) {
      if (config_.mode == NvinferClusterMode::kDbscan && config_.class_attributes[c].min_boxes < 1) {
        refuse(fmt::format("class-attrs-{}.minBoxes", c),
               "0 switches clustering off: every cell becomes an object", "write minBoxes=1");
      }
    }
    if (config_.network_mode == 1 && config_.calibration_file.empty()) {
      refuse("int8-calib-file", "network-mode=1 without a calibration table",
             "give calibration.bin, or write network-mode=2");
    }
  }

  void check_paths(const std::filesystem::path& folder) {
    const std::pair<const char*, std::string> paths[] = {{"onnx-file", config_.onnx_file},
                                                         {"labelfile-path", config_.labels_file},
                                                         {"int8-calib-file", config_.calibration_file}};
    for (const auto& [key, path] : paths) {
      const bool may_be_empty = std::string(key) == "int8-calib-file";
      if (path.empty() && may_be_empty) continue;
      if (path.empty() || !std::filesystem::is_regular_file(folder / path)) {
        refuse(key, fmt::format("'{}' is not there", path), "paths start at the folder of the configuration");
      }
    }
  }

  const NvinferConfig& config_;
  const network::Model& model_;
  const std::string& name_;
  base::Findings findings_;
};

}  // namespace

base::Findings check_nvinfer(const NvinferConfig& config, const network::Model& model,
                             const std::filesystem::path& folder, const std::vector<std::string>& labels,
                             const std::string& name_for_errors) {
  return Checker(config, model, name_for_errors).check(folder, labels);
}

base::Findings check_deepstream_app(const formats::KeyFile& file, const NvinferConfig& config,
                                    const std::filesystem::path& folder, const std::string& name_for_errors) {
  base::Findings findings;
  const auto refuse = [&](int line, const std::string& key, const std::string& what,
                          const std::string& remedy) {
    findings.push_back({base::Severity::kRefused, name_for_errors, line, key, what, remedy});
  };
  for (const char* group : {"application", "source0", "streammux", "sink0", "primary-gie"}) {
    if (file.find(group) == nullptr) refuse(0, group, "the group is missing", "export the bundle again");
  }
  const formats::KeyFileGroup* gie = file.find("primary-gie");
  if (gie == nullptr) return findings;
  const formats::KeyFileEntry* path = gie->find("config-file");
  if (path == nullptr || !std::filesystem::is_regular_file(folder / path->value)) {
    refuse(path != nullptr ? path->line : gie->line, "config-file", "the nvinfer configuration is not there",
           "paths start at the folder of this file");
  }
  const formats::KeyFileEntry* batch = gie->find("batch-size");
  if (batch != nullptr && batch->value != fmt::format("{}", config.batch)) {
    refuse(batch->line, "batch-size",
           fmt::format("{} here, {} in the nvinfer configuration", batch->value, config.batch),
           "use one batch size");
  }
  return findings;
}

}  // namespace maskfit::exporting
