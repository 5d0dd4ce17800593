#include "cli/picture_size.h"

#include "base/error.h"
#include "base/text.h"

namespace maskfit::cli {

image::Size picture_size(const std::string& text, const std::string& option) {
  constexpr long long kLimit = 1 << 16;
  const std::vector<std::string> sides = base::split(text, 'x');
  long long width = 0, height = 0;
  if (sides.size() != 2 || !base::parse_int(sides[0], &width) || !base::parse_int(sides[1], &height) ||
      width < 1 || height < 1 || width > kLimit || height > kLimit) {
    throw base::Error(base::ExitCode::kUsage, fmt::format("'{}' is not a size", text), option,
                      "write it as width x height in pixels, e.g. 960x544");
  }
  return {static_cast<int>(width), static_cast<int>(height)};
}

}  // namespace maskfit::cli
