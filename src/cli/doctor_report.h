#pragma once

// What `maskfit doctor` says, as text for people and as JSON for programs.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "hardware/advice.h"
#include "tensor/library.h"
#include "train/measure_speed.h"

namespace maskfit::cli {

// A measured estimate of training.
struct TrainingSpeed {
  train::SpeedEstimate estimate;
  std::string device;     // "cpu", "cuda"
  std::string precision;  // "fp32", "bf16"
};

struct DoctorReport {
  hardware::Machine machine;
  tensor::LibraryFacts library;
  std::vector<hardware::Advice> advice;
  std::optional<TrainingSpeed> speed;

  // Whether something stands in the way of training at all.
  bool fatal() const;
};

std::string to_text(const DoctorReport& report);
nlohmann::ordered_json to_json(const DoctorReport& report);

}  // namespace maskfit::cli
