#pragma once

// The 8-bit part of maskfit export.

#include <filesystem>
#include <string>

#include "export/bundle.h"
#include "export/calibrate.h"
#include "export/pictures.h"

namespace maskfit::cli {

struct Int8Options {
  exporting::CalibrationMethod method = exporting::CalibrationMethod::kEntropy;
  std::filesystem::path data;  // dataset whose training split calibrates; may be empty with a tensorfile
  std::filesystem::path tensorfile;  // calibration data: read where it exists, else written
  std::int64_t pictures = 128;
  std::string float_layers = "none";  // "none", "auto", a number of layers, or names with commas
  double ap_points = 0.5;             // auto: until no more than this is lost
};

// Fills scales and float_layers of the request. validation: pictures to measure the loss on (auto needs
// them). Throws base::Error for calibration data that does not fit the model, for unknown layers, for no data
// at all.
void quantise_request(const Int8Options& options, const exporting::PictureSource& validation,
                      exporting::BundleRequest& request);

}  // namespace maskfit::cli
