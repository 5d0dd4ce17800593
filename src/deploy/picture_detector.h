#pragma once

// A model at work: pictures in, boxes out.

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "boxes/box.h"
#include "export/exported_model.h"
#include "image/image.h"
#include "model/detector.h"
#include "network/model_file.h"

namespace maskfit::deploy {

// Who turns grids into boxes: the clustering that the model was validated with, or DeepStream's nvinfer (its
// NMS, with the model's overlap), whose boxes a device shows.
enum class BoxRules { kModel, kNvinfer };
BoxRules box_rules_from_name(const std::string& name);  // model, nvinfer; throws base::Error (kUsage)

struct PictureDetectorOptions {
  std::string device = "cpu";  // "cpu", "cuda", "cuda:1"
  model::Precision precision = model::Precision::kFloat32;
  // Detections below this confidence are left out. Negative: per class the threshold that the model file
  // carries (the best F1 on its validation pictures), or none when it carries none.
  float confidence = -1;
  BoxRules rules = BoxRules::kModel;
};

// A model file, or an .onnx file of maskfit export; told apart by content. Throws base::Error (kRefused) for
// other files.
exporting::ExportedModel read_any_model(const std::filesystem::path& path);

class PictureDetector {
 public:
  // A model that works on 8-bit integers, or was exported in fp16, runs on the CPU in its own arithmetic
  // (export/executor.h), any other through LibTorch. Throws base::Error (kRefused) for a model whose
  // postprocessing cannot be read, (kUsage) for a device or precision that its arithmetic does not have, and
  // (kMachine) when the device is missing or its memory does not hold one picture's values.
  PictureDetector(exporting::ExportedModel model, const PictureDetectorOptions& options);
  PictureDetector(network::Model model, const PictureDetectorOptions& options);
  ~PictureDetector();
  PictureDetector(PictureDetector&&) noexcept;

  const std::vector<std::string>& class_names() const;
  // How many pictures of one call fit into the memory that was free at the start, at most; see
  // model/memory_need.h.
  std::int64_t largest_batch() const;
  // Detections of each picture in its own pixels, cut to it; over all classes by descending confidence. One
  // forward pass for all of them. Pictures may differ in size. Throws base::Error (kRefused) when the
  // network's outputs are not finite.
  std::vector<boxes::Detections> detect(std::span<const image::Image> pictures);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace maskfit::deploy
