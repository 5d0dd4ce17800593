#include "audit/sheets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataset/synthetic.h"
#include "image/draw.h"
#include "tests/support/temp_dir.h"

namespace maskfit::audit {
namespace {

class Sheets : public testing::Test {
 protected:
  Sheets() {
    dataset::SyntheticOptions options;
    options.pictures = 24;
    options.size = {160, 128};
    options.max_face_height = 60;
    data_ = dataset::write_synthetic(options, folder_.path());
    sheet_.tiles = 8;
    sheet_.columns = 4;
    sheet_.tile_side = 80;
    sheet_.network.input = {160, 128};
  }
  static std::vector<std::string> names(const std::vector<Sheet>& sheets) {
    std::vector<std::string> all;
    for (const Sheet& sheet : sheets) all.push_back(sheet.name);
    return all;
  }

  support::TempDir folder_;
  dataset::Dataset data_;
  SheetOptions sheet_;
};

TEST_F(Sheets, OneAClassWithAFaceATile) {
  const std::vector<Sheet> sheets = sheets_by_class(data_, sheet_);
  EXPECT_THAT(names(sheets), testing::ElementsAre("class-mask", "class-no-mask"));
  EXPECT_GE(sheets[0].picture.width, 4 * 80);
  EXPECT_GE(sheets[0].picture.height, 2 * 80);
}

TEST_F(Sheets, TheSameSeedDrawsTheSameFaces) {
  const auto a = sheets_by_class(data_, sheet_), b = sheets_by_class(data_, sheet_);
  EXPECT_EQ(a[0].picture.pixels, b[0].picture.pixels);
  sheet_.seed = 7;
  EXPECT_NE(sheets_by_class(data_, sheet_)[0].picture.pixels, a[0].picture.pixels);
}

TEST_F(Sheets, AMissingPictureIsATileOfItsOwn) {
  std::filesystem::remove_all(folder_ / "images");
  EXPECT_EQ(sheets_by_size(data_, sheet_).size(), 1u);
  EXPECT_EQ(sheets_by_source(data_, find_sources(data_.samples, SourceRule::kNone), sheet_).size(), 1u);
}

TEST_F(Sheets, OneAFindingThatIsAboutPictures) {
  AuditOptions options;
  options.network = sheet_.network;
  data_.samples[0].boxes.clear();
  const auto found = audit(data_, options);
  EXPECT_THAT(names(sheets_of_findings(found, data_, sheet_)), testing::Contains("note-no-object"));
}

TEST_F(Sheets, TrainingSheetsShowWhatTheNetworkIsGiven) {
  loader::PictureSetOptions set_options;
  set_options.canvas = {160, 128};
  const auto chosen = loader::pictures_of(data_, "train");
  const loader::PictureSet pictures(chosen, {data_.class_names, {}}, set_options);
  loader::PlannerOptions planner_options;
  planner_options.batch = 4;
  planner_options.sources = {{0, pictures.size(), 1}};
  planner_options.augmentation.output = {160, 128};
  planner_options.epochs = 1;
  const loader::BatchPlanner planner(pictures, planner_options);
  targets::RasterShapes shapes;
  shapes.classes.resize(2);
  const TrainingEyes eyes{pictures, planner, shapes, {160, 128, 10, 8}, {}};
  const Sheet augmented = sheet_of_augmented(eyes, sheet_), targets = sheet_of_targets(eyes, sheet_);
  EXPECT_EQ(augmented.picture.width, targets.picture.width);
  EXPECT_NE(augmented.picture.pixels, targets.picture.pixels);
  EXPECT_GE(augmented.picture.height, 2 * 64);
}

}  // namespace
}  // namespace maskfit::audit
