#pragma once

#include <string>
#include <vector>

#include "audit/audit.h"

namespace maskfit::cli {

// A model file as the audit's second pair of eyes. Its classes are matched to the dataset's by name. Throws
// base::Error (kRefused) when they have none in common.
audit::DetectFaces eyes_of_model(const std::string& model_file, const std::string& device,
                                 const std::vector<std::string>& class_names);

}  // namespace maskfit::cli
