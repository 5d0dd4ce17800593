#pragma once

// The texts of a bundle: for the person on the device, and two programs to start from.

#include <string>

#include "export/bundle.h"

namespace maskfit::exporting {

std::string readme(const BundleRequest& request);
std::string engine_script(const BundleRequest& request, const NvinferConfig& config);
// Needs numpy, Pillow and onnxruntime; reads pipeline.json.
std::string python_example();
// Needs ONNX Runtime's C++ header only: a raw RGB picture of the input's size in, boxes out.
std::string cpp_example(const BundleRequest& request);

}  // namespace maskfit::exporting
