#pragma once

#include <string>

#include "image/image.h"

namespace maskfit::cli {

// "960x544". Throws base::Error (kUsage) naming the option.
image::Size picture_size(const std::string& text, const std::string& option);

}  // namespace maskfit::cli
