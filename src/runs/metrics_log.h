#pragma once

// metrics.jsonl: every logged number of a run, one JSON object a line:
//   {"kind":"train","epoch":1,"step":40,"total_cost":0.0123,...}
//   {"kind":"validation","epoch":2,"step":80,"mAP":0.61,"AP/mask":0.7,...}
// epoch is 1-based, step counts finished optimiser steps since the start of the run. NaN and infinities are
// null.

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace maskfit::runs {

struct MetricsRecord {
  std::string kind;  // "train" or "validation"
  std::int64_t epoch = 0;
  std::int64_t step = 0;
  std::vector<std::pair<std::string, double>> values;  // in the order in which they were logged

  // NaN for a name that the record lacks.
  double value(const std::string& name) const;
};

class MetricsLog {
 public:
  explicit MetricsLog(std::filesystem::path path) : path_(std::move(path)) {}

  void append(const MetricsRecord& record) const;
  // All records. A last line that a kill tore is left out; a broken line before it throws base::Error
  // (kRefused) with file and line. No file: no records.
  std::vector<MetricsRecord> read() const;
  // Forgets what a resumed run is going to log again: records with a step over `step`.
  void drop_after(std::int64_t step) const;

 private:
  std::filesystem::path path_;
};

}  // namespace maskfit::runs
