// The imports of real folders, where they are at hand: the numbers and the faults that were found in them by
// other means.

#include "base/error.h"
#include "tests/support/import_fixture.h"

namespace maskfit::dataset {
namespace {

using testing::HasSubstr;

struct Expected {
  const char* folder;
  const char* classes;
  std::int64_t used, repaired, refused;
  std::map<std::string, std::int64_t> boxes;
  std::vector<const char*> told;  // each in some finding
};

class ImportRawFolders : public testing::TestWithParam<Expected> {};

TEST_P(ImportRawFolders, CountsAndFaults) {
  const fs::path data = support::shared_data();
  if (data.empty()) GTEST_SKIP() << "no ../shared/data beside the checkout";
  const Expected& expected = GetParam();
  ImportOptions options;
  options.classes = ClassMap(expected.classes);
  const ImportResult result = import_folders({data / "raw" / expected.folder}, options);
  std::int64_t present = 0;
  for (const auto& entry : fs::recursive_directory_iterator(data / "raw" / expected.folder))
    present += entry.is_regular_file();
  EXPECT_EQ(static_cast<std::int64_t>(result.files.size()), present);
  EXPECT_EQ(result.count(Outcome::kUsed), expected.used);
  EXPECT_EQ(result.count(Outcome::kRepaired), expected.repaired);
  EXPECT_EQ(result.count(Outcome::kRefused), expected.refused);
  std::map<std::string, std::int64_t> boxes;
  for (const auto& [split, counts] : count_by_split(result.dataset)) {
    for (const auto& [name, n] : counts.boxes) boxes[name] += n;
    if (counts.ignored > 0) boxes["ignored"] += counts.ignored;
  }
  EXPECT_EQ(boxes, expected.boxes);
  std::string all;
  for (const base::Finding& finding : result.findings) all += base::to_string(finding) + "\n";
  for (const char* told : expected.told) EXPECT_THAT(all, HasSubstr(told));
}

INSTANTIATE_TEST_SUITE_P(
    Raw, ImportRawFolders,
    testing::Values(
        Expected{"piyoki",
                 "No_Mask=no-mask",
                 326,
                 2,
                 8,
                 {{"mask", 93}, {"no-mask", 93}},
                 {"Mask281.gif: this is a GIF picture", "Mask039.jpg: there is no label", "trailing bytes"}},
        Expected{"haonanshi",
                 "face=no-mask",
                 132,
                 1,
                 0,
                 {{"mask", 24}, {"no-mask", 61}},
                 {"sample (1586).xml:197: box: [811, 506, 811, 510]"}},
        Expected{"macwinwin",
                 "0=mask,1=no-mask",
                 152,
                 2,
                 2,
                 {{"mask", 94}, {"no-mask", 82}},
                 {"there is no picture of this name", "46 trailing bytes"}},
        Expected{"roboflow-mask-wearing",
                 "0=mask,1=no-mask",
                 15,
                 15,
                 0,
                 {{"mask", 91}, {"no-mask", 5}},
                 {"its boxes are whole pixels of test_img_15.jpg and not of test_img_1.jpg",
                  "a YOLO label although it is named .jpg"}},
        Expected{"ilc2021",
                 "with_mask=mask,without_mask=no-mask,with_incorrect_mask=ignore",
                 289,
                 9,
                 6,
                 {{"ignored", 36}, {"mask", 303}, {"no-mask", 165}},
                 {"CMYK converted", "EXIF orientation 65537", "the content is png",
                  "there is no picture of this name"}},
        Expected{"andrewmvd",
                 "with_mask=mask,without_mask=no-mask,mask_weared_incorrect=ignore",
                 9,
                 21,
                 0,
                 {{"ignored", 9}, {"mask", 219}, {"no-mask", 50}},
                 {"16 bits a channel", "transparency", "reaches over the edge of the picture of 400 x 267"}}),
    [](const auto& info) {
      std::string name = info.param.folder;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

TEST(ImportRealData, FddbWithoutItsPicturesSaysWhatIsMissing) {
  const fs::path data = support::shared_data();
  if (data.empty()) GTEST_SKIP() << "no ../shared/data beside the checkout";
  EXPECT_THAT(
      [&] { import_folders({data / "raw/fddb"}, {}); },
      testing::ThrowsMessage<base::Error>(HasSubstr("FDDB annotations of 2845 pictures in 10 files")));
}

TEST(ImportRealData, Masks640HasTheBoxesThatItsReadmeCounts) {
  const fs::path data = support::shared_data();
  if (data.empty()) GTEST_SKIP() << "no ../shared/data beside the checkout";
  ImportOptions options;
  options.decode_pictures = false;
  const ImportResult result = import_folders({data / "masks640"}, options);
  const auto counts = count_by_split(result.dataset);
  EXPECT_EQ(counts.at("train").samples, 1122);
  EXPECT_EQ(counts.at("train").boxes,
            (std::map<std::string, std::int64_t>{{"mask", 1316}, {"no-mask", 1166}}));
  EXPECT_EQ(counts.at("val").samples, 280);
  EXPECT_EQ(counts.at("val").boxes, (std::map<std::string, std::int64_t>{{"mask", 353}, {"no-mask", 468}}));
}

}  // namespace
}  // namespace maskfit::dataset
