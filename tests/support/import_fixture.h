#pragma once

// The folder that tests of the import fill and import.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "base/files.h"
#include "dataset/import.h"
#include "image/image.h"
#include "tests/support/temp_dir.h"

namespace maskfit::dataset {
namespace fs = std::filesystem;
using boxes::Box;

// A folder that is filled file by file.
class ImportTest : public testing::Test {
 protected:
  void picture(const std::string& name, int width = 100, int height = 80) {
    const image::Image grey{width, height, 3,
                            std::vector<std::uint8_t>(static_cast<std::size_t>(width * height * 3), 90)};
    file(name, name.ends_with(".png") ? image::encode_png(grey) : image::encode_jpeg(grey));
  }
  void voc(const std::string& name, const std::string& class_name, const Box& box = {10, 20, 30, 40},
           const std::string& extra = "") {
    file(name, fmt::format(
                   "<annotation><size><width>100</width><height>80</height></size>\n<object><name>{}</name>{}"
                   "<bndbox><xmin>{}</xmin><ymin>{}</ymin><xmax>{}</xmax><ymax>{}</ymax></bndbox></object></"
                   "annotation>",
                   class_name, extra, box.x1, box.y1, box.x2, box.y2));
  }
  // Without the sync to disk of base::write_file, which a hundred small test files need not wait for.
  void file(const std::string& name, const std::string& bytes) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }

  ImportResult import(const ImportOptions& options = {}) {
    ImportResult result = import_folders({folder_.path()}, options);
    check_accounts(result);
    return result;
  }

  // Every file once; a refused or repaired one has a finding that says why, a used one has none but warnings.
  void check_accounts(const ImportResult& result) {
    std::size_t present = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path()))
      present += entry.is_regular_file();
    EXPECT_EQ(result.files.size(), present);
    EXPECT_EQ(static_cast<std::size_t>(result.count(Outcome::kUsed) + result.count(Outcome::kRepaired) +
                                       result.count(Outcome::kRefused)),
              present);
    for (const FileRecord& record : result.files) {
      const auto told =
          std::count_if(result.findings.begin(), result.findings.end(), [&](const base::Finding& f) {
            return f.file == record.file && f.severity != base::Severity::kWarning;
          });
      EXPECT_EQ(told > 0, record.outcome != Outcome::kUsed) << record.file;
    }
  }

  std::string outcome(const ImportResult& result, const std::string& name) {
    for (const FileRecord& record : result.files) {
      if (record.file != (folder_ / name).string()) continue;
      return record.outcome == Outcome::kUsed       ? "used"
             : record.outcome == Outcome::kRepaired ? "repaired"
                                                    : "refused";
    }
    return "no record";
  }

  std::string told(const ImportResult& result, const std::string& name) {
    std::string text;
    for (const auto& finding : result.findings) {
      if (finding.file == (folder_ / name).string()) text += finding.what + "; " + finding.remedy + "\n";
    }
    return text;
  }

  std::vector<std::string> ids(const ImportResult& result) {
    std::vector<std::string> list;
    for (const Sample& sample : result.dataset.samples) list.push_back(sample.id);
    return list;
  }

  const Sample& sample(const ImportResult& result, const std::string& id) {
    const auto found = std::find_if(result.dataset.samples.begin(), result.dataset.samples.end(),
                                    [&](const Sample& s) { return s.id == id; });
    EXPECT_NE(found, result.dataset.samples.end()) << id;
    return *found;
  }

  support::TempDir folder_;
};

}  // namespace maskfit::dataset
