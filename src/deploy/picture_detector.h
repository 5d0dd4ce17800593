#pragma once

// A model file at work: pictures in, boxes out.

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "boxes/box.h"
#include "image/image.h"
#include "model/detector.h"
#include "network/model_file.h"

namespace maskfit::deploy {

struct PictureDetectorOptions {
  std::string device = "cpu";  // "cpu", "cuda", "cuda:1"
  model::Precision precision = model::Precision::kFloat32;
  // Detections below this confidence are left out. Negative: per class the threshold that the model file
  // carries (the best F1 on its validation pictures), or none when it carries none.
  float confidence = -1;
};

class PictureDetector {
 public:
  // Throws base::Error (kRefused) for a model whose postprocessing cannot be read, (kMachine) when the device
  // is missing or its memory does not hold one picture's values.
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
