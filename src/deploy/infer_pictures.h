#pragma once

// A detector over many picture files: what `maskfit infer` does.

#include <cstdint>
#include <functional>
#include <vector>

#include "base/finding.h"
#include "base/interrupt.h"
#include "deploy/picture_detector.h"
#include "deploy/picture_files.h"
#include "deploy/result_writer.h"

namespace maskfit::deploy {

struct InferSummary {
  std::int64_t pictures = 0;    // processed
  std::int64_t detections = 0;  // over all of them
  base::Findings refused;       // pictures that could not be read; the others were processed all the same
};

struct InferRun {
  int batch = 8;  // pictures a forward pass; fewer where memory does not allow it
  base::StopToken stop;
  std::function<void(std::int64_t done, std::int64_t total)> progress;
};

// Reads, detects and writes picture after picture, and detections.json at the end (also when it was stopped).
InferSummary infer_pictures(PictureDetector& detector, const std::vector<PictureFile>& files,
                            ResultWriter& writer, const InferRun& run = {});

}  // namespace maskfit::deploy
