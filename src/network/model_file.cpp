#include "network/model_file.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "formats/safetensors.h"
#include "network/check_reason.h"
#include "network/graph_json.h"

namespace maskfit::network {
namespace {

// The metadata keys of docs/model-format.md.
constexpr const char* kFormatKey = "format";
constexpr const char* kVersionKey = "format_version";
constexpr const char* kNetworkKey = "network";
constexpr const char* kClassesKey = "class_names";
constexpr const char* kCanvasKey = "canvas";
constexpr const char* kScaleKey = "box_scale";
constexpr const char* kOffsetKey = "box_offset";
constexpr const char* kPostprocessingKey = "postprocessing";
constexpr const char* kProvenanceKey = "provenance";

constexpr const char* kFormat = "maskfit model";
constexpr long long kVersion = 1;

// Reads metadata of one file; every refusal names the file.
class Metadata {
 public:
  Metadata(const std::map<std::string, std::string>& entries, const std::string& file)
      : entries_(entries), file_(file) {}

  [[noreturn]] void refuse(const std::string& what, const std::string& hint) const {
    throw base::Error(base::ExitCode::kRefused, what, file_, hint);
  }
  [[noreturn]] void refuse_damaged(const std::string& what) const {
    refuse(what, "the file was damaged or edited; take it from its source again");
  }

  const std::string& text(const char* key) const {
    const auto found = entries_.find(key);
    if (found == entries_.end()) refuse_damaged(fmt::format("the model file lacks its entry '{}'", key));
    return found->second;
  }

  float number(const char* key) const {
    float value = 0;
    if (!base::parse_float(text(key), &value)) {
      refuse_damaged(fmt::format("the entry '{}' is no number: '{}'", key, text(key)));
    }
    return value;
  }

  template <typename T>
  T json(const char* key) const {
    try {
      return nlohmann::json::parse(text(key)).get<T>();
    } catch (const nlohmann::json::exception& error) {
      refuse_damaged(fmt::format("the entry '{}' cannot be read: {}", key, error.what()));
    }
  }

  void check_format() const {
    const auto format = entries_.find(kFormatKey);
    if (format == entries_.end() || format->second != kFormat) {
      refuse("a safetensors file, but no maskfit model",
             "give the .safetensors file that `maskfit train` wrote; checkpoints and other tools' weights "
             "are no models");
    }
    long long version = 0;
    if (!base::parse_int(text(kVersionKey), &version))
      refuse_damaged("the version of the model file is no number");
    if (version > kVersion) {
      refuse(fmt::format("model files of version {} are newer than this maskfit, which reads {}", version,
                         kVersion),
             "update maskfit");
    }
  }

 private:
  const std::map<std::string, std::string>& entries_;
  const std::string& file_;
};

// Coverage channels of the network.
int class_count(const Network& network) {
  MASKFIT_CHECK(network.outputs.size() == 2, "a detector has two outputs, not {}", network.outputs.size());
  const auto shapes = infer_shapes(network);
  const int classes = shapes.at(network.outputs[1]).channels;
  MASKFIT_CHECK(shapes.at(network.outputs[0]).channels == 4 * classes, "{} box channels for {} classes",
                shapes.at(network.outputs[0]).channels, classes);
  return classes;
}

void check_model(const Model& model) {
  check_weights(model.network);
  const int classes = class_count(model.network);
  MASKFIT_CHECK(static_cast<int>(model.class_names.size()) == classes,
                "{} class names for {} coverage channels", model.class_names.size(), classes);
  std::set<std::string> names;
  for (const std::string& name : model.class_names) {
    MASKFIT_CHECK(!name.empty(), "a class has no name");
    MASKFIT_CHECK(names.insert(name).second, "two classes are called '{}'", name);
  }
  MASKFIT_CHECK(model.canvas == "stretch" || model.canvas == "letterbox",
                "the canvas '{}' is neither stretch nor letterbox", model.canvas);
  MASKFIT_CHECK(model.box_scale > 0 && std::isfinite(model.box_scale) && std::isfinite(model.box_offset),
                "the box scale {} is no positive number, or the offset {} none at all", model.box_scale,
                model.box_offset);
}

// One value that is not finite makes every output NaN, which looks like "nothing found".
void check_finite(const Network& network, const Metadata& metadata) {
  for (const auto& [name, array] : network.weights) {
    const auto bad = std::find_if_not(array.values.begin(), array.values.end(),
                                      [](float value) { return std::isfinite(value); });
    if (bad == array.values.end()) continue;
    metadata.refuse(fmt::format("the array '{}' holds {} at place {}: these weights find nothing", name, *bad,
                                bad - array.values.begin()),
                    "the training that made them was lost, or the file was damaged; take another model");
  }
}

}  // namespace

std::string confidence_threshold_key(const std::string& class_name) {
  return "confidence_threshold/" + class_name;
}

void write_model(const std::filesystem::path& path, const Model& model) {
  check_model(model);
  formats::Safetensors file;
  file.metadata = {{kFormatKey, kFormat},
                   {kVersionKey, fmt::format("{}", kVersion)},
                   {kNetworkKey, graph_to_json(model.network)},
                   {kClassesKey, nlohmann::json(model.class_names).dump()},
                   {kCanvasKey, model.canvas},
                   {kScaleKey, fmt::format("{}", model.box_scale)},
                   {kOffsetKey, fmt::format("{}", model.box_offset)},
                   {kPostprocessingKey, model.postprocessing},
                   {kProvenanceKey, nlohmann::json(model.provenance).dump()}};
  for (const auto& [name, array] : model.network.weights) {
    file.arrays.emplace(name, formats::array_of(std::span<const float>(array.values), array.shape));
  }
  formats::write_safetensors(path, file);
}

Model read_model(const std::filesystem::path& path) {
  const formats::Safetensors file = formats::read_safetensors(path);
  const std::string name = path.string();
  const Metadata metadata(file.metadata, name);
  metadata.check_format();
  Model model;
  model.network = graph_from_json(metadata.text(kNetworkKey), name);
  model.class_names = metadata.json<std::vector<std::string>>(kClassesKey);
  model.canvas = metadata.text(kCanvasKey);
  model.box_scale = metadata.number(kScaleKey);
  model.box_offset = metadata.number(kOffsetKey);
  model.postprocessing = metadata.text(kPostprocessingKey);
  model.provenance = metadata.json<std::map<std::string, std::string>>(kProvenanceKey);
  for (const auto& [array_name, array] : file.arrays) {
    model.network.weights[array_name] = {array.shape, formats::f32_values(file, array_name, name)};
  }
  try {
    check_model(model);
  } catch (const base::CheckFailed& error) {
    metadata.refuse_damaged("the parts of the model file do not agree: " + reason_of(error));
  }
  check_finite(model.network, metadata);
  return model;
}

}  // namespace maskfit::network
