#include "dataset/picture_facts.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <fstream>

#include "base/error.h"
#include "base/files.h"
#include "dataset/picture_cache.h"
#include "dataset/test_pictures.h"
#include "image/draw.h"
#include "tests/support/temp_dir.h"

namespace maskfit::dataset {
namespace {

using testing::Contains;
using testing::HasSubstr;

class Facts : public testing::Test {
 protected:
  Facts() {
    for (int i = 0; i < 6; ++i) {
      paths_.push_back(folder_ / fmt::format("{}.jpg", i));
      base::write_file(paths_.back(), image::encode_jpeg(scene(i), 90));
    }
    make_quiet();
  }

  // As if the files had been written long ago. The change time cannot be set: wait for it instead.
  void make_quiet() {
    const timespec long_ago[2] = {{1'000'000'000, 0}, {1'000'000'000, 0}};
    for (const auto& path : paths_) ::utimensat(AT_FDCWD, path.c_str(), long_ago, 0);
  }

  FactsResult collect() {
    FactsOptions options;
    options.cache = folder_ / "cache.bin";
    return collect_facts(paths_, options);
  }

  support::TempDir folder_;
  std::vector<std::filesystem::path> paths_;
};

TEST_F(Facts, AreThoseOfTheUprightPicture) {
  const FactsResult result = collect();
  EXPECT_EQ(result.decoded, 6);
  EXPECT_EQ(result.facts[2].upright.width, 320);
  EXPECT_EQ(result.facts[2].upright.height, 240);
  EXPECT_EQ(result.facts[2].format, "jpeg");
  EXPECT_FALSE(result.facts[2].grey);
  EXPECT_GT(correlation(result.facts[2].print, print_of(scene(2))), 0.99);
}

TEST_F(Facts, ASecondRunDecodesNothing) {
  const FactsResult first = collect(), second = collect();
  EXPECT_EQ(second.decoded, 0);
  EXPECT_EQ(second.from_cache, 6);
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    EXPECT_EQ(first.facts[i].digest, second.facts[i].digest);
    EXPECT_EQ(first.facts[i].print, second.facts[i].print);
    EXPECT_EQ(first.facts[i].hash, second.facts[i].hash);
  }
}

TEST_F(Facts, AnEditOfTheSameLengthAndTimeIsNoticed) {
  collect();
  // The other picture's content, padded to the same length behind the end of the picture, with the old time.
  const std::string old = base::read_file(paths_[1]);
  std::string changed = image::encode_jpeg(scene(40), 60);
  ASSERT_LT(changed.size(), old.size());
  changed.resize(old.size(), '\0');
  {
    std::ofstream stream(paths_[1], std::ios::binary | std::ios::in | std::ios::out);
    stream << changed;
  }
  make_quiet();
  const FactsResult second = collect();
  EXPECT_EQ(second.decoded, 1);
  EXPECT_GT(correlation(second.facts[1].print, print_of(scene(40))), 0.99);
}

TEST_F(Facts, ATouchedFileIsReadButNotDecoded) {
  collect();
  const timespec later[2] = {{1'100'000'000, 0}, {1'100'000'000, 0}};
  ::utimensat(AT_FDCWD, paths_[0].c_str(), later, 0);
  EXPECT_EQ(collect().decoded, 0);
}

TEST(StillValid, OnlyWhenTheFileHadBeenQuietBeforeItWasLookedAt) {
  PictureFacts cached;
  cached.stamp = {100, 5'000'000'000, 5'000'000'000};
  cached.seen_ns = 8'000'000'000;
  EXPECT_TRUE(still_valid(cached, cached.stamp));
  EXPECT_FALSE(still_valid(cached, {101, 5'000'000'000, 5'000'000'000}));
  EXPECT_FALSE(still_valid(cached, {100, 5'000'000'001, 5'000'000'000}));
  EXPECT_FALSE(still_valid(cached, {100, 5'000'000'000, 5'000'000'001}));
  cached.seen_ns = 6'000'000'000;
  EXPECT_FALSE(still_valid(cached, cached.stamp));
}

TEST_F(Facts, DamagedMissingAndGreyPicturesAreValues) {
  base::write_file(paths_[0], base::read_file(paths_[0]).substr(0, 2000));
  std::filesystem::remove(paths_[1]);
  base::write_file(paths_[2], "");
  base::write_file(paths_[3], image::encode_png(image::filled({90, 70}, {128, 128, 128})));
  const FactsResult result = collect();
  EXPECT_THAT(result.facts[0].error, HasSubstr("cut short"));
  EXPECT_EQ(result.facts[1].stamp.bytes, -1);
  EXPECT_FALSE(result.facts[1].usable());
  EXPECT_THAT(result.facts[2].error, HasSubstr("empty"));
  EXPECT_TRUE(result.facts[3].usable());
  EXPECT_TRUE(result.facts[3].grey);
  EXPECT_THAT(result.facts[3].notes, Contains(HasSubstr("png")));
}

TEST_F(Facts, ADamagedCacheOnlyCostsTime) {
  collect();
  std::string bytes = base::read_file(folder_ / "cache.bin");
  bytes[bytes.size() / 2] ^= 1;
  base::write_file(folder_ / "cache.bin", bytes);
  EXPECT_EQ(collect().decoded, 6);
  base::write_file(folder_ / "cache.bin", "something else");
  EXPECT_EQ(collect().decoded, 6);
}

TEST_F(Facts, InterruptedKeepsWhatWasDone) {
  std::atomic<bool> stop{false};
  FactsOptions options;
  options.cache = folder_ / "cache.bin";
  options.threads = 1;
  options.stop = base::StopToken(&stop);
  collect_facts({paths_[0], paths_[1]}, options);
  stop = true;
  EXPECT_THROW(collect_facts(paths_, options), base::Error);
  EXPECT_EQ(collect().decoded, 4);
}

TEST(FactsCache, EveryTruncationIsRefused) {
  FactsByPath facts;
  facts["a"].digest = "x";
  facts["b"].notes = {"y", "z"};
  const std::string bytes = pack_facts(facts);
  ASSERT_TRUE(unpack_facts(bytes));
  EXPECT_EQ(unpack_facts(bytes)->at("b").notes, facts["b"].notes);
  for (std::size_t n = 0; n < bytes.size(); n += 7) EXPECT_FALSE(unpack_facts(bytes.substr(0, n))) << n;
}

// The import keeps what it has seen; the audit, which does not look at refused pictures, keeps all.
TEST_F(Facts, WhatASaveKeeps) {
  const auto file = folder_ / "cache.bin";
  collect();
  PictureCache some(file);
  some.look_at(paths_[0]);
  some.save(PictureCache::Keep::kAll);
  EXPECT_EQ(unpack_facts(base::read_file(file))->size(), 6u);
  some.save(PictureCache::Keep::kSeen);
  EXPECT_EQ(unpack_facts(base::read_file(file))->size(), 1u);
}

TEST_F(Facts, ACacheThatCannotBeWrittenIsGivenUp) {
  FactsOptions options;
  options.cache = folder_ / "no such folder" / "0.jpg" / "cache.bin";
  base::write_file(folder_ / "no such folder", "a file");
  EXPECT_EQ(collect_facts(paths_, options).decoded, 6);
}

}  // namespace
}  // namespace maskfit::dataset
