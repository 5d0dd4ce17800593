#include "base/error.h"
#include "dataset/dataset.h"
#include "dataset/import.h"
#include "dataset/tfrecords.h"

namespace maskfit::dataset {
namespace fs = std::filesystem;

Dataset open_data(const fs::path& path, base::Findings* findings) {
  if (is_dataset(path)) return read_dataset(path);
  const std::string text = path.string();
  std::error_code ignored;
  if (const std::size_t at = text.rfind('@'); at != std::string::npos && !fs::exists(path, ignored)) {
    return read_tfrecords({text.substr(0, at), text.substr(at + 1), ""}, 0, findings);
  }
  ImportOptions options;
  options.classes = ClassMap::lower_case();
  options.decode_pictures = false;
  ImportResult result = import_folders({path}, options);
  if (findings != nullptr) findings->insert(findings->end(), result.findings.begin(), result.findings.end());
  return std::move(result.dataset);
}

}  // namespace maskfit::dataset
