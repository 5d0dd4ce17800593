#include "export/deepstream.h"

#include <fmt/ranges.h>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "export/bundle_files.h"

namespace maskfit::exporting {
namespace {

using base::Error;
using base::ExitCode;
using formats::KeyFile;
using formats::KeyFileEntry;
using formats::KeyFileGroup;

// Keys of [property] and [class-attrs-*] as DeepStream documents them.
const std::set<std::string>& known_keys() {
  static const std::set<std::string> keys = {"gpu-id",
                                             "onnx-file",
                                             "model-engine-file",
                                             "labelfile-path",
                                             "int8-calib-file",
                                             "network-mode",
                                             "batch-size",
                                             "infer-dims",
                                             "net-scale-factor",
                                             "offsets",
                                             "model-color-format",
                                             "network-type",
                                             "process-mode",
                                             "num-detected-classes",
                                             "interval",
                                             "gie-unique-id",
                                             "maintain-aspect-ratio",
                                             "symmetric-padding",
                                             "cluster-mode",
                                             "output-blob-names",
                                             "network-input-order",
                                             "output-tensor-meta",
                                             "workspace-size",
                                             "scaling-filter",
                                             "scaling-compute-hw",
                                             "force-implicit-batch-dim",
                                             "mean-file",
                                             "enable-dla",
                                             "use-dla-core",
                                             "parse-bbox-func-name",
                                             "custom-lib-path",
                                             "filter-out-class-ids",
                                             "crop-objects-to-roi-boundary",
                                             "pre-cluster-threshold",
                                             "post-cluster-threshold",
                                             "eps",
                                             "minBoxes",
                                             "dbscan-min-score",
                                             "group-threshold",
                                             "nms-iou-threshold",
                                             "topk",
                                             "detected-min-w",
                                             "detected-min-h",
                                             "detected-max-w",
                                             "detected-max-h",
                                             "roi-top-offset",
                                             "roi-bottom-offset"};
  return keys;
}

// Of encrypted TLT models; beside an ONNX file they make nvinfer look for another model.
const std::set<std::string>& old_keys() {
  static const std::set<std::string> keys = {"tlt-encoded-model", "tlt-model-key",   "uff-input-blob-name",
                                             "uff-file",          "uff-input-order", "input-dims",
                                             "uff-input-dims",    "proto-file",      "model-file"};
  return keys;
}

class ConfigReader {
 public:
  ConfigReader(const KeyFile& file, const std::string& name) : file_(file), name_(name) {
    property_ = file.find("property");
    if (property_ == nullptr) {
      throw Error(ExitCode::kRefused, "the group [property] is missing", name,
                  "give the configuration of Gst-nvinfer");
    }
  }

  NvinferConfig read() const {
    NvinferConfig config;
    config.onnx_file = text("onnx-file");
    config.labels_file = text("labelfile-path");
    config.calibration_file = text("int8-calib-file");
    config.network_mode = static_cast<int>(number(*property_, "network-mode", 0));
    config.batch = static_cast<int>(number(*property_, "batch-size", 1));
    const std::vector<float> dims = numbers("infer-dims");
    if (dims.size() != 3) refuse(property_->find("infer-dims"), "infer-dims is not channels;height;width");
    for (std::size_t i = 0; i < 3; ++i) config.infer_dims[i] = static_cast<int>(dims[i]);
    config.net_scale_factor = number(*property_, "net-scale-factor", 1);
    config.offsets = numbers("offsets");
    config.color_format = static_cast<int>(number(*property_, "model-color-format", 0));
    config.keep_aspect_ratio = number(*property_, "maintain-aspect-ratio", 0) != 0;
    config.classes = static_cast<int>(number(*property_, "num-detected-classes", 0));
    if (config.classes < 1 || config.classes > 1024)
      refuse(property_->find("num-detected-classes"), "not a number of classes");
    const int mode = static_cast<int>(number(*property_, "cluster-mode", 0));
    if (mode < 0 || mode > 4) refuse(property_->find("cluster-mode"), "cluster-mode is none of 0 to 4");
    config.mode = static_cast<postprocess::NvinferClusterMode>(mode);
    for (const std::string& output : base::split(text("output-blob-names"), ';')) {
      if (!output.empty()) config.outputs.push_back(output);
    }
    for (int c = 0; c < config.classes; ++c) config.class_attributes.push_back(class_attributes(c));
    return config;
  }

  base::Findings oddities() const {
    base::Findings findings;
    const auto note = [&](const KeyFileEntry& entry, const std::string& what, const std::string& remedy) {
      findings.push_back({base::Severity::kWarning, name_, entry.line, entry.key, what, remedy});
    };
    for (const KeyFileGroup& group : file_.groups) {
      for (const KeyFileEntry& entry : group.entries) {
        if (old_keys().contains(entry.key)) {
          note(entry, "a key for models in other formats stands beside onnx-file", "delete the line");
        } else if (!known_keys().contains(entry.key)) {
          const std::string near = base::nearest_name(entry.key, {known_keys().begin(), known_keys().end()});
          note(entry, "nvinfer does not know this key",
               near.empty() ? "delete the line" : fmt::format("did you mean {}?", near));
        }
        if (entry.value.find('#') != std::string::npos) {
          note(entry, "a comment behind the value is part of the value",
               "put the comment on a line of its own");
        }
      }
    }
    return findings;
  }

 private:
  [[noreturn]] void refuse(const KeyFileEntry* entry, const std::string& what) const {
    throw Error(ExitCode::kRefused, what,
                fmt::format("{}:{}", name_, entry != nullptr ? entry->line : property_->line),
                "export the bundle again, or mend the line");
  }

  std::string text(const char* key) const {
    const KeyFileEntry* entry = property_->find(key);
    return entry != nullptr ? entry->value : "";
  }

  float number(const KeyFileGroup& group, const char* key, float otherwise) const {
    const KeyFileEntry* entry = group.find(key);
    float value = otherwise;
    if (entry != nullptr && !base::parse_float(entry->value, &value)) {
      refuse(entry, fmt::format("{}={} is no number", key, entry->value));
    }
    return value;
  }

  std::vector<float> numbers(const char* key) const {
    std::vector<float> values;
    for (const std::string& part : base::split(text(key), ';')) {
      if (part.empty()) continue;
      values.push_back(0);
      if (!base::parse_float(part, &values.back()))
        refuse(property_->find(key), fmt::format("{} is no list of numbers", key));
    }
    return values;
  }

  postprocess::NvinferClass class_attributes(int c) const {
    postprocess::NvinferClass result;
    for (const std::string& name : {std::string("class-attrs-all"), fmt::format("class-attrs-{}", c)}) {
      const KeyFileGroup* group = file_.find(name);
      if (group == nullptr) continue;
      result.pre_cluster_threshold = number(*group, "pre-cluster-threshold", result.pre_cluster_threshold);
      result.post_cluster_threshold = number(*group, "post-cluster-threshold", result.post_cluster_threshold);
      result.nms_iou_threshold = number(*group, "nms-iou-threshold", result.nms_iou_threshold);
      result.eps = number(*group, "eps", result.eps);
      result.min_boxes = static_cast<int>(number(*group, "minBoxes", static_cast<float>(result.min_boxes)));
      result.dbscan_min_score = number(*group, "dbscan-min-score", result.dbscan_min_score);
      result.topk = static_cast<int>(number(*group, "topk", static_cast<float>(result.topk)));
    }
    return result;
  }

  const KeyFile& file_;
  const std::string& name_;
  const KeyFileGroup* property_ = nullptr;
};

KeyFileGroup group_of(const std::string& name,
                      const std::vector<std::pair<std::string, std::string>>& entries) {
  KeyFileGroup group{name, 0, {}};
  for (const auto& [key, value] : entries) group.entries.push_back({key, value, 0});
  return group;
}

std::string engine_name(const NvinferConfig& config) {
  constexpr const char* kModes[] = {"fp32", "int8", "fp16"};
  return fmt::format("{}_b{}_gpu0_{}.engine", config.onnx_file, config.batch, kModes[config.network_mode]);
}

}  // namespace

void check_parser_constants(const network::Model& model) {
  if (model.box_scale == postprocess::kNvinferBoxScale && model.box_offset == postprocess::kNvinferBoxOffset)
    return;
  throw Error(
      ExitCode::kRefused,
      fmt::format(
          "the model's boxes have the scale {} and the offset {}; DeepStream's parser assumes {} and {}",
          model.box_scale, model.box_offset, postprocess::kNvinferBoxScale, postprocess::kNvinferBoxOffset),
      model.network.name, "train with bbox { scale: 35 offset: 0.5 }, or export with --no-deepstream");
}

NvinferConfig deepstream_config(const network::Model& model, const DeepstreamOptions& options) {
  NvinferConfig config;
  config.onnx_file = kModelFile;
  config.labels_file = kLabelsFile;
  if (options.precision == Precision::kInt8) config.calibration_file = kCalibrationFile;
  config.network_mode = options.precision == Precision::kInt8      ? 1
                        : options.precision == Precision::kFloat16 ? 2
                                                                   : 0;
  config.batch = std::max(options.batch, 1);
  config.infer_dims = {model.network.input.channels, model.network.input.height, model.network.input.width};
  base::parse_float(kNetScaleFactor, &config.net_scale_factor);
  config.color_format = model.network.input.channels == 1 ? 2 : 0;
  config.keep_aspect_ratio = model.canvas == "letterbox";
  config.classes = static_cast<int>(model.class_names.size());
  config.mode =
      options.dbscan ? postprocess::NvinferClusterMode::kDbscan : postprocess::NvinferClusterMode::kNms;
  for (const std::size_t i : {1, 0})
    config.outputs.push_back(tensor_name(model.network, model.network.outputs.at(i)));
  MASKFIT_CHECK(options.thresholds.size() == model.class_names.size(), "{} thresholds",
                options.thresholds.size());
  for (const float threshold : options.thresholds) {
    postprocess::NvinferClass attributes;
    attributes.pre_cluster_threshold = threshold;
    attributes.nms_iou_threshold = options.nms_iou;
    attributes.eps = options.eps;
    attributes.min_boxes = 1;  // 0, nvinfer's default, switches DBSCAN off: every cell becomes an object
    attributes.dbscan_min_score = options.dbscan ? threshold : 0;
    config.class_attributes.push_back(attributes);
  }
  return config;
}

KeyFile to_key_file(const NvinferConfig& config) {
  std::vector<std::pair<std::string, std::string>> property = {{"gpu-id", "0"},
                                                               {"onnx-file", config.onnx_file},
                                                               {"model-engine-file", engine_name(config)},
                                                               {"labelfile-path", config.labels_file}};
  if (!config.calibration_file.empty()) property.emplace_back("int8-calib-file", config.calibration_file);
  const auto add = [&](const char* key, const std::string& value) { property.emplace_back(key, value); };
  add("network-mode", fmt::format("{}", config.network_mode));
  add("batch-size", fmt::format("{}", config.batch));
  add("infer-dims",
      fmt::format("{};{};{}", config.infer_dims[0], config.infer_dims[1], config.infer_dims[2]));
  float factor = 0;
  base::parse_float(kNetScaleFactor, &factor);
  add("net-scale-factor",
      config.net_scale_factor == factor ? kNetScaleFactor : fmt::format("{}", config.net_scale_factor));
  add("model-color-format", fmt::format("{}", config.color_format));
  add("network-type", "0");
  add("process-mode", "1");
  add("num-detected-classes", fmt::format("{}", config.classes));
  add("interval", "0");
  add("gie-unique-id", "1");
  add("maintain-aspect-ratio", config.keep_aspect_ratio ? "1" : "0");
  add("cluster-mode", fmt::format("{}", static_cast<int>(config.mode)));
  add("output-blob-names", fmt::format("{}", fmt::join(config.outputs, ";")));
  KeyFile file;
  file.groups.push_back(group_of("property", property));
  for (std::size_t c = 0; c < config.class_attributes.size(); ++c) {
    const postprocess::NvinferClass& a = config.class_attributes[c];
    file.groups.push_back(group_of(fmt::format("class-attrs-{}", c),
                                   {{"pre-cluster-threshold", fmt::format("{}", a.pre_cluster_threshold)},
                                    {"nms-iou-threshold", fmt::format("{}", a.nms_iou_threshold)},
                                    {"eps", fmt::format("{}", a.eps)},
                                    {"minBoxes", fmt::format("{}", a.min_boxes)},
                                    {"dbscan-min-score", fmt::format("{}", a.dbscan_min_score)},
                                    {"topk", fmt::format("{}", a.topk)}}));
  }
  return file;
}

NvinferConfig nvinfer_config_of(const KeyFile& file, const std::string& name_for_errors,
                                base::Findings* findings) {
  const ConfigReader reader(file, name_for_errors);
  const NvinferConfig config = reader.read();
  if (findings != nullptr) {
    for (const base::Finding& finding : reader.oddities()) findings->push_back(finding);
  }
  return config;
}

KeyFile deepstream_app_file(DeepstreamSource source, const NvinferConfig& config,
                            const std::string& config_file) {
  KeyFile file;
  file.groups.push_back(
      group_of("application", {{"enable-perf-measurement", "1"}, {"perf-measurement-interval-sec", "1"}}));
  file.groups.push_back(group_of("tiled-display", {{"enable", "0"}}));
  switch (source) {
    case DeepstreamSource::kFile:
      file.groups.push_back(group_of(
          "source0",
          {{"enable", "1"}, {"type", "3"}, {"uri", "file:///path/to/video.mp4"}, {"num-sources", "1"}}));
      break;
    case DeepstreamSource::kCamera:
      file.groups.push_back(group_of("source0", {{"enable", "1"},
                                                 {"type", "1"},
                                                 {"camera-width", "1280"},
                                                 {"camera-height", "720"},
                                                 {"camera-fps-n", "30"},
                                                 {"camera-fps-d", "1"},
                                                 {"camera-v4l2-dev-node", "0"}}));
      break;
    case DeepstreamSource::kRtsp:
      file.groups.push_back(group_of("source0", {{"enable", "1"},
                                                 {"type", "4"},
                                                 {"uri", "rtsp://user:password@camera:554/stream"},
                                                 {"num-sources", "1"},
                                                 {"latency", "200"},
                                                 {"rtsp-reconnect-interval-sec", "10"}}));
      break;
  }
  const bool live = source != DeepstreamSource::kFile;
  file.groups.push_back(group_of("streammux", {{"live-source", live ? "1" : "0"},
                                               {"batch-size", "1"},
                                               {"batched-push-timeout", "40000"},
                                               {"width", "1920"},
                                               {"height", "1080"}}));
  file.groups.push_back(group_of("sink0", {{"enable", "1"}, {"type", "2"}, {"sync", live ? "0" : "1"}}));
  file.groups.push_back(group_of("osd", {{"enable", "1"},
                                         {"border-width", "3"},
                                         {"text-size", "14"},
                                         {"text-color", "1;1;1;1"},
                                         {"text-bg-color", "0.2;0.2;0.2;1"},
                                         {"font", "Serif"}}));
  std::vector<std::pair<std::string, std::string>> gie = {{"enable", "1"},
                                                          {"model-engine-file", engine_name(config)},
                                                          {"batch-size", fmt::format("{}", config.batch)},
                                                          {"gie-unique-id", "1"},
                                                          {"config-file", config_file}};
  constexpr const char* kColors[] = {"0;1;0;1", "1;0;0;1", "1;1;0;1", "0;0.6;1;1"};
  for (int c = 0; c < config.classes; ++c)
    gie.emplace_back(fmt::format("bbox-border-color{}", c), kColors[c % 4]);
  file.groups.push_back(group_of("primary-gie", gie));
  file.groups.push_back(group_of("tests", {{"file-loop", "0"}}));
  return file;
}

}  // namespace maskfit::exporting
