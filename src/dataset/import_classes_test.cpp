// Class lists of the sources, their order, and classes that are not mapped.

#include "dataset/import_classes.h"

#include <array>
#include <cmath>
#include <map>

#include "base/error.h"
#include "dataset/export_labels.h"
#include "tests/support/import_fixture.h"

namespace maskfit::dataset {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ImportClassesTest : public ImportTest {
 protected:
  void coco(const std::string& categories) {
    picture("a.jpg");
    file("coco.json", fmt::format(R"({{"images": [{{"id": 1, "file_name": "a.jpg"}}], "categories": [{}],
      "annotations": [{{"id": 1, "image_id": 1, "category_id": 5, "bbox": [1, 2, 30, 40]}},
                      {{"id": 2, "image_id": 1, "category_id": 2, "bbox": [40, 2, 30, 40]}}]}})",
                                  categories));
  }
};

TEST_F(ImportClassesTest, CocoCategoriesKeepTheOrderOfTheirList) {
  coco(R"({"id": 5, "name": "no-mask"}, {"id": 9, "name": "never drawn"}, {"id": 2, "name": "mask"})");
  EXPECT_THAT(import().dataset.class_names, ElementsAre("no-mask", "mask"));
}

TEST_F(ImportClassesTest, TheOrderIsThatOfTheMappedNames) {
  coco(R"({"id": 5, "name": "zzz"}, {"id": 2, "name": "aaa"})");
  ImportOptions options;
  options.classes = ClassMap("zzz=mask,aaa=no-mask");
  EXPECT_THAT(import(options).dataset.class_names, ElementsAre("mask", "no-mask"));
}

TEST_F(ImportClassesTest, YoloNamesKeepTheirOrder) {
  picture("a.jpg");
  file("a.txt", "1 0.5 0.5 0.2 0.2\n0 0.2 0.2 0.1 0.1\n");
  file("data.yaml", "names: [no-mask, mask]\n");
  EXPECT_THAT(import().dataset.class_names, ElementsAre("no-mask", "mask"));
}

TEST_F(ImportClassesTest, NumbersOfSeveralFoldersMayMeanDifferentClasses) {
  for (const char* folder : {"one", "two"}) {
    picture(fmt::format("{}/a.jpg", folder));
    file(fmt::format("{}/a.txt", folder), "0 0.5 0.5 0.2 0.2\n");
  }
  try {
    import_folders({folder_ / "one", folder_ / "two"}, {});
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_THAT(error.hint(), HasSubstr("one/a.txt:1, 0 is drawn in"));
    EXPECT_THAT(error.hint(), HasSubstr("2 folders number their classes"));
  }
}

TEST_F(ImportClassesTest, ListsThatDisagreeAreNoOrder) {
  coco(R"({"id": 5, "name": "no-mask"}, {"id": 2, "name": "mask"})");
  picture("b.jpg");
  file("b.txt", "1 0.5 0.5 0.2 0.2\n0 0.2 0.2 0.1 0.1\n");
  file("classes.txt", "mask\nno-mask\n");
  EXPECT_THAT(import().dataset.class_names, ElementsAre("mask", "no-mask"));
}

// A class that only the second source has comes behind.
TEST_F(ImportClassesTest, ClassesWithoutAPlaceComeBehindSorted) {
  coco(R"({"id": 5, "name": "no-mask"}, {"id": 2, "name": "mask"})");
  picture("b.jpg");
  voc("b.xml", "helmet");
  ImportOptions options;
  options.classes = ClassMap("helmet");
  EXPECT_THAT(import(options).dataset.class_names, ElementsAre("no-mask", "mask", "helmet"));
}

// To every format and back: names, their order, and every file of the conversion accounted for.
TEST_F(ImportClassesTest, AConversionComesBackInItsOrder) {
  coco(R"({"id": 5, "name": "no-mask"}, {"id": 2, "name": "mask"})");
  Dataset data = import().dataset;
  for (const ExportFormat format :
       {ExportFormat::kKitti, ExportFormat::kVoc, ExportFormat::kYolo, ExportFormat::kCoco}) {
    const support::TempDir target;
    ExportOptions options;
    options.format = format;
    options.folder = target / "converted";
    export_labels(data, options);
    const ImportResult back = import_folders({options.folder}, {});
    EXPECT_THAT(back.dataset.class_names, ElementsAre("no-mask", "mask"));
    EXPECT_EQ(back.count(Outcome::kRefused), 0);
    ASSERT_EQ(back.dataset.samples.size(), 1u);
    EXPECT_EQ(back.dataset.samples[0].boxes.size(), 2u);
  }
}

// Report R8: numbers with gaps, and numbers from one on, through every format and back to COCO.
TEST_F(ImportClassesTest, NamesSurviveTheRoundWhateverTheirNumbers) {
  for (const auto& [mask, no_mask, helmet] : {std::array{3, 7, 90}, {1, 2, 3}, {2, 1, 0}}) {
    picture("a.jpg");
    file("coco.json", fmt::format(R"({{"images": [{{"id": 4, "file_name": "a.jpg"}}], "categories": [
        {{"id": {0}, "name": "mask"}}, {{"id": {1}, "name": "no-mask"}}, {{"id": {2}, "name": "helmet"}}],
        "annotations": [{{"id": 1, "image_id": 4, "category_id": {2}, "bbox": [1, 2, 10, 20]}},
                        {{"id": 2, "image_id": 4, "category_id": {0}, "bbox": [20, 2, 10, 20]}},
                        {{"id": 3, "image_id": 4, "category_id": {1}, "bbox": [40, 2, 10, 20]}}]}})",
                                  mask, no_mask, helmet));
    ImportOptions import_options;
    import_options.classes = ClassMap("helmet");
    Dataset data = import(import_options).dataset;
    const support::TempDir target;
    for (const ExportFormat format :
         {ExportFormat::kYolo, ExportFormat::kVoc, ExportFormat::kKitti, ExportFormat::kCoco}) {
      ExportOptions options;
      options.format = format;
      options.folder = target / std::to_string(static_cast<int>(format));
      export_labels(data, options);
      data = import_folders({options.folder}, import_options).dataset;
      ASSERT_EQ(data.samples.at(0).boxes.size(), 3u);
      std::map<float, std::string> by_place;
      for (const LabeledBox& box : data.samples[0].boxes)
        by_place[std::round(box.box_in_image.x1)] = box.class_name;
      EXPECT_THAT(by_place, ElementsAre(testing::Pair(1, "helmet"), testing::Pair(20, "mask"),
                                        testing::Pair(40, "no-mask")));
      EXPECT_THAT(data.class_names, ElementsAre("mask", "no-mask", "helmet"));
    }
  }
}

TEST_F(ImportClassesTest, AnUnknownClassIsToldBeforeAnyPictureIsDecoded) {
  for (int i = 0; i < 600; ++i) {
    file(fmt::format("{}.jpg", i), "\xFF\xD8\xFF damaged");
    voc(fmt::format("{}.xml", i), i % 2 == 0 ? "Mask" : "with_mask");
  }
  try {
    import();
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::ExitCode::kRefused);
    EXPECT_THAT(error.what(), HasSubstr("'with_mask' (300 boxes)"));
    EXPECT_THAT(error.hint(), HasSubstr("--classes with_mask=mask"));
  }
}

}  // namespace
}  // namespace maskfit::dataset
