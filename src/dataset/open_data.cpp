#include "base/error.h"
#include "dataset/dataset.h"
#include "dataset/import.h"

namespace maskfit::dataset {
namespace fs = std::filesystem;

Dataset open_data(const fs::path& path, base::Findings* findings) {
  if (is_dataset(path)) return read_dataset(path);
  ImportOptions options;
  options.classes = ClassMap::lower_case();
  options.decode_pictures = false;
  ImportResult result = import_folders({path}, options);
  if (findings != nullptr) findings->insert(findings->end(), result.findings.begin(), result.findings.end());
  return std::move(result.dataset);
}

}  // namespace maskfit::dataset
