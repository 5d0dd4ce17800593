#include "dataset/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "tests/support/temp_dir.h"

namespace maskfit::dataset {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

Sample sample(const std::string& id, const std::string& split, std::vector<LabeledBox> boxes = {}) {
  return {id, "/pictures/" + id + ".jpg", 640, 480, std::move(boxes), split, ""};
}

Dataset example(const std::filesystem::path& root) {
  KittiExtras extras;
  extras.truncation = 0.1f;
  extras.occlusion = -1;
  extras.world_x = -1000;
  Dataset dataset{
      root,
      {"mask", "no-mask"},
      {sample("a/1", "train",
              {{{0.1f, 2, 300.25f, 400}, "mask", false, {}}, {{1, 2, 3, 4}, "worn wrongly", true, extras}}),
       sample("a/2", "val"),
       sample("b \"quoted\" \xC3\xA9", "train", {{{5, 6, 7, 8}, "no-mask", false, {}}})}};
  dataset.samples[2].group = "video 7";
  dataset.samples[1].image = "images/2.png";
  return dataset;
}

std::vector<Sample> numbered(int n) {
  std::vector<Sample> samples;
  for (int i = 0; i < n; ++i) samples.push_back(sample(fmt::format("{:04}", i), ""));
  return samples;
}

std::map<std::string, std::string> splits_of(const std::vector<Sample>& samples) {
  std::map<std::string, std::string> splits;
  for (const Sample& s : samples) splits[s.id] = s.split;
  return splits;
}

std::int64_t count(const std::vector<Sample>& samples, const std::string& split) {
  return std::count_if(samples.begin(), samples.end(), [&](const Sample& s) { return s.split == split; });
}

TEST(Manifest, RoundTripKeepsEverySampleToTheBit) {
  support::TempDir folder;
  const Dataset dataset = example(folder / "set");
  write_dataset(dataset, {}, "a test");
  const Dataset back = read_dataset(folder / "set");
  EXPECT_EQ(back.samples, dataset.samples);
  EXPECT_EQ(back.class_names, dataset.class_names);
  EXPECT_EQ(digest(back), digest(dataset));
  EXPECT_EQ(read_provenance(folder / "set"), "a test");
}

TEST(Manifest, FindingsAreKept) {
  support::TempDir folder;
  const base::Findings findings = {{base::Severity::kRepaired, "a.xml", 3, "x2", "401 of 400", "clipped"},
                                   {base::Severity::kRefused, "caf\xE9.gif", 0, "", "GIF", ""}};
  write_dataset(example(folder.path()), findings, "");
  const auto back = read_findings(folder.path());
  ASSERT_EQ(back.size(), 2u);
  EXPECT_EQ(base::to_string(back[0]), base::to_string(findings[0]));
  EXPECT_EQ(back[1].severity, base::Severity::kRefused);
}

TEST(Manifest, RelativePicturesStartAtTheDatasetsFolder) {
  const Dataset dataset = example("/sets/one");
  EXPECT_EQ(dataset.image_path(dataset.samples[0]), "/pictures/a/1.jpg");
  EXPECT_EQ(dataset.image_path(dataset.samples[1]), "/sets/one/images/2.png");
}

TEST(Manifest, HalfWrittenDatasetIsNotRecognised) {
  support::TempDir folder;
  write_dataset(example(folder.path()), {}, "");
  EXPECT_TRUE(is_dataset(folder.path()));
  std::filesystem::remove(folder / "dataset.json");
  EXPECT_FALSE(is_dataset(folder.path()));
  EXPECT_THROW(read_dataset(folder.path()), base::Error);
}

TEST(Manifest, MissingLinesAreNoticed) {
  support::TempDir folder;
  write_dataset(example(folder.path()), {}, "");
  const std::string text = base::read_file(folder / "samples.jsonl");
  base::write_file(folder / "samples.jsonl", text.substr(0, text.find('\n') + 1));
  EXPECT_THAT([&] { read_dataset(folder.path()); },
              ThrowsMessage<base::Error>(HasSubstr("1 samples, dataset.json says 3")));
}

TEST(Manifest, BrokenLineIsNamedWithFileAndLine) {
  support::TempDir folder;
  write_dataset(example(folder.path()), {}, "");
  const std::string text = base::read_file(folder / "samples.jsonl");
  const std::size_t second = text.find('\n') + 1;
  for (
      const char* line :
      {"{\"id\":", "{}", "[]", R"({"id":"x","image":"x","width":1,"height":1,"split":"train","boxes":[{}]})",
       R"({"id":"x","image":"x","width":1,"height":1,"split":"train","boxes":[{"class":"mask","box":[1]}]})",
       R"({"id":"x","image":"x","width":1,"height":1,"split":"train","boxes":[{"class":"cat","box":[1,2,3,4]}]})",
       R"({"id":"x","image":"x","width":0,"height":1,"split":"train","boxes":[]})",
       R"({"id":"x","image":"x","width":1000000000000000000,"height":1,"split":"train","boxes":[]})",
       R"({"id":"x","image":"x","width":2000000000,"height":1,"split":"train","boxes":[]})",
       R"({"id":"x","image":"x","width":1.5,"height":1,"split":"train","boxes":[]})",
       R"({"id":"x","image":"x","width":9,"height":9,"split":"train","boxes":[{"class":"mask","box":[8,1,2,5]}]})",
       R"({"id":"x","image":"x","width":9,"height":9,"split":"train","boxes":[{"class":"mask","box":[1,8,5,2]}]})",
       R"({"id":"x","image":"x","width":1,"height":1,"split":"best","boxes":[]})"}) {
    base::write_file(folder / "samples.jsonl", text.substr(0, second) + line + "\n" + text.substr(second));
    try {
      read_dataset(folder.path());
      ADD_FAILURE() << "accepted " << line;
    } catch (const base::Error& error) {
      EXPECT_EQ(error.code(), base::ExitCode::kRefused) << line;
      EXPECT_THAT(error.where(), HasSubstr("samples.jsonl:2")) << line;
    }
  }
}

// Samples that somebody changed are no longer what dataset.json and the runs on it vouch for. The hint says
// how to mean it.
TEST(Manifest, ChangedSamplesAreNoticedByTheDigest) {
  support::TempDir folder;
  write_dataset(example(folder.path()), {}, "");
  std::string text = base::read_file(folder / "samples.jsonl");
  text.replace(text.find("300.25"), 6, "301.25");
  base::write_file(folder / "samples.jsonl", text);
  std::string hint;
  try {
    read_dataset(folder.path());
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::ExitCode::kRefused);
    EXPECT_THAT(error.what(), HasSubstr("digest"));
    hint = error.hint();
  }
  Dataset changed = example(folder.path());
  changed.samples[0].boxes[0].box_in_image.x2 = 301.25f;
  EXPECT_THAT(hint, HasSubstr(digest(changed)));
}

TEST(Manifest, ClassesMustBeToldApartByTheirNames) {
  support::TempDir folder;
  Dataset twice = example(folder.path());
  twice.class_names = {"mask", "mask", "no-mask"};
  EXPECT_THAT([&] { write_dataset(twice, {}, ""); }, ThrowsMessage<base::Error>(HasSubstr("listed twice")));
  write_dataset(example(folder.path()), {}, "");
  std::string head = base::read_file(folder / "dataset.json");
  head.replace(head.find("\"no-mask\""), 9, "\"mask\"");
  base::write_file(folder / "dataset.json", head);
  EXPECT_THAT([&] { read_dataset(folder.path()); }, ThrowsMessage<base::Error>(HasSubstr("listed twice")));
}

TEST(Manifest, OtherVersionsAndFilesAreRefused) {
  support::TempDir folder;
  write_dataset(example(folder.path()), {}, "");
  base::write_file(folder / "dataset.json", R"({"format":"maskfit-dataset","version":9})");
  EXPECT_THAT([&] { read_dataset(folder.path()); }, ThrowsMessage<base::Error>(HasSubstr("version 9")));
  base::write_file(folder / "dataset.json", R"({"format":"coco","version":1})");
  EXPECT_THAT([&] { read_dataset(folder.path()); },
              ThrowsMessage<base::Error>(HasSubstr("not a maskfit dataset")));
  base::write_file(folder / "dataset.json", "nonsense");
  EXPECT_THROW(read_dataset(folder.path()), base::Error);
}

TEST(Manifest, WhatNoManifestMayHoldIsRefused) {
  support::TempDir folder;
  Dataset twice = example(folder.path());
  twice.samples[1].id = twice.samples[0].id;
  EXPECT_THAT([&] { write_dataset(twice, {}, ""); },
              ThrowsMessage<base::Error>(HasSubstr("two samples have the id")));
  Dataset latin = example(folder.path());
  latin.samples[0].id = "caf\xE9";
  EXPECT_THAT([&] { write_dataset(latin, {}, ""); }, ThrowsMessage<base::Error>(HasSubstr("not UTF-8")));
  Dataset unknown = example(folder.path());
  unknown.class_names = {"mask"};
  EXPECT_THAT([&] { write_dataset(unknown, {}, ""); },
              ThrowsMessage<base::Error>(HasSubstr("class 'no-mask' is not among")));
  EXPECT_FALSE(is_dataset(folder.path()));
}

TEST(Digest, DoesNotDependOnWherePicturesLie) {
  Dataset here = example("/here"), there = example("/there");
  there.samples[0].image = "/elsewhere/1.png";
  there.samples[0].group = "g";
  EXPECT_EQ(digest(here), digest(there));
  EXPECT_EQ(digest(here).size(), 64u);
}

TEST(Digest, ChangesWithBoxesClassesSizesAndSplits) {
  const std::string before = digest(example(""));
  const auto changed = [&](const std::function<void(Dataset&)>& change) {
    Dataset dataset = example("");
    change(dataset);
    return digest(dataset);
  };
  EXPECT_NE(before, changed([](Dataset& d) { d.samples[0].boxes[0].box_in_image.x2 += 0.01f; }));
  EXPECT_NE(before, changed([](Dataset& d) { d.samples[0].boxes[0].class_name = "no-mask"; }));
  EXPECT_NE(before, changed([](Dataset& d) { d.samples[0].boxes[0].ignore = true; }));
  EXPECT_NE(before, changed([](Dataset& d) { d.samples[0].split = "val"; }));
  EXPECT_NE(before, changed([](Dataset& d) { d.samples[0].width = 641; }));
  EXPECT_NE(before, changed([](Dataset& d) { std::swap(d.class_names[0], d.class_names[1]); }));
}

TEST(Counts, BySplitAndClassWithIgnoredApart) {
  const auto counts = count_by_split(example(""));
  EXPECT_EQ(counts.at("train").samples, 2);
  EXPECT_EQ(counts.at("train").ignored, 1);
  EXPECT_EQ(counts.at("train").boxes, (std::map<std::string, std::int64_t>{{"mask", 1}, {"no-mask", 1}}));
  EXPECT_EQ(counts.at("val").without_objects, 1);
}

TEST(Normalise, SortsSamplesAndCollectsClassesWithoutTheIgnored) {
  Dataset dataset = example("");
  dataset.class_names.clear();
  std::swap(dataset.samples[0], dataset.samples[2]);
  normalise(dataset);
  EXPECT_EQ(dataset.samples[0].id, "a/1");
  EXPECT_THAT(dataset.class_names, testing::ElementsAre("mask", "no-mask"));
}

TEST(AssignSplits, GivesThePercentAskedFor) {
  for (const double percent : {0.0, 1.0, 20.0, 33.3, 99.0, 100.0}) {
    auto samples = numbered(1000);
    assign_splits(samples, {percent, 42});
    EXPECT_NEAR(static_cast<double>(count(samples, "val")), percent * 10, 1) << percent;
    EXPECT_EQ(count(samples, "val") + count(samples, "train"), 1000);
  }
}

TEST(AssignSplits, DoesNotDependOnTheOrderOfTheSamples) {
  auto samples = numbered(200);
  auto reversed = samples;
  std::reverse(reversed.begin(), reversed.end());
  assign_splits(samples, {});
  assign_splits(reversed, {});
  EXPECT_EQ(splits_of(samples), splits_of(reversed));
}

TEST(AssignSplits, AnotherSeedGivesAnotherDraw) {
  auto a = numbered(200), b = numbered(200);
  assign_splits(a, {20, 1});
  assign_splits(b, {20, 2});
  EXPECT_NE(splits_of(a), splits_of(b));
}

TEST(AssignSplits, IsNoPrefixOfTheNames) {
  auto samples = numbered(100);
  assign_splits(samples, {});
  EXPECT_LT(
      std::count_if(samples.begin(), samples.begin() + 20, [](const Sample& s) { return s.split == "val"; }),
      15);
}

TEST(AssignSplits, GroupsNeverPart) {
  auto samples = numbered(300);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i].group = fmt::format("video {}", i / 7);
  assign_splits(samples, {});
  for (std::size_t i = 1; i < samples.size(); ++i) {
    if (samples[i].group == samples[i - 1].group) EXPECT_EQ(samples[i].split, samples[i - 1].split);
  }
  EXPECT_NEAR(static_cast<double>(count(samples, "val")), 60, 7);
}

TEST(AssignSplits, GivenSplitsStayAndTheirGroupFollows) {
  auto samples = numbered(10);
  samples[3].split = "test";
  samples[3].group = samples[4].group = "g";
  assign_splits(samples, {});
  EXPECT_EQ(samples[3].split, "test");
  EXPECT_EQ(samples[4].split, "test");
  EXPECT_EQ(count(samples, "test"), 2);
}

TEST(AssignSplits, AddedPicturesMoveFewOthers) {
  auto before = numbered(1000), after = numbered(1010);
  assign_splits(before, {});
  assign_splits(after, {});
  int moved = 0;
  for (std::size_t i = 0; i < before.size(); ++i) moved += before[i].split != after[i].split;
  EXPECT_LE(moved, 12);
}

TEST(AssignSplits, SmallSetsGetOneValidationGroupButKeepOneToTrainOn) {
  auto three = numbered(3);
  assign_splits(three, {5, 42});
  EXPECT_EQ(count(three, "val"), 1);
  auto one = numbered(1);
  assign_splits(one, {20, 42});
  EXPECT_EQ(count(one, "train"), 1);
}

TEST(AssignSplits, PercentOutOfRangeIsAUsageError) {
  auto samples = numbered(3);
  EXPECT_THROW(assign_splits(samples, {101, 42}), base::Error);
  EXPECT_THROW(assign_splits(samples, {-1, 42}), base::Error);
}

}  // namespace
}  // namespace maskfit::dataset
