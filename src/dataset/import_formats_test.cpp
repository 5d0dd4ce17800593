// Imports of each format, and the fault reports from the field that an import can meet (their inputs are made
// here).

#include <atomic>
#include <set>

#include "base/error.h"
#include "tests/support/import_fixture.h"
#include "tests/support/mat_writer.h"

namespace maskfit::dataset {
namespace {

using support::mat_numbers;
using support::mat_text;
using testing::ElementsAre;
using testing::HasSubstr;

class ImportFormatsTest : public ImportTest {
 protected:
  std::string refusal(const ImportOptions& options = {}) {
    try {
      import(options);
    } catch (const base::Error& error) {
      return std::string(error.what()) + "\n" + error.hint();
    }
    return "";
  }
};

TEST_F(ImportFormatsTest, YoloWithNamesFromDataYaml) {
  picture("train/images/a.jpg");
  file("train/labels/a.txt", "1 0.5 0.5 0.2 0.5\n");
  picture("valid/images/b.jpg");
  file("valid/labels/b.txt", "");
  file("data.yaml", "train: ../train/images\nnc: 2\nnames: ['no-mask', 'mask']\n");
  const auto result = import();
  EXPECT_THAT(ids(result), ElementsAre("train/images/a", "valid/images/b"));
  EXPECT_EQ(result.dataset.samples[0].boxes[0].box_in_image, (Box{40, 20, 60, 60}));
  EXPECT_EQ(result.dataset.samples[0].boxes[0].class_name, "mask");
  EXPECT_TRUE(result.dataset.samples[1].boxes.empty());
  EXPECT_EQ(result.dataset.samples[1].split, "val");
  EXPECT_EQ(outcome(result, "data.yaml"), "used");
  EXPECT_THAT(result.decision, HasSubstr("class names from data.yaml"));
}

TEST_F(ImportFormatsTest, YoloWithoutNamesIsAnErrorThatSaysWhereToLook) {
  picture("a.jpg");
  file("a.txt", "0 0.5 0.5 0.2 0.5\n1 0.2 0.2 0.1 0.1\n");
  const std::string text = refusal();
  EXPECT_THAT(text, HasSubstr("'0' (1 box), '1' (1 box)"));
  EXPECT_THAT(text, HasSubstr("--classes 0=mask,1=no-mask"));
  EXPECT_THAT(text, HasSubstr("a.txt:2"));
  ImportOptions options;
  options.classes = ClassMap("0=mask,1=no-mask");
  EXPECT_EQ(import(options).dataset.samples[0].boxes[1].class_name, "no-mask");
}

TEST_F(ImportFormatsTest, YoloNumberBeyondTheNamesIsAnUnknownClass) {
  picture("a.jpg");
  file("a.txt", "7 0.5 0.5 0.2 0.5\n");
  file("classes.txt", "mask\n");
  EXPECT_THAT(refusal(), HasSubstr("'7' (1 box)"));
}

TEST_F(ImportFormatsTest, VocIsBelievedAndYoloCompared) {
  picture("a.jpg");
  voc("a.xml", "mask");
  file("a.txt", "0 0.2 0.375 0.2 0.25\n");
  picture("b.jpg");
  voc("b.xml", "mask");
  file("b.txt", "0 0.2 0.375 0.2 0.25\n0 0.8 0.8 0.1 0.1\n");
  picture("c.jpg");
  voc("c.xml", "mask");
  file("c.txt", "1 0.2 0.375 0.2 0.25\n");
  file("mask.names", "Mask\nNo_Mask\n");
  const auto result = import();
  EXPECT_THAT(result.decision, HasSubstr("3 YOLO labels of the same pictures were compared"));
  EXPECT_EQ(sample(result, "b").boxes.size(), 1u);
  EXPECT_EQ(told(result, "a.txt"), "");
  EXPECT_THAT(told(result, "b.txt"), HasSubstr("has 2 boxes"));
  EXPECT_THAT(told(result, "c.txt"), HasSubstr("another class"));
}

TEST_F(ImportFormatsTest, TheOtherLabelStepsInForADamagedOne) {
  picture("a.jpg");
  file("a.xml", "<annotation><object>");
  file("a.txt", "0 0.2 0.375 0.2 0.25\n");
  file("obj.names", "mask\n");
  const auto result = import();
  EXPECT_EQ(outcome(result, "a.xml"), "refused");
  EXPECT_EQ(outcome(result, "a.txt"), "used");
  EXPECT_EQ(outcome(result, "a.jpg"), "used");
}

TEST_F(ImportFormatsTest, LabelsWithAPicturesEndingAndAnotherName) {
  picture("test/images/test_img_4.jpg");
  file("test/labels/test_label_4.jpg", "0 0.5 0.5 0.2 0.5");
  file("classes.txt", "mask");
  const auto result = import();
  EXPECT_THAT(ids(result), ElementsAre("test/images/test_img_4"));
  EXPECT_EQ(outcome(result, "test/labels/test_label_4.jpg"), "repaired");
  EXPECT_THAT(told(result, "test/labels/test_label_4.jpg"),
              HasSubstr("a YOLO label although it is named .jpg"));
}

TEST_F(ImportFormatsTest, SplitListsPutPicturesIntoSplits) {
  for (const char* name : {"a", "b", "c"}) {
    picture(fmt::format("JPEGImages/{}.jpg", name));
    voc(fmt::format("Annotations/{}.xml", name), "mask");
  }
  file("ImageSets/Main/train.txt", "a\nb\n");
  file("ImageSets/Main/val.txt", "c\n");
  const auto result = import();
  EXPECT_EQ(sample(result, "JPEGImages/c").split, "val");
  EXPECT_EQ(sample(result, "JPEGImages/a").split, "train");
  EXPECT_EQ(outcome(result, "ImageSets/Main/val.txt"), "used");
}

TEST_F(ImportFormatsTest, Labelme) {
  picture("a.jpg");
  file("a.json",
       R"({"imagePath": "a.jpg", "imageWidth": 100, "imageHeight": 80, "shapes": [{"label": "mask",
       "shape_type": "rectangle", "points": [[30, 40], [10, 20]]}]})");
  EXPECT_EQ(import().dataset.samples[0].boxes[0].box_in_image, (Box{10, 20, 30, 40}));
}

// Report R8: numbers of categories are keys, names are what counts.
TEST_F(ImportFormatsTest, CocoCategoriesAreNamesWhateverTheirNumbers) {
  picture("train/a.jpg");
  picture("valid/b.jpg");
  const std::string categories =
      R"("categories": [{"id": 3, "name": "mask"}, {"id": 7, "name": "no-mask"}, {"id": 90, "name": "helmet"}])";
  file("train/_annotations.coco.json",
       R"({"images": [{"id": 1, "file_name": "a.jpg", "width": 100, "height": 80},
                      {"id": 5, "file_name": "missing.jpg", "width": 100, "height": 80}],)" +
           categories + R"(, "annotations": [
       {"id": 1, "image_id": 1, "category_id": 90, "bbox": [1, 2, 10, 20]},
       {"id": 1, "image_id": 1, "category_id": 3, "bbox": [10, 20, 30, 40]},
       {"id": 2, "image_id": 1, "category_id": 7, "bbox": [50, 20, 30, 40], "iscrowd": 1,
        "segmentation": {"counts": [0, 10], "size": [80, 100]}},
       {"id": 3, "image_id": 8, "category_id": 3, "bbox": [1, 2, 3, 4]},
       {"id": 4, "image_id": 1, "category_id": 4, "bbox": [1, 2, 3, 4]}]})");
  file("valid/_annotations.coco.json",
       R"({"images": [{"id": 1, "file_name": "b.jpg"}],)" + categories + R"(, "annotations": []})");
  ImportOptions options;
  options.classes = ClassMap("helmet=ignore");
  const auto result = import(options);
  EXPECT_THAT(ids(result), ElementsAre("train/a", "valid/b"));
  const auto& boxes = sample(result, "train/a").boxes;
  ASSERT_EQ(boxes.size(), 3u);
  EXPECT_EQ(boxes[0].class_name, "helmet");
  EXPECT_EQ(boxes[1].class_name, "mask");
  EXPECT_EQ(boxes[1].box_in_image, (Box{10, 20, 40, 60}));
  EXPECT_EQ(boxes[2].class_name, "no-mask");
  EXPECT_TRUE(boxes[2].ignore) << "a crowd";
  const std::string text = told(result, "train/_annotations.coco.json");
  EXPECT_THAT(text, HasSubstr("missing.jpg: there is no such picture"));
  EXPECT_THAT(text, HasSubstr("annotation 3 is for image 8"));
  EXPECT_THAT(text, HasSubstr("annotation 4 has category 4"));
  EXPECT_THAT(text, HasSubstr("annotation id 1 occurs twice"));
  EXPECT_EQ(outcome(result, "train/_annotations.coco.json"), "repaired");
  EXPECT_EQ(outcome(result, "valid/_annotations.coco.json"), "used");
}

// Report R6, with the rules.
TEST_F(ImportFormatsTest, WiderTextWithAllThatItsRecordsHold) {
  for (const char* name : {"a", "b", "c"}) picture(fmt::format("WIDER_train/images/0--Parade/{}.jpg", name));
  file("wider_face_split/wider_face_train_bbx_gt.txt",
       "0--Parade/a.jpg\r\n0\r\n0 0 0 0 0 0 0 0 0 0\r\n0--Parade/b.jpg\r\n0\r\n0--Parade/c.jpg\r\n5\r\n"
       "10 10 20 20 0 0 0 0 0 0\r\n40 10 0 20 0 0 0 0 0 0\r\n40 10 20 20 0 0 0 1 0 0\r\n40 40 20 20 0 0 0 0 "
       "2 0\r\n"
       "70 40 9 20 2 0 0 0 0 0\r\n");
  ImportOptions options;
  options.rules.max_blur = 1;
  auto result = import(options);
  EXPECT_EQ(result.dataset.samples.size(), 3u);
  const auto& boxes = sample(result, "WIDER_train/images/0--Parade/c").boxes;
  ASSERT_EQ(boxes.size(), 4u) << "the one without width is none";
  EXPECT_FALSE(boxes[0].ignore);
  for (std::size_t i = 1; i < 4; ++i) EXPECT_TRUE(boxes[i].ignore) << i;
  EXPECT_EQ(result.ignored.at("WIDER FACE: marked as invalid"), 1);
  EXPECT_EQ(result.ignored.at("WIDER FACE: occlusion above 0"), 1);
  EXPECT_EQ(result.ignored.at("WIDER FACE: blur above 1"), 1);
  options.rules.max_blur = 2;
  options.rules.min_face = 10;
  result = import(options);
  EXPECT_EQ(result.ignored.at("a side below 10 pixels"), 1);
  options.rules = rules_of(RulePreset::kReference);
  EXPECT_THAT(refusal(options), HasSubstr("does not take pictures of this event"));
}

TEST_F(ImportFormatsTest, MafaKeepsFacesThatAreNeitherAsRegionsToIgnore) {
  picture("test-images/images/test_00000001.jpg");
  file("MAFA-Label-Test/LabelTestAll.mat",
       support::mat_file(support::mat_struct(
           {"name", "label"},
           {mat_text("test_00000001.jpg"),
            mat_numbers({{10, 10, 20, 20, 1, 0, 0, 9, 9, 1, 3, 1, 1, 3, -1, -1, -1, -1},
                         {40, 10, 20, 20, 2, -1, -1, -1, -1, -1, -1, 1, 1, 3, -1, -1, -1, -1},
                         {70, 10, 20, 20, 1, 0, 0, 9, 9, 1, 2, 1, 1, 3, -1, -1, -1, -1}}),
            mat_text("test_00000002.jpg"), mat_numbers({})},
           "LabelTest")));
  const auto result = import();
  const auto& boxes = result.dataset.samples[0].boxes;
  ASSERT_EQ(boxes.size(), 3u);
  EXPECT_EQ(boxes[0].class_name, "mask");
  EXPECT_EQ(boxes[1].class_name, "no-mask");
  EXPECT_FALSE(boxes[1].ignore);
  EXPECT_TRUE(boxes[2].ignore);
  EXPECT_THAT(told(result, "MAFA-Label-Test/LabelTestAll.mat"),
              HasSubstr("test_00000002.jpg: there is no such picture"));
}

TEST_F(ImportFormatsTest, MatlabFilesThatCannotBeReadAreRefusedByName) {
  picture("a.jpg");
  voc("a.xml", "mask");
  file("wider_face_train.mat", "MATLAB 7.3 MAT-file, written by a new version");
  EXPECT_THAT(told(import(), "wider_face_train.mat"), HasSubstr("version 7.3"));
}

// Report R3: the angle is in radians, and the box is the ellipse's.
TEST_F(ImportFormatsTest, FddbEllipsesBecomeTheirTightBoxesCutToThePicture) {
  picture("2002/07/img_1.jpg", 400, 300);
  picture("2003/07/img_1.jpg", 400, 300);
  const std::string ellipses =
      "2002/07/img_1\n2\n60 40 0.0 100 120 1\n60.9 40.9 0.785398163 30.9 40.9 1\n"
      "2003/07/img_1\n1\n55.5 33.25 -1.0471975511965976 210.5 99.5 1\n";
  file("FDDB-folds/FDDB-fold-01-ellipseList.txt", ellipses);
  file("FDDB-folds/FDDB-fold-01.txt", "2002/07/img_1\n2003/07/img_1\n");
  const auto result = import();
  EXPECT_THAT(ids(result), ElementsAre("2002/07/img_1", "2003/07/img_1"));
  const auto& first = result.dataset.samples[0].boxes;
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(first[0].box_in_image, (Box{40, 80, 160, 160}));
  EXPECT_EQ(first[1].box_in_image.x1, 0);
  EXPECT_NEAR(first[1].box_in_image.x2, 82.773f, 0.01f);
  EXPECT_NEAR(result.dataset.samples[1].boxes[0].box_in_image.y1, 48.6416f, 0.01f);
  EXPECT_EQ(outcome(result, "FDDB-folds/FDDB-fold-01.txt"), "used");
  EXPECT_THAT(told(result, "FDDB-folds/FDDB-fold-01-ellipseList.txt"), HasSubstr("cut to the picture"));
}

TEST_F(ImportFormatsTest, AnnotationsWithoutTheirPicturesSayWhatIsMissing) {
  file("FDDB-fold-01-ellipseList.txt", "2002/07/img_1\n1\n60 40 0.0 100 120 1\n2002/07/img_2\n0\n");
  const std::string text = refusal();
  EXPECT_THAT(text, HasSubstr("FDDB annotations of 2 pictures in 1 files"));
  EXPECT_THAT(text, HasSubstr("2002/07/img_1"));
  EXPECT_THAT(text, HasSubstr("originalPics.tar.gz"));
}

// Report R7: field counts of KITTI lines.
TEST_F(ImportFormatsTest, KittiLinesOfOtherLengthsAreRefusedWithTheirLine) {
  const std::string box = " 0 0 0 10 20 30 40 0 0 0 0 0 0 0";
  picture("a.jpg");
  file("a.txt", "Mask" + box + "\nmask" + box + " 0.9\nmask" + box +
                    " 1 2\nmask 0 0 0 10 20 30 40 0 0 0 0 0 0\nno mask" + box +
                    "\nmask 0 0 0 10,5 20 30 40 0 0 0 0 0 0 0\nDontCare" + box + "\n");
  const auto result = import();
  ASSERT_EQ(result.dataset.samples.size(), 1u);
  EXPECT_EQ(result.dataset.samples[0].boxes.size(), 3u);
  std::vector<int> lines;
  for (const auto& finding : result.findings) {
    if (finding.severity == base::Severity::kRefused) lines.push_back(finding.line);
  }
  EXPECT_THAT(lines, ElementsAre(3, 4, 5, 6));
}

// Report R4: three files of one stem in one set, and one of them in a second.
TEST_F(ImportFormatsTest, EqualStemsBecomeDistinctSamplesWhereLabelsTellThemApart) {
  picture("one/a.png");
  picture("one/a.jpg");
  picture("one/A.JPG");
  file("one/a.png.xml", "<annotation/>");
  file("one/a.jpg.xml", "<annotation/>");
  file("one/A.xml", "<annotation/>");
  picture("two/a.jpg");
  file("two/a.xml", "<annotation/>");
  ImportResult result = import();
  EXPECT_THAT(ids(result), ElementsAre("one/A", "one/a.jpg", "one/a.png", "two/a"));
  support::TempDir target;
  result.dataset.root = target.path();
  copy_pictures(result.dataset);
  std::set<std::string> targets;
  for (const Sample& s : result.dataset.samples) targets.insert(s.image.string());
  EXPECT_THAT(targets,
              ElementsAre("images/one/A.JPG", "images/one/a.jpg", "images/one/a.png", "images/two/a.jpg"));
}

// Report R1: awkward folders, and one that is missing.
TEST_F(ImportFormatsTest, FoldersWithBlanksAndBracketsAndAMissingOne) {
  const std::string deep = "MAFA Dataset [v1]/" + std::string(120, 'x') + "/50% (copy)/";
  picture(deep + "a.jpg");
  voc(deep + "a.xml", "mask");
  EXPECT_EQ(import().count(Outcome::kUsed), 2);
  try {
    import_folders({folder_.path(), folder_ / "Kaggle Set"}, {});
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.where(), (folder_ / "Kaggle Set").string());
  }
}

// What a second import needs to decode again: nothing, or what a same-length edit changed.
TEST_F(ImportFormatsTest, SecondImportDecodesWhatChanged) {
  picture("a.jpg");
  voc("a.xml", "mask");
  picture("b.jpg");
  voc("b.xml", "mask");
  support::TempDir target;
  ImportOptions options;
  options.cache = target / "cache.jsonl";
  const auto first = import(options);
  EXPECT_EQ(first.decoded, 2);
  EXPECT_EQ(import(options).decoded, 0);
  // The same length and time, other content.
  const auto time = fs::last_write_time(folder_ / "b.jpg");
  std::string bytes = base::read_file(folder_ / "b.jpg");
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  file("b.jpg", bytes);
  fs::last_write_time(folder_ / "b.jpg", time);
  voc("a.xml", "sack");  // as long as "mask"
  options.classes = ClassMap("sack=no-mask");
  const auto second = import(options);
  EXPECT_EQ(second.decoded, 1);
  EXPECT_EQ(second.dataset.samples[0].boxes[0].class_name, "no-mask");
  base::write_file(options.cache, "torn {");
  EXPECT_EQ(import(options).decoded, 2);
}

TEST_F(ImportFormatsTest, AStoppedImportKeepsWhatItHasSeen) {
  for (int i = 0; i < 20; ++i) {
    picture(fmt::format("{}.jpg", i));
    voc(fmt::format("{}.xml", i), "mask");
  }
  support::TempDir target;
  std::atomic<bool> flag = false;
  ImportOptions options;
  options.cache = target / "cache.jsonl";
  options.stop = base::StopToken(&flag);
  options.progress = [&](std::int64_t done, std::int64_t) { flag = done >= 5; };
  try {
    import(options);
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::ExitCode::kInterrupted);
  }
  flag = false;
  options.progress = {};
  const auto result = import(options);
  EXPECT_EQ(result.dataset.samples.size(), 20u);
  EXPECT_LE(result.decoded, 15);
}

}  // namespace
}  // namespace maskfit::dataset
