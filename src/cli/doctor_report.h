#pragma once

// What `maskfit doctor` says, as text for people and as JSON for programs.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hardware/advice.h"
#include "tensor/library.h"

namespace maskfit::cli {

struct DoctorReport {
  hardware::Machine machine;
  tensor::LibraryFacts library;
  std::vector<hardware::Advice> advice;

  // Whether something stands in the way of training at all.
  bool fatal() const;
};

std::string to_text(const DoctorReport& report);
nlohmann::ordered_json to_json(const DoctorReport& report);

}  // namespace maskfit::cli
