#include "base/error.h"

namespace maskfit::base {

void check_failed(const char* expression, const char* file, int line, const std::string& values) {
  throw CheckFailed(fmt::format("internal check failed: {} ({}:{}): {}", expression, file, line, values));
}

}  // namespace maskfit::base
