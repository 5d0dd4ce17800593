#pragma once

// TensorRT's calibration table: the text file that fixes the INT8 scale of every tensor.
//
//   TRT-8503-EntropyCalibration2      TRT-<major * 1000 + minor * 100 + patch>-<algorithm>
//   input_1:0: 3c010204               <tensor>: <bits of the float32 scale, hexadecimal, no leading zeros>
//
// scale = dynamic range / 127; a real number is about int8 * scale. TensorRT uses a table only when version
// and algorithm are its own, and then skips calibration altogether.

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace maskfit::formats {

struct CalibrationCache {
  int version = 8503;  // of TensorRT, as in the first line
  std::string algorithm = "EntropyCalibration2";
  std::vector<std::pair<std::string, float>> scales;  // by tensor, in the order of the file

  const float* find(const std::string& tensor) const;  // null when the table does not have it
  bool operator==(const CalibrationCache&) const = default;
};

// "8.5.3" -> 8503, "10.14.1" -> 101401: TensorRT 10 counts in steps of 100. Also takes "8503". Throws
// base::Error (kUsage).
int tensorrt_version(const std::string& text);

float scale_of_range(float dynamic_range);  // dynamic_range / 127, rounded once
std::string hex_of_scale(float scale);

std::string print_calibration_cache(const CalibrationCache& cache);
// Names may hold colons and blanks: a line is split at its last ": ". Throws base::Error (kRefused) with file
// and line.
CalibrationCache parse_calibration_cache(std::string_view text, const std::string& name_for_errors);

CalibrationCache read_calibration_cache(const std::filesystem::path& path);

}  // namespace maskfit::formats
