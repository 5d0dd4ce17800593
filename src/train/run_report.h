#pragma once

// A run's report.html from what lies in its folder and the last validation.

#include <cstdint>
#include <string>
#include <vector>

#include "evaluate/evaluate.h"
#include "loader/picture_set.h"
#include "report/report.h"
#include "runs/metrics_log.h"

namespace maskfit::train {

// Losses, learning rate and AP over epochs, from metrics.jsonl.
void add_curves(const std::vector<runs::MetricsRecord>& records, const std::vector<std::string>& class_names,
                std::int64_t steps_per_epoch, report::Report* report);

// The evaluation, its `worst` most wrong pictures that have errors, and `examples` others, evenly spread over
// the set. results: of `pictures`, boxes in network pixels; pictures are shown as they were before they were
// fitted to the canvas.
void add_evaluation(const evaluate::Evaluation& evaluation,
                    const std::vector<evaluate::PictureResult>& results, const loader::PictureSet& pictures,
                    int worst, int examples, report::Report* report);

}  // namespace maskfit::train
