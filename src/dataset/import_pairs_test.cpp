// Which labels, lists and annotation files an import takes for which pictures.

#include "tests/support/import_fixture.h"

namespace maskfit::dataset {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using ImportPairsTest = ImportTest;

// trainval.txt and the lists of one class are Pascal VOC's, too.
TEST_F(ImportPairsTest, OtherListsOfPicturesAreNoStrayFiles) {
  for (const char* name : {"a b", "000002"}) {
    picture(fmt::format("JPEGImages/{}.jpg", name));
    voc(fmt::format("Annotations/{}.xml", name), "mask");
  }
  file("ImageSets/Main/trainval.txt", "a b\n000002\n");
  file("ImageSets/Main/mask_val.txt", "a b -1\n000002  1\n");
  file("ImageSets/Main/val.txt", "000002  1\n");
  file("ImageSets/Layout/notes.txt", "a b was taken in May\n");
  const auto result = import();
  EXPECT_EQ(sample(result, "JPEGImages/000002").split, "val");
  EXPECT_EQ(outcome(result, "ImageSets/Main/trainval.txt"), "used");
  EXPECT_EQ(outcome(result, "ImageSets/Main/mask_val.txt"), "used");
  EXPECT_EQ(outcome(result, "ImageSets/Layout/notes.txt"), "refused");
}

TEST_F(ImportPairsTest, CsvOfRoboflowAndTensorflow) {
  picture("train/a.jpg");
  picture("train/b.jpg");
  picture("valid/a.jpg");
  file("train/_annotations.csv",
       "filename,width,height,class,xmin,ymin,xmax,ymax\na.jpg,100,80,mask,10,20,30,40\n"
       "a.jpg,100,80,no-mask,50,20,80,40\nb.jpg,,,,,,,\ngone.jpg,100,80,mask,1,2,3,4\n");
  file("valid/_annotations.csv",
       "filename,width,height,class,xmin,ymin,xmax,ymax\na.jpg,100,80,mask,0,0,30,40\n");
  const auto result = import();
  EXPECT_THAT(ids(result), ElementsAre("train/a", "train/b", "valid/a"));
  EXPECT_EQ(sample(result, "train/a").boxes[1].box_in_image, (Box{50, 20, 80, 40}));
  EXPECT_EQ(sample(result, "train/b").boxes.size(), 0u);
  EXPECT_EQ(sample(result, "valid/a").split, "val");
  EXPECT_THAT(told(result, "train/_annotations.csv"), HasSubstr("gone.jpg: there is no such picture"));
  EXPECT_THAT(result.decision, HasSubstr("CSV labels for 3 pictures"));
}

// As published: labels that were numbered apart from their pictures.
TEST_F(ImportPairsTest, LabelsOffByOneArePairedByTheSizesTheyWereDrawnOn) {
  const std::pair<int, int> sizes[] = {{101, 80}, {97, 89}, {120, 67}, {83, 71}};
  for (int i = 0; i < 4; ++i) {
    const auto [w, h] = sizes[i];
    picture(fmt::format("images/img_{}.jpg", i), w, h);
    // Drawn on picture i, stored under the next number.
    file(fmt::format("labels/label_{}.txt", (i + 1) % 4),
         fmt::format("0 {} {} {} {}\n", 30.5 / w, 40.5 / h, 21.0 / w, 31.0 / h));
  }
  file("classes.txt", "mask\n");
  const auto result = import();
  ASSERT_EQ(result.dataset.samples.size(), 4u);
  for (const Sample& found : result.dataset.samples)
    EXPECT_NEAR(found.boxes[0].box_in_image.width(), 21, 1e-3) << found.id;
  EXPECT_THAT(told(result, "labels/label_1.txt"),
              HasSubstr("whole pixels of img_0.jpg and not of img_1.jpg"));
}

TEST_F(ImportPairsTest, ALabelOfAnotherPicturesSizeIsNotPairedByItsNumber) {
  picture("images/img_1.jpg", 101, 80);
  picture("images/img_2.jpg", 97, 89);
  file("labels/label_1.txt", fmt::format("0 {} {} {} {}\n", 30.5 / 97, 40.5 / 89, 21.0 / 97, 31.0 / 89));
  file("labels/label_2.txt", fmt::format("0 {} {} {} {}\n", 20.5 / 97, 30.5 / 89, 21.0 / 97, 31.0 / 89));
  file("classes.txt", "mask\n");
  const auto result = import();
  EXPECT_THAT(ids(result), ElementsAre("images/img_2"));
  EXPECT_EQ(outcome(result, "labels/label_1.txt"), "refused");
  EXPECT_THAT(told(result, "images/img_1.jpg"), HasSubstr("of another size"));
}

}  // namespace
}  // namespace maskfit::dataset
