#include "runs/metrics_log.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

namespace maskfit::runs {
namespace {
using Json = nlohmann::ordered_json;

std::string to_line(const MetricsRecord& record) {
  Json line = {{"kind", record.kind}, {"epoch", record.epoch}, {"step", record.step}};
  for (const auto& [name, value] : record.values) {
    line[name] = std::isfinite(value) ? Json(value) : Json(nullptr);
  }
  return line.dump();
}

MetricsRecord from_json(const Json& line) {
  MetricsRecord record{line.at("kind"), line.at("epoch"), line.at("step"), {}};
  for (const auto& [name, value] : line.items()) {
    if (name == "kind" || name == "epoch" || name == "step") continue;
    record.values.emplace_back(
        name, value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>());
  }
  return record;
}

}  // namespace

double MetricsRecord::value(const std::string& name) const {
  for (const auto& [key, value] : values) {
    if (key == name) return value;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

void MetricsLog::append(const MetricsRecord& record) const {
  base::append_line(path_, to_line(record));
}

std::vector<MetricsRecord> MetricsLog::read() const {
  std::vector<MetricsRecord> records;
  std::error_code ignored;
  if (!std::filesystem::exists(path_, ignored)) return records;
  const std::vector<std::string> lines = base::split(base::read_file(path_), '\n');
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    try {
      records.push_back(from_json(Json::parse(lines[i])));
    } catch (const nlohmann::json::exception& error) {
      if (i + 1 == lines.size()) break;  // no line end after it: torn
      throw base::Error(base::ExitCode::kRefused, fmt::format("not a metrics record: {}", error.what()),
                        fmt::format("{}:{}", path_.string(), i + 1), "delete the line");
    }
  }
  return records;
}

void MetricsLog::drop_after(std::int64_t step) const {
  std::string kept;
  bool dropped = false;
  for (const MetricsRecord& record : read()) {
    if (record.step <= step) kept += to_line(record) + "\n";
    dropped = dropped || record.step > step;
  }
  std::error_code ignored;
  if (std::filesystem::exists(path_, ignored) &&
      (dropped || kept.size() != std::filesystem::file_size(path_))) {
    base::write_file(path_, kept);
  }
}

}  // namespace maskfit::runs
