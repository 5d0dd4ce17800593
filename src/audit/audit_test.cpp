// Each finding on a dataset that has exactly that fault.

#include "audit/audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "audit/page.h"
#include "audit/repair.h"
#include "audit/to_json.h"
#include "base/error.h"
#include "base/files.h"
#include "dataset/test_pictures.h"
#include "image/draw.h"
#include "tests/support/temp_dir.h"

namespace maskfit::audit {
namespace {

using dataset::flipped;
using dataset::scene;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class AuditTest : public testing::Test {
 protected:
  AuditTest() {
    data_.root = folder_.path();
    data_.class_names = {"mask", "no-mask"};
  }

  dataset::Sample& add(const std::string& id, const std::string& bytes, image::Size size,
                       const std::string& split) {
    base::write_file(folder_ / (id + ".jpg"), bytes);
    dataset::Sample sample;
    sample.id = id;
    sample.image = id + ".jpg";
    sample.width = size.width;
    sample.height = size.height;
    sample.split = split;
    sample.boxes = {box({40, 40, 100, 120}, "mask"), box({200, 40, 260, 120}, "no-mask")};
    data_.samples.push_back(sample);
    return data_.samples.back();
  }
  dataset::Sample& add(const std::string& id, const image::Image& picture,
                       const std::string& split = "train") {
    return add(id, image::encode_jpeg(picture, 90), {picture.width, picture.height}, split);
  }
  // Pictures a0.. to train on and b0.. to validate on, without a fault but their small number.
  void add_good(int n = 4) {
    for (int i = 0; i < n; ++i) {
      add(fmt::format("a{}x", i), scene(i));
      add(fmt::format("b{}x", i), scene(100 + i), "val");
    }
  }
  static dataset::LabeledBox box(const boxes::Box& at, const std::string& name, bool ignore = false) {
    dataset::LabeledBox labeled;
    labeled.box_in_image = at;
    labeled.class_name = name;
    labeled.ignore = ignore;
    return labeled;
  }

  Audit run(AuditOptions options = {}) {
    dataset::normalise(data_);
    options.network.input = {320, 240};
    return audit(data_, options);
  }
  static std::vector<std::string> kinds(const Audit& audit) {
    std::vector<std::string> names;
    for (const Issue& issue : audit.issues) names.emplace_back(info(issue.kind).name);
    return names;
  }
  static const Issue& issue(const Audit& audit, Kind kind) {
    for (const Issue& candidate : audit.issues) {
      if (candidate.kind == kind) return candidate;
    }
    ADD_FAILURE() << "no finding " << info(kind).name;
    static const Issue none;
    return none;
  }
  dataset::Sample& sample(const std::string& id) {
    return *std::find_if(data_.samples.begin(), data_.samples.end(),
                         [&](const auto& s) { return s.id == id; });
  }

  support::TempDir folder_;
  dataset::Dataset data_;
};

TEST_F(AuditTest, AGoodSetHasNoErrorAndOnlyWarnsOfItsSmallNumbers) {
  add_good();
  const Audit audit = run();
  EXPECT_TRUE(audit.ready());
  EXPECT_THAT(kinds(audit), testing::ElementsAre("few-validated", "class-rare"));
}

TEST_F(AuditTest, BoxFaults) {
  add_good();
  data_.samples[0].boxes = {box({10, 10, 10, 50}, "mask"),        box({300, 50, 350, 90}, "mask"),
                            box({400, 50, 450, 90}, "mask"),      box({20, 100, 80, 180}, "mask"),
                            box({20, 100, 81, 180}, "mask"),      box({120, 100, 180, 180}, "mask"),
                            box({120, 101, 180, 180}, "no-mask"), box({5, 5, 7, 20}, "mask"),
                            box({100, 20, 110, 80}, "mask"),      box({0, 0, 320, 240}, "no-mask")};
  const Audit audit = run();
  EXPECT_EQ(issue(audit, Kind::kBoxEmpty).count(), 1);
  EXPECT_EQ(issue(audit, Kind::kBoxOutside).count(), 2);
  EXPECT_THAT(issue(audit, Kind::kBoxOutside).examples[0].text, HasSubstr("wholly outside"));
  EXPECT_THAT(issue(audit, Kind::kBoxRepeated).examples[0].boxes, testing::ElementsAre(3, 4));
  EXPECT_THAT(issue(audit, Kind::kBoxTwoClasses).examples[0].boxes, testing::ElementsAre(5, 6));
  EXPECT_EQ(issue(audit, Kind::kBoxSpeck).count(), 1);
  EXPECT_EQ(issue(audit, Kind::kBoxElongated).count(), 1);
  EXPECT_EQ(issue(audit, Kind::kBoxHuge).count(), 1);
}

TEST_F(AuditTest, CrowdsAndEmptyPicturesAreNotes) {
  add_good();
  data_.samples[0].boxes.clear();
  data_.samples[1].boxes.assign(25, box({0, 0, 1, 1}, "mask", true));
  const Audit audit = run();
  EXPECT_EQ(issue(audit, Kind::kNoObject).count(), 2);
  EXPECT_EQ(issue(audit, Kind::kBoxCrowd).count(), 1);
  EXPECT_TRUE(audit.ready());
}

TEST_F(AuditTest, PictureFaults) {
  add_good();
  add("gone", scene(20));
  std::filesystem::remove(folder_ / "gone.jpg");
  add("cut", image::encode_jpeg(scene(21), 90).substr(0, 3000), {320, 240}, "train");
  add("other-size", scene(22)).width = 321;
  add("flat", image::filled({320, 240}, {100, 100, 100}));
  add("tiny", scene(23, {96, 72})).boxes.clear();
  add("grey", [] {
    image::Image grey = scene(24);
    for (std::size_t i = 0; i < grey.pixels.size(); i += 3)
      grey.pixels[i + 1] = grey.pixels[i + 2] = grey.pixels[i];
    return grey;
  }());
  add("ribbon", image::resize_antialias(scene(25), {400, 100}));
  const Audit audit = run();
  EXPECT_FALSE(audit.ready());
  EXPECT_THAT(kinds(audit),
              testing::IsSupersetOf({"picture-missing", "picture-unreadable", "picture-size-differs",
                                     "picture-uniform", "picture-grey", "picture-elongated"}));
  EXPECT_EQ(issue(audit, Kind::kPictureGrey).count(), 2);  // "flat" has no colour, either
}

TEST_F(AuditTest, CopiesLeaksAndContradictions) {
  add_good();
  const std::string bytes = image::encode_jpeg(scene(0), 90);
  add("copy-in-val", bytes, {320, 240}, "val");
  add("near-in-val", image::resize_antialias(scene(1), {240, 180}), "val").boxes = {
      box({30, 30, 75, 90}, "mask"), box({150, 30, 195, 90}, "no-mask")};
  add("turned", flipped(scene(2))).boxes = {box({220, 40, 280, 120}, "mask"),
                                            box({60, 40, 120, 120}, "no-mask")};
  add("contradicts", image::encode_jpeg(scene(3), 90), {320, 240}, "train").boxes[0].class_name = "no-mask";
  const Audit audit = run();
  EXPECT_EQ(issue(audit, Kind::kLeakSame).count(), 1);
  EXPECT_EQ(issue(audit, Kind::kLeakNear).count(), 1);
  EXPECT_EQ(issue(audit, Kind::kDuplicateNear).count(), 1);
  EXPECT_THAT(issue(audit, Kind::kDuplicateNear).examples[0].text, HasSubstr("mirrored"));
  EXPECT_THAT(issue(audit, Kind::kLabelsContradict).examples[0].text, HasSubstr("mask here is no-mask on"));
  EXPECT_THAT(kinds(audit), Not(Contains("labels-differ")));
  EXPECT_FALSE(audit.ready());
}

TEST_F(AuditTest, ALeakOfOneInAThousandOnlyWarns) {
  const std::string tiny = image::encode_jpeg(scene(1, {64, 64}), 90);
  for (int i = 0; i < 150; ++i) add(fmt::format("v{}x", i), tiny, {64, 64}, "val");
  add("t", image::encode_jpeg(scene(2, {64, 64}), 90), {64, 64}, "train");
  add("u", image::encode_jpeg(scene(2, {64, 64}), 90), {64, 64}, "val");
  const Audit audit = run();
  EXPECT_EQ(issue(audit, Kind::kLeakSame).level, Level::kWarning);
  EXPECT_TRUE(audit.ready());
}

TEST_F(AuditTest, NearCopiesWithOtherLabelsAreAWarning) {
  add_good();
  add("again", image::resize_antialias(scene(2), {240, 180})).boxes = {box({30, 30, 75, 90}, "mask")};
  const Audit audit = run();
  EXPECT_THAT(issue(audit, Kind::kLabelsDiffer).examples[0].text, HasSubstr("a no-mask box is missing on a"));
  EXPECT_TRUE(audit.ready());
}

TEST_F(AuditTest, SourcesThatTellTheClassOrLieInOneSplit) {
  for (int i = 0; i < 40; ++i) {
    add(fmt::format("left/{}x", i), scene(i, {96, 72})).boxes = {box({10, 10, 30, 40}, "mask")};
    add(fmt::format("right/{}x", i), scene(200 + i, {96, 72}), i < 20 ? "train" : "val").boxes = {
        box({10, 10, 40, 40}, i == 0 ? "mask" : "no-mask")};
  }
  const Audit audit = run();
  EXPECT_THAT(issue(audit, Kind::kSourceLacksClass).examples[0].text,
              HasSubstr("left has 40 boxes, none of them no-mask"));
  EXPECT_EQ(issue(audit, Kind::kSourceTellsClass).count(), 2);
  EXPECT_THAT(issue(audit, Kind::kSourceOneSplit).examples[0].text,
              HasSubstr("all 40 pictures of left are in train"));
  EXPECT_EQ(issue(audit, Kind::kSourceBoxStyle).count(), 2);
  EXPECT_THAT(kinds(audit), Contains("split-classes"));
  EXPECT_THAT(kinds(audit), Contains("class-not-validated"));
}

TEST_F(AuditTest, SharedPicturesShowHowSourcesDrawBoxes) {
  for (int i = 0; i < 6; ++i) {
    add(fmt::format("wide/{}x", i), scene(i)).boxes = {box({30, 30, 110, 130}, "mask")};
    add(fmt::format("tight/{}x", i), image::resize_antialias(scene(i), {300, 225})).boxes = {
        box({37.5f, 37.5f, 93.75f, 112.5f}, "mask")};
  }
  const Audit audit = run();
  EXPECT_EQ(issue(audit, Kind::kSourceOverlap).count(), 6);
  EXPECT_THAT(issue(audit, Kind::kSharedBoxStyle).examples[0].text,
              HasSubstr("boxes of tight have 0.60 times"));
}

TEST_F(AuditTest, BoxesUnderTheStrideAndStretchedPictures) {
  add_good();
  for (dataset::Sample& sample : data_.samples) sample.boxes.push_back(box({5, 5, 17, 17}, "mask"));
  AuditOptions options;
  const Audit small = run(options);
  EXPECT_EQ(issue(small, Kind::kBoxBelowStride).count(), 8);
  for (dataset::Sample& sample : data_.samples) sample.height = 120;
  EXPECT_EQ(issue(run(options), Kind::kAspectStretched).count(), 8);
  options.network.canvas = image::CanvasMode::kLetterbox;
  EXPECT_THAT(kinds(run(options)), Not(Contains("aspect-stretched")));
}

TEST_F(AuditTest, NothingToTrainOnIsAnError) {
  add_good(1);
  for (dataset::Sample& sample : data_.samples) sample.split = "val";
  EXPECT_THAT(kinds(run()), Contains("no-training"));
}

TEST_F(AuditTest, AModelSeesUnlabelledFacesAndWrongClasses) {
  add_good(1);
  data_.samples[0].boxes.push_back(box({0, 150, 100, 240}, "mask", true));
  AuditOptions options;
  options.detect = [](const image::Image& picture) {
    EXPECT_EQ(picture.width, 320);
    return boxes::Detections{{{42, 40, 100, 120}, 1, 0.9f},    // labelled mask
                             {{120, 150, 170, 210}, 0, 0.8f},  // not labelled
                             {{20, 160, 60, 230}, 0, 0.9f},    // inside the region to ignore, if there is one
                             {{130, 10, 160, 40}, 0, 0.3f}};   // not sure enough
  };
  const Audit audit = run(options);
  EXPECT_EQ(issue(audit, Kind::kFaceUnlabelled).count(), 3);
  EXPECT_EQ(issue(audit, Kind::kClassDoubtful).count(), 2);
}

TEST_F(AuditTest, FixMendsWhatItSaysAndUndoPutsItBack) {
  add_good();
  data_.samples[0].boxes = {box({40, 40, 100, 120}, "mask"), box({40, 40, 100, 121}, "mask"),
                            box({300, 50, 350, 90}, "no-mask"), box({5, 5, 7, 20}, "mask")};
  add("gone", scene(20));
  std::filesystem::remove(folder_ / "gone.jpg");
  add("copy-in-val", image::encode_jpeg(scene(1), 90), {320, 240}, "val");
  const Audit before = run();
  EXPECT_FALSE(before.ready());
  EXPECT_TRUE(ready_after_repairs(before));
  dataset::write_dataset(data_, {}, "made by a test");
  const std::string old_manifest = base::read_file(folder_ / "samples.jsonl");

  const RepairSummary summary = apply_repairs(before, &data_);
  EXPECT_EQ(summary.dropped_samples, 2);
  EXPECT_EQ(summary.dropped_boxes, 1);
  EXPECT_EQ(summary.clipped_boxes, 1);
  EXPECT_EQ(summary.ignored_boxes, 1);
  EXPECT_EQ(summary.findings.size(), 5u);
  EXPECT_EQ(sample("a0x").boxes[1].box_in_image, (boxes::Box{300, 50, 320, 90}));
  keep_manifest(data_.root, "a test", {"one", "two"});
  dataset::write_dataset(data_, summary.findings, "mended");
  EXPECT_TRUE(run().ready());

  EXPECT_THAT(undo(data_.root), HasSubstr("a test by "));
  EXPECT_EQ(base::read_file(folder_ / "samples.jsonl"), old_manifest);
  EXPECT_EQ(dataset::read_provenance(data_.root), "made by a test");
  EXPECT_THROW(undo(data_.root), base::Error);
}

TEST_F(AuditTest, TheLeakingCopyLeavesTheTrainingPart) {
  add_good();
  add("copy-in-val", image::encode_jpeg(scene(1), 90), {320, 240}, "val");
  const Audit audit = run();
  const Repair& repair = issue(audit, Kind::kLeakSame).examples[0].repair;
  EXPECT_EQ(data_.samples[repair.sample].id, "a1x");
}

TEST_F(AuditTest, JsonAndPageNameEveryFinding) {
  add_good();
  data_.samples[0].boxes.push_back(box({300, 50, 350, 90}, "mask"));
  add("<b>copy</b>", image::encode_jpeg(scene(1), 90), {320, 240}, "val");
  const Audit audit = run();
  const auto json = nlohmann::json::parse(to_json(audit, data_, -1));
  EXPECT_EQ(json["ready"], false);
  EXPECT_EQ(json["issues"].size(), audit.issues.size());
  EXPECT_EQ(json["issues"][0]["kind"], "leak-same");
  const std::string page = render_page(audit, data_, "a <set>");
  EXPECT_THAT(page, HasSubstr("Audit of a &lt;set&gt;"));
  EXPECT_THAT(page, HasSubstr("&lt;b&gt;copy&lt;/b&gt;"));
  EXPECT_THAT(page, Not(HasSubstr("<b>copy</b>")));
  for (const std::string& kind : kinds(audit)) EXPECT_THAT(page, HasSubstr("id=\"" + kind + "\""));
  EXPECT_THAT(page, Not(HasSubstr("src=\"http")));
  EXPECT_THAT(page, Not(HasSubstr("href=\"http")));
}

TEST_F(AuditTest, ThePageStaysSmallHoweverMuchIsWrong) {
  const std::string picture = image::encode_jpeg(scene(1), 90);
  for (int i = 0; i < 200; ++i)
    add(fmt::format("copy{}x", i), picture, {320, 240}, i % 2 == 0 ? "train" : "val");
  PageOptions options;
  options.pictures = 20;
  options.named_examples = 10;
  const std::string page = render_page(run(), data_, "copies", options);
  std::size_t pictures = 0;
  for (std::size_t at = page.find("data:image"); at != std::string::npos;
       at = page.find("data:image", at + 1))
    ++pictures;
  EXPECT_LE(pictures, 20u);
  EXPECT_GE(pictures, 10u);
  EXPECT_THAT(page, HasSubstr("more, see audit.json"));
}

}  // namespace
}  // namespace maskfit::audit
