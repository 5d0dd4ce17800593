#include "dataset/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "tests/support/import_fixture.h"

namespace maskfit::dataset {
namespace {
namespace fs = std::filesystem;

using boxes::Box;
using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(ImportTest, VocFolderBecomesSamples) {
  picture("images/a.jpg");
  voc("annotations/a.xml", "mask");
  picture("images/b.png");
  file("annotations/b.xml", "<annotation/>");
  const ImportResult result = import();
  EXPECT_THAT(ids(result), ElementsAre("images/a", "images/b"));
  const Sample& a = result.dataset.samples[0];
  EXPECT_EQ(a.width, 100);
  EXPECT_EQ(a.height, 80);
  EXPECT_TRUE(a.image.is_absolute());
  ASSERT_EQ(a.boxes.size(), 1u);
  EXPECT_EQ(a.boxes[0].box_in_image, (Box{10, 20, 30, 40}));
  EXPECT_EQ(a.boxes[0].class_name, "mask");
  EXPECT_TRUE(result.dataset.samples[1].boxes.empty());
  EXPECT_EQ(result.count(Outcome::kUsed), 4);
  EXPECT_THAT(result.decision, HasSubstr("Pascal VOC"));
}

TEST_F(ImportTest, KittiFolderBecomesSamplesWithAllFields) {
  picture("image_2/000.png");
  file("label_2/000.txt",
       "Mask 0.5 2 -1.5 1.5 2 30 40 1 2 3 4 5 6 7\nDontCare -1 -1 -10 50 10 60 20 -1 -1 -1 -1000 -1000 -1000 "
       "-10\n");
  const ImportResult result = import();
  EXPECT_EQ(result.decision, "KITTI labels for 1 pictures");
  const auto& boxes = result.dataset.samples[0].boxes;
  ASSERT_EQ(boxes.size(), 2u);
  EXPECT_EQ(boxes[0].class_name, "mask");
  EXPECT_EQ(boxes[0].kitti, (KittiExtras{0.5f, 2, -1.5f, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_TRUE(boxes[1].ignore);
  EXPECT_EQ(boxes[1].kitti.world_x, -1000);
  EXPECT_THAT(result.dataset.class_names, ElementsAre("mask"));
}

TEST_F(ImportTest, EveryFileHasItsFate) {
  picture("a.jpg");
  voc("a.xml", "mask");
  picture("lonely.jpg");
  voc("lost.xml", "mask");
  file("broken.jpg", "\xFF\xD8 nothing");
  voc("broken.xml", "mask");
  picture("unreadable.jpg");
  file("unreadable.xml", "<annotation>");
  picture("edge.jpg");
  voc("edge.xml", "mask", {90, 10, 101, 40});
  file("empty.png", "");
  file("notes.txt", "drawn by hand\n");
  file("table.csv", "a.jpg,1,2\n");
  const ImportResult result = import();
  EXPECT_THAT(ids(result), ElementsAre("a", "edge"));
  for (const char* used : {"a.jpg", "a.xml", "edge.jpg"}) EXPECT_EQ(outcome(result, used), "used") << used;
  EXPECT_EQ(outcome(result, "edge.xml"), "repaired");
  for (const char* refused : {"lonely.jpg", "lost.xml", "broken.jpg", "broken.xml", "unreadable.jpg",
                              "unreadable.xml", "empty.png", "notes.txt", "table.csv"}) {
    EXPECT_EQ(outcome(result, refused), "refused") << refused;
  }
  EXPECT_THAT(told(result, "broken.xml"), HasSubstr("its picture was refused"));
  EXPECT_THAT(told(result, "unreadable.jpg"), HasSubstr("its label was refused"));
  EXPECT_THAT(told(result, "unreadable.xml"), HasSubstr("not XML"));
  EXPECT_THAT(told(result, "lonely.jpg"), HasSubstr("no label of this name"));
  EXPECT_THAT(told(result, "notes.txt"), HasSubstr("neither a picture nor a label (text)"));
}

TEST_F(ImportTest, WronglyNamedPictureIsUsedAndReported) {
  picture("a.png");
  fs::rename(folder_ / "a.png", folder_ / "a.jpg");
  voc("a.xml", "mask");
  const ImportResult result = import();
  EXPECT_EQ(outcome(result, "a.jpg"), "repaired");
  EXPECT_THAT(told(result, "a.jpg"), HasSubstr("the content is png"));
}

TEST_F(ImportTest, DamagedPictureIsRefusedOnlyWhenDecoded) {
  picture("a.jpg");
  voc("a.xml", "mask");
  picture("cut.jpg");
  voc("cut.xml", "mask");
  const std::string bytes = base::read_file(folder_ / "cut.jpg");
  file("cut.jpg", bytes.substr(0, bytes.size() * 9 / 10));
  EXPECT_EQ(outcome(import(), "cut.jpg"), "refused");
  ImportOptions header_only;
  header_only.decode_pictures = false;
  EXPECT_EQ(outcome(import(header_only), "cut.jpg"), "used");
}

TEST_F(ImportTest, PictureWhoseBoxesAreAllUselessIsNoBackground) {
  picture("a.jpg");
  voc("a.xml", "mask");
  picture("b.jpg");
  voc("b.xml", "mask", {50, 50, 50, 54});
  picture("c.jpg");
  file("c.xml", "<annotation><object><name>mask</name></object></annotation>");
  const ImportResult result = import();
  EXPECT_THAT(ids(result), ElementsAre("a"));
  EXPECT_EQ(outcome(result, "b.jpg"), "refused");
  EXPECT_EQ(outcome(result, "c.jpg"), "refused");
}

TEST_F(ImportTest, PicturesWithoutLabelsAreBackgroundOnlyWhenAskedFor) {
  picture("a.jpg");
  voc("a.xml", "mask");
  picture("street.jpg");
  ImportOptions options;
  options.unlabelled_as_background = true;
  const ImportResult result = import(options);
  EXPECT_THAT(ids(result), ElementsAre("a", "street"));
  EXPECT_EQ(outcome(result, "street.jpg"), "used");
}

TEST_F(ImportTest, UnknownClassesAreAnErrorWithTheOptionToPaste) {
  picture("a.jpg");
  voc("a.xml", "with_mask");
  picture("b.jpg");
  voc("b.xml", "without_mask");
  try {
    import();
    FAIL() << "accepted";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::ExitCode::kRefused);
    EXPECT_STREQ(error.what(), "classes that are not mapped: 'with_mask' (1 box), 'without_mask' (1 box)");
    EXPECT_THAT(error.hint(), HasSubstr("--classes with_mask=mask,without_mask=no-mask "));
  }
}

TEST_F(ImportTest, MappedAndIgnoredClassesAreCounted) {
  picture("a.jpg");
  voc("a.xml", "With_Mask");
  picture("b.jpg");
  voc("b.xml", "worn_wrong");
  ImportOptions options;
  options.classes = ClassMap("with_mask=mask,worn_wrong=ignore");
  const ImportResult result = import(options);
  EXPECT_EQ(result.classes.at("With_Mask").at("mask"), 1);
  EXPECT_EQ(result.classes.at("worn_wrong").at("ignore"), 1);
  EXPECT_TRUE(result.dataset.samples[1].boxes[0].ignore);
  EXPECT_EQ(result.dataset.samples[1].boxes[0].class_name, "worn_wrong");
}

TEST_F(ImportTest, DifficultObjectsAreIgnoredUnlessAskedFor) {
  picture("a.jpg");
  voc("a.xml", "mask", {10, 20, 30, 40}, "<difficult>1</difficult>");
  EXPECT_TRUE(import().dataset.samples[0].boxes[0].ignore);
  ImportOptions options;
  options.difficult_as_object = true;
  EXPECT_FALSE(import(options).dataset.samples[0].boxes[0].ignore);
}

TEST_F(ImportTest, SplitFoldersBecomeSplits) {
  for (const char* split : {"train", "valid", "test"}) {
    picture(fmt::format("{}/images/a.jpg", split));
    voc(fmt::format("{}/labels/a.xml", split), "mask");
  }
  const ImportResult result = import();
  ASSERT_EQ(result.dataset.samples.size(), 3u);
  EXPECT_EQ(result.dataset.samples[0].split, "test");
  EXPECT_EQ(result.dataset.samples[1].split, "train");
  EXPECT_EQ(result.dataset.samples[2].split, "val");
}

TEST_F(ImportTest, TreeWithoutValidationPartGetsOneFromItsTrainingPictures) {
  for (int i = 0; i < 10; ++i) {
    picture(fmt::format("train/{}.jpg", i));
    voc(fmt::format("train/{}.xml", i), "mask");
  }
  picture("test/t.jpg");
  voc("test/t.xml", "mask");
  const auto counts = count_by_split(import().dataset);
  EXPECT_EQ(counts.at("val").samples, 2);
  EXPECT_EQ(counts.at("train").samples, 8);
  EXPECT_EQ(counts.at("test").samples, 1);
}

TEST_F(ImportTest, EverythingCanBePutIntoOneSplit) {
  picture("train/a.jpg");
  voc("train/a.xml", "mask");
  picture("val/b.jpg");
  voc("val/b.xml", "mask");
  ImportOptions options;
  options.into_split = "test";
  EXPECT_EQ(count_by_split(import(options).dataset).at("test").samples, 2);
}

TEST_F(ImportTest, EqualStemsWithDifferentEndingsStayApart) {
  picture("x/a.jpg");
  picture("x/a.png");
  file("x/y.txt", "");
  voc("x/a.xml", "mask");
  picture("x/b.jpg");
  voc("x/b.xml", "mask");
  EXPECT_THAT(ids(import()), ElementsAre("x/b"));
  ImportOptions options;
  options.from = LabelFormat::kVoc;
  options.unlabelled_as_background = true;
  fs::remove(folder_ / "x/a.xml");
  EXPECT_THAT(ids(import(options)), ElementsAre("x/a.jpg", "x/a.png", "x/b"));
}

TEST_F(ImportTest, AugmentedCopiesOfOnePictureFormAGroup) {
  for (const char* name : {"cat_jpg.rf.0123", "cat_jpg.rf.4567", "dog_jpg.rf.89ab"}) {
    picture(fmt::format("{}.jpg", name));
    voc(fmt::format("{}.xml", name), "mask");
  }
  const auto result = import();
  EXPECT_EQ(result.dataset.samples[0].group, "cat_jpg");
  EXPECT_EQ(result.dataset.samples[1].group, "cat_jpg");
  EXPECT_EQ(result.dataset.samples[2].group, "dog_jpg");
}

TEST_F(ImportTest, NameThatIsNotUtf8IsRefusedAndNotMangled) {
  picture("a.jpg");
  voc("a.xml", "mask");
  picture("caf\xE9.jpg");
  voc("caf\xE9.xml", "mask");
  const auto result = import();
  EXPECT_THAT(ids(result), ElementsAre("a"));
  EXPECT_THAT(told(result, "caf\xE9.jpg"), HasSubstr("not UTF-8"));
}

TEST_F(ImportTest, AwkwardNamesAreKept) {
  for (const char* name : {"sample (557)", "100% [x]", "\xE5\x8F\xA3\xE7\xBD\xA9", "a.b.c"}) {
    picture(fmt::format("{}.jpg", name));
    voc(fmt::format("{}.xml", name), "mask");
  }
  EXPECT_THAT(ids(import()),
              testing::UnorderedElementsAre("sample (557)", "100% [x]", "\xE5\x8F\xA3\xE7\xBD\xA9", "a.b.c"));
}

TEST_F(ImportTest, SeveralFoldersKeepTheirNamesInTheIds) {
  picture("one/a.jpg");
  voc("one/a.xml", "mask");
  picture("two/a.jpg");
  voc("two/a.xml", "mask");
  const auto result = import_folders({folder_ / "one", folder_ / "two/"}, {});
  EXPECT_THAT(ids(result), ElementsAre("one/a", "two/a"));
  EXPECT_THROW(import_folders({folder_ / "one", folder_ / "one"}, {}), base::Error);
}

TEST_F(ImportTest, FolderWithoutKnownLabelsSaysWhatIsThere) {
  picture("a.jpg");
  file("a.csv", "a.jpg,0.5,0.5,0.2,0.2\n");
  EXPECT_THAT([&] { import(); }, testing::ThrowsMessage<base::Error>(HasSubstr("found 1 .csv, 1 .jpg")));
}

TEST_F(ImportTest, NothingUsableIsAnErrorWithTheFirstReason) {
  voc("a.xml", "mask");
  EXPECT_THAT([&] { import(); },
              testing::ThrowsMessage<base::Error>(HasSubstr("none of 1 files could be used; the first: ")));
}

TEST_F(ImportTest, CopiedPicturesLieInTheDataset) {
  picture("train/a.jpg");
  voc("train/a.xml", "mask");
  ImportResult result = import();
  support::TempDir target;
  result.dataset.root = target.path();
  copy_pictures(result.dataset);
  EXPECT_EQ(result.dataset.samples[0].image, "images/train/a.jpg");
  EXPECT_EQ(base::read_file(target / "images/train/a.jpg"), base::read_file(folder_ / "train/a.jpg"));
}

TEST_F(ImportTest, OpenDataReadsFoldersAndDatasetsAlike) {
  picture("images/a.jpg");
  file("labels/a.txt", "With_Mask 0 0 0 1 2 30 40 0 0 0 0 0 0 0\n");
  Dataset from_folder = open_data(folder_.path());
  EXPECT_EQ(from_folder.samples[0].boxes[0].class_name, "with_mask");
  support::TempDir target;
  from_folder.root = target.path();
  write_dataset(from_folder, {}, "");
  EXPECT_EQ(digest(open_data(target.path())), digest(from_folder));
  EXPECT_THROW(open_data(folder_ / "nothing"), base::Error);
}

}  // namespace
}  // namespace maskfit::dataset
