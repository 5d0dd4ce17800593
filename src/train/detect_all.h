#pragma once

// A network over every picture of a set, each exactly once: what validation, `evaluate` and the report work
// on.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/interrupt.h"
#include "evaluate/diagnose.h"
#include "evaluate/evaluate.h"
#include "loader/picture_set.h"
#include "model/detector.h"
#include "ranks/group.h"
#include "spec/experiment.pb.h"
#include "targets/rasterise.h"
#include "train/pixels.h"

namespace maskfit::train {

struct DetectOptions {
  int batch = 16;  // pictures a forward pass; the last one may be smaller
  std::vector<std::string> class_names;
  spec::PostProcessingConfig postprocessing;
  targets::BoxCoding coding;
  bool reference_exact = false;  // the reference's quirks of the evaluation path (docs/numerics.md)
  base::StopToken stop;          // asked between batches; throws base::Error (kInterrupted)
  // Called with the outputs of pictures [first, first + count): the task cost of that batch, a scalar, the
  // mean over its pictures. Empty: no cost.
  std::function<at::Tensor(const model::Outputs& outputs, std::int64_t first, std::int64_t count)> cost;
  // Where the pictures come from; null: made from the set as they are needed.
  const PlainPixels* pixels = nullptr;
  std::function<void(std::int64_t done, std::int64_t total)> progress;
  ranks::Group* group = nullptr;  // whose ranks share the pictures; null: nobody does
};

struct DetectedSet {
  // In the order of the set. Boxes in network pixels; detections cut to the part of the canvas that the
  // picture covers.
  std::vector<evaluate::PictureResult> pictures;
  // How strong the network's signal was, one a class; for a diagnosis.
  std::vector<evaluate::ClassSignal> signals;
  boxes::GridGeometry geometry;
  // The first picture for which an output of the network is NaN or infinite; "" when there is none. Such
  // outputs give no detections, which must not pass for "nothing is there".
  std::string non_finite_picture;
  double cost = 0;                        // mean over the pictures; 0 without a cost function
  double median_seconds_per_picture = 0;  // forward and clustering, without decoding; median over the batches
};

// With a group every rank calls it, and rank 0 gets the same bits as one rank alone would; elsewhere the
// result is a part.
DetectedSet detect_all(model::Detector& detector, const loader::PictureSet& pictures,
                       const DetectOptions& options);

// The same in two halves, so that a training on a GPU can go on while the second one runs on other threads.
class PendingDetections {
 public:
  // Runs the network over all pictures and keeps its answers on the device, without waiting for them.
  PendingDetections(model::Detector& detector, const loader::PictureSet& pictures, DetectOptions options);
  ~PendingDetections();
  PendingDetections(PendingDetections&&) noexcept;

  // Waits for the device and makes boxes of the answers; on any thread, once. The set must still be there.
  // Nothing is timed: median_seconds_per_picture is 0.
  DetectedSet finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace maskfit::train
