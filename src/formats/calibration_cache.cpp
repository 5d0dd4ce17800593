#include "formats/calibration_cache.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

namespace maskfit::formats {
namespace {

using base::Error;
using base::ExitCode;

constexpr const char* kPrefix = "TRT-";

[[noreturn]] void refuse(const std::string& what, const std::string& file, int line) {
  throw Error(ExitCode::kRefused, what, fmt::format("{}:{}", file, line),
              "delete the table and export again; a table is never mended by hand");
}

void parse_header(std::string_view line, const std::string& file, CalibrationCache* cache) {
  const std::size_t dash = line.find('-', 4);
  const std::string_view number =
      dash == std::string_view::npos ? std::string_view() : line.substr(4, dash - 4);
  long long version = 0;
  if (!line.starts_with(kPrefix) || !base::parse_int(number, &version) || version <= 0 ||
      version > 10'000'000 || dash + 1 >= line.size()) {
    refuse(fmt::format("'{}' is not how a TensorRT calibration table begins", line.substr(0, 60)), file, 1);
  }
  cache->version = static_cast<int>(version);
  cache->algorithm = line.substr(dash + 1);
}

float parse_scale(std::string_view hex, const std::string& file, int line) {
  std::uint32_t bits = 0;
  const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), bits, 16);
  const float scale = std::bit_cast<float>(bits);
  if (error != std::errc() || end != hex.data() + hex.size() || !std::isfinite(scale) || scale < 0) {
    refuse(fmt::format("'{}' is no scale", hex.substr(0, 30)), file, line);
  }
  return scale;
}

}  // namespace

const float* CalibrationCache::find(const std::string& tensor) const {
  for (const auto& [name, scale] : scales) {
    if (name == tensor) return &scale;
  }
  return nullptr;
}

int tensorrt_version(const std::string& text) {
  std::vector<long long> parts;
  for (const std::string& part : base::split(text, '.')) {
    parts.push_back(0);
    if (!base::parse_int(part, &parts.back()) || parts.back() < 0 || parts.back() > 999'999) parts.clear();
    if (parts.empty()) break;
  }
  if (parts.size() == 1 && parts[0] >= 1000) return static_cast<int>(parts[0]);
  if (parts.size() != 3 || parts[1] > 99 || parts[2] > 99) {
    throw Error(ExitCode::kUsage, fmt::format("'{}' is no version of TensorRT", text), "--tensorrt",
                "give it as `dpkg -l | grep libnvinfer` shows it, e.g. 8.5.3");
  }
  const long long minors =
      parts[0] >= 10 ? 100 : 10;  // NV_TENSORRT_VERSION: 8.5.3 is 8503, 10.14.1 is 101401
  return static_cast<int>((parts[0] * minors + parts[1]) * 100 + parts[2]);
}

float scale_of_range(float dynamic_range) {
  return static_cast<float>(static_cast<double>(dynamic_range) / 127.0);
}

std::string hex_of_scale(float scale) {
  return fmt::format("{:x}", std::bit_cast<std::uint32_t>(scale));
}

std::string print_calibration_cache(const CalibrationCache& cache) {
  std::string text = fmt::format("{}{}-{}\n", kPrefix, cache.version, cache.algorithm);
  for (const auto& [name, scale] : cache.scales) text += fmt::format("{}: {}\n", name, hex_of_scale(scale));
  return text;
}

CalibrationCache parse_calibration_cache(std::string_view text, const std::string& name_for_errors) {
  CalibrationCache cache;
  int number = 0;
  for (std::string line : base::split(text, '\n')) {
    ++number;
    if (line.ends_with('\r')) line.pop_back();
    if (number == 1) {
      parse_header(line, name_for_errors, &cache);
      continue;
    }
    if (line.empty()) continue;
    const std::size_t colon = line.rfind(": ");
    if (colon == std::string::npos || colon == 0) {
      refuse(fmt::format("'{}' is no line 'tensor: scale'", line.substr(0, 60)), name_for_errors, number);
    }
    const std::string tensor = line.substr(0, colon);
    if (cache.find(tensor) != nullptr)
      refuse(fmt::format("the tensor '{}' comes twice", tensor), name_for_errors, number);
    cache.scales.emplace_back(tensor,
                              parse_scale(std::string_view(line).substr(colon + 2), name_for_errors, number));
  }
  return cache;
}

CalibrationCache read_calibration_cache(const std::filesystem::path& path) {
  return parse_calibration_cache(base::read_file(path), path.string());
}

}  // namespace maskfit::formats
