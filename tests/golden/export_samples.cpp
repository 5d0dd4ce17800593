// Writes exported models of every kind with an input and our outputs, for judge_onnx.py:
// export_samples FOLDER:
//   NAME.onnx, NAME.input.f32, NAME.cov.f32, NAME.bbox.f32 (our executor), NAME.torch.cov.f32, ... (LibTorch,
//   real numbers)

// export_samples FOLDER bundle, for judge_bundle.py: bundle/, pictures/*.png, ours.tsv with our boxes by
// nvinfer's rules.

#include <ATen/ATen.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <span>

#include "base/error.h"
#include "base/files.h"
#include "deploy/picture_detector.h"
#include "export/executor.h"
#include "export/onnx_reader.h"
#include "export/onnx_writer.h"
#include "export/quantise.h"
#include "export/test_bundle.h"
#include "image/resize.h"
#include "model/detector.h"
#include "model/outputs.h"

namespace maskfit {
namespace {
namespace fs = std::filesystem;

using exporting::ExportedModel;
using exporting::Precision;

void write_floats(const fs::path& path, std::span<const float> values) {
  base::write_file(path, {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
}

void write_torch(const fs::path& folder, const std::string& name, const network::Network& network,
                 std::vector<float>& pixels) {
  model::Detector detector(network, "cpu", model::Precision::kFloat32);
  const at::Tensor input = at::from_blob(pixels.data(), {1, 3, 48, 64}, at::kFloat);
  const model::Outputs outputs = detector.forward(input, /*training=*/false);
  const at::Tensor cov = outputs.cov.contiguous(), bbox = outputs.bbox.contiguous();
  write_floats(folder / (name + ".torch.cov.f32"),
               {cov.data_ptr<float>(), static_cast<std::size_t>(cov.numel())});
  write_floats(folder / (name + ".torch.bbox.f32"),
               {bbox.data_ptr<float>(), static_cast<std::size_t>(bbox.numel())});
}

// `original`: the network as trained, where LibTorch is to be asked, too.
void write_sample(const fs::path& folder, const std::string& name, const ExportedModel& exported,
                  const network::Network* original, const exporting::OnnxOptions& options = {}) {
  const formats::OnnxModel onnx = exporting::to_onnx(exported, options);
  formats::write_onnx(folder / (name + ".onnx"), onnx);
  std::vector<float> pixels = exporting::test_pixels(7);
  write_floats(folder / (name + ".input.f32"), pixels);
  // What the file says, not what we meant to write.
  const exporting::Grids grids = exporting::Executor(exporting::from_onnx(onnx, name)).run(pixels);
  write_floats(folder / (name + ".cov.f32"), grids.coverage);
  write_floats(folder / (name + ".bbox.f32"), grids.box);
  if (original != nullptr) write_torch(folder, name, *original, pixels);
}

std::map<std::string, float> ranges_of(const ExportedModel& exported) {
  std::map<std::string, float> scales;
  exporting::Executor(exported).run(exporting::test_pixels(7), 1,
                                    [&](const network::Node& node, std::span<const float> values) {
                                      float largest = 1e-6f;
                                      for (const float value : values)
                                        largest = std::max(largest, std::fabs(value));
                                      scales[node.name] = largest / 127;
                                    });
  return scales;
}

void write_all(const fs::path& folder) {
  const ExportedModel trained = exporting::test_model({.fold = false}),
                      folded = exporting::test_model({.fold = true});
  write_sample(folder, "fp32", folded, &trained.model.network);
  write_sample(folder, "fp32_opset17_batch1", folded, &trained.model.network, {.opset = 17, .batch = 1});
  write_sample(folder, "fp32_opset11", folded, &trained.model.network, {.opset = 11});
  write_sample(folder, "fp32_batch_norm", trained, &trained.model.network);
  const exporting::TestModelOptions neck{.fold = false, .neck = true, .pool = true, .width = 0.25f};
  const ExportedModel with_neck = exporting::test_model(neck);
  write_sample(folder, "fp32_neck_pool", with_neck, &with_neck.model.network);
  const ExportedModel depthwise = exporting::test_model({.fold = false, .depthwise = true});
  write_sample(folder, "fp32_depthwise", depthwise, &depthwise.model.network);
  ExportedModel half = folded;
  half.precision = Precision::kFloat16;
  write_sample(folder, "fp16", half, nullptr);
  ExportedModel integers = folded;
  integers.precision = Precision::kInt8;
  integers.quantisation = exporting::place_quantisation(folded.model.network, ranges_of(folded), {});
  write_sample(folder, "int8", integers, nullptr);
  integers.quantisation =
      exporting::place_quantisation(folded.model.network, ranges_of(folded), {"conv1", "output_bbox"});
  write_sample(folder, "int8_mixed", integers, nullptr, {.opset = 19});
}

void write_bundle_and_boxes(const fs::path& folder) {
  exporting::BundleRequest request = exporting::test_request();
  for (const std::string& name : request.trained.class_names) {
    request.trained.postprocessing += fmt::format(
        "target_class_config {{ key: \"{}\" value {{ clustering_config {{ clustering_algorithm: NMS "
        "nms_iou_threshold: 0.4 }} }} }}\n",
        name);
  }
  // Random weights answer with boxes turned inside out; this makes them boxes.
  for (float& side : request.trained.network.weights.at("output_bbox/bias").values) side = 0.3f;
  for (float& weight : request.trained.network.weights.at("output_bbox/kernel").values) weight *= 0.1f;
  request.nms_iou = 0.4f;
  request.thresholds = {0.3f, 0.35f};
  exporting::write_bundle(folder / "bundle", exporting::bundle_files(request), /*replace=*/false);
  deploy::PictureDetector detector(exporting::read_exported(folder / "bundle/model.onnx"),
                                   {.rules = deploy::BoxRules::kNvinfer});
  const exporting::PictureSource pictures = exporting::test_pictures(6);
  std::string text;
  for (std::int64_t i = 0; i < pictures.count; ++i) {
    // Of another size than the input, so that the resize is part of the comparison.
    const image::Image picture = image::pad_to(pictures.at(i).canvas, {static_cast<int>(90 + 7 * i), 75}, 60);
    const std::string name = fmt::format("{}.png", i);
    image::write_image(folder / "pictures" / name, picture);
    const std::vector<boxes::Detections> found = detector.detect({&picture, 1});
    for (const boxes::Detection& d : found.front()) {
      text += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\n", name, request.trained.class_names[d.class_index],
                          d.confidence, d.box.x1, d.box.y1, d.box.x2, d.box.y2);
    }
  }
  base::write_file(folder / "ours.tsv", text);
}

}  // namespace
}  // namespace maskfit

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    std::fputs("usage: export_samples FOLDER [bundle]\n", stderr);
    return 2;
  }
  if (argc == 3) {
    maskfit::write_bundle_and_boxes(argv[1]);
  } else {
    maskfit::write_all(argv[1]);
  }
  return 0;
}
