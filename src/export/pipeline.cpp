#include "export/pipeline.h"

#include <fmt/ranges.h>
#include <set>

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace maskfit::exporting {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "maskfit pipeline";
constexpr int kVersion = 1;

Json input_json(const Pipeline& pipeline, const network::Model& model) {
  const network::Shape& in = model.network.input;
  Json resize = {
      {"mode", pipeline.canvas},
      {"filter", pipeline.canvas == "letterbox" ? "bilinear, antialiased" : "lanczos3, antialiased"},
      {"upright", "apply the EXIF orientation first"}};
  if (pipeline.canvas == "letterbox") {
    resize["placement"] =
        "one scale for both axes, min(width / w, height / h), sides rounded to whole pixels; top left corner";
    resize["fill"] = 128;
  }
  return {{"name", tensor_name(model.network, model.network.nodes.front().name)},
          {"layout", "NCHW"},
          {"type", "float32"},
          {"channels", in.channels},
          {"height", in.height},
          {"width", in.width},
          {"color", pipeline.color},
          {"range", {pipeline.range_low, pipeline.range_high}},
          {"from_byte", "value = byte / 255"},
          {"resize", resize}};
}

Json output_json(const Pipeline& pipeline, const network::Model& model) {
  const auto shapes = network::infer_shapes(model.network);
  const network::Shape grid = shapes.at(model.network.outputs.at(1));
  return {
      {"coverage", tensor_name(model.network, model.network.outputs.at(1))},
      {"boxes", tensor_name(model.network, model.network.outputs.at(0))},
      {"grid", {{"height", grid.height}, {"width", grid.width}}},
      {"box_scale", model.box_scale},
      {"box_offset", model.box_offset},
      {"decode",
       "cell (i, j) of class c, stride s = input size / grid size: x1 = i*s + offset - scale*b[4c], y1 = "
       "j*s + offset - "
       "scale*b[4c+1], x2 = i*s + offset + scale*b[4c+2], y2 = j*s + offset + scale*b[4c+3]; then below 0 "
       "becomes 0, and the size or more becomes size - 1"},
      {"clustering",
       {{"algorithm", "greedy NMS, class by class, by descending coverage"},
        {"iou_threshold", pipeline.nms_iou},
        {"confidence", "coverage of the cell, at least the threshold of its class"}}},
      {"back_to_picture", "divide by the scale of the resize, then cut to the picture"}};
}

}  // namespace

std::string pipeline_json(const Pipeline& pipeline, const network::Model& model) {
  Json classes = Json::array();
  for (std::size_t c = 0; c < pipeline.class_names.size(); ++c) {
    classes.push_back({{"name", pipeline.class_names[c]}, {"threshold", pipeline.thresholds.at(c)}});
  }
  const Json json = {{"format", kFormat},
                     {"format_version", kVersion},
                     {"model", pipeline.model_file},
                     {"precision", pipeline.precision},
                     {"input", input_json(pipeline, model)},
                     {"output", output_json(pipeline, model)},
                     {"classes", classes},
                     {"threshold_source", pipeline.threshold_source},
                     {"sha256", pipeline.digests}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Pipeline pipeline_from_json(const std::string& text, const std::string& name_for_errors) {
  Pipeline pipeline;
  try {
    const Json json = Json::parse(text);
    if (json.at("format") != kFormat || json.at("format_version").get<int>() > kVersion) {
      throw base::Error(base::ExitCode::kRefused, "no pipeline description that this maskfit reads",
                        name_for_errors, "export the bundle again");
    }
    json.at("model").get_to(pipeline.model_file);
    json.at("precision").get_to(pipeline.precision);
    const Json& input = json.at("input");
    pipeline.input = {input.at("channels").get<int>(), input.at("height").get<int>(),
                      input.at("width").get<int>()};
    input.at("color").get_to(pipeline.color);
    input.at("range").at(0).get_to(pipeline.range_low);
    input.at("range").at(1).get_to(pipeline.range_high);
    input.at("resize").at("mode").get_to(pipeline.canvas);
    json.at("output").at("clustering").at("iou_threshold").get_to(pipeline.nms_iou);
    for (const Json& entry : json.at("classes")) {
      pipeline.class_names.push_back(entry.at("name").get<std::string>());
      pipeline.thresholds.push_back(entry.at("threshold").get<float>());
    }
    json.at("threshold_source").get_to(pipeline.threshold_source);
    json.at("sha256").get_to(pipeline.digests);
  } catch (const Json::exception& error) {
    throw base::Error(base::ExitCode::kRefused,
                      fmt::format("the description cannot be read: {}", error.what()), name_for_errors,
                      "export the bundle again");
  }
  return pipeline;
}

base::Findings check_pipeline(const Pipeline& pipeline, const network::Model& model,
                              const std::string& name_for_errors) {
  base::Findings findings;
  const auto refuse = [&](const std::string& field, const std::string& what, const std::string& remedy) {
    findings.push_back({base::Severity::kRefused, name_for_errors, 0, field, what, remedy});
  };
  const network::Shape& in = model.network.input;
  const std::vector<int> wanted = {in.channels, in.height, in.width};
  if (pipeline.input == std::vector<int>{in.channels, in.width, in.height} && pipeline.input != wanted) {
    refuse("input", "height and width are swapped",
           fmt::format("write height {} and width {}", in.height, in.width));
  } else if (pipeline.input != wanted) {
    refuse("input", "not the model's input",
           fmt::format("write {} x {} x {}", in.channels, in.height, in.width));
  }
  if (in.channels == 3 && pipeline.color != "RGB") {
    refuse("input.color", fmt::format("{} pictures; the model was trained on RGB", pipeline.color),
           "write RGB");
  }
  if (pipeline.range_low != 0 || pipeline.range_high != 1) {
    refuse("input.range",
           fmt::format("pixels from {} to {}; the model was trained on 0 to 1", pipeline.range_low,
                       pipeline.range_high),
           "write [0, 1]");
  }
  if (pipeline.canvas != model.canvas) {
    refuse("input.resize.mode",
           fmt::format("'{}'; the model was trained with '{}'", pipeline.canvas, model.canvas),
           fmt::format("write {}", model.canvas));
  }
  if (pipeline.class_names != model.class_names) {
    const bool same = std::set<std::string>(pipeline.class_names.begin(), pipeline.class_names.end()) ==
                      std::set<std::string>(model.class_names.begin(), model.class_names.end());
    refuse("classes",
           same ? "the classes are in another order than the model's" : "the classes are not the model's",
           fmt::format("write {}", fmt::join(model.class_names, ", ")));
  }
  return findings;
}

}  // namespace maskfit::exporting
