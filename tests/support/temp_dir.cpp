#include "tests/support/temp_dir.h"

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace maskfit::support {
namespace fs = std::filesystem;

TempDir::TempDir() {
  std::string pattern = (fs::temp_directory_path() / "maskfit-test-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot create " + pattern);
  path_ = pattern;
}

TempDir::~TempDir() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

fs::path source_dir() {
  return MASKFIT_SOURCE_DIR;
}

fs::path shared_data() {
  const fs::path path = source_dir() / ".." / "shared" / "data";
  return fs::exists(path) ? path : fs::path();
}

}  // namespace maskfit::support
