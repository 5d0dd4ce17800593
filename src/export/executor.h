#pragma once

// An exported model at work on plain memory: the reference for what its file says. Real numbers in float32
// (rounded to float16 after every node for fp16); integers exactly as the Q/DQ graph defines them, int8 x
// int8 -> int32.

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "boxes/box.h"
#include "export/exported_model.h"
#include "postprocess/postprocess.h"

namespace maskfit::exporting {

// What a network says about one picture.
struct Grids {
  boxes::GridGeometry geometry;
  int classes = 0;
  std::vector<float> coverage;  // [classes][H][W] after the sigmoid
  std::vector<float> box;       // [classes][4][H][W]

  postprocess::OutputGrids view() const { return {geometry, classes, coverage, box}; }
};

// Sees the output of every node, in network order, before it is rounded to 8 bit.
using Tap = std::function<void(const network::Node& node, std::span<const float> values)>;

// Immutable: several threads may run pictures at once.
class Executor {
 public:
  // REQUIRES arrays as network::check_weights wants them.
  explicit Executor(const ExportedModel& exported);
  ~Executor();
  Executor(Executor&&) noexcept;

  // pixels [C][H][W], 0..1. threads: for this picture (0: all usable cores). REQUIRES as many pixels as the
  // input has.
  Grids run(std::span<const float> pixels, int threads = 0, const Tap& tap = {}) const;
  // One picture a thread where there are several.
  std::vector<Grids> run(const std::vector<std::span<const float>>& pictures) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace maskfit::exporting
