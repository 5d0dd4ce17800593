#include "runs/checkpoint_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.h"
#include "tests/support/temp_dir.h"

namespace maskfit::runs {
namespace {
namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(CheckpointStore, EmptyFolderHasNone) {
  support::TempDir dir;
  base::Findings findings;
  EXPECT_FALSE(CheckpointStore(dir / "none").newest(&findings));
  EXPECT_TRUE(findings.empty());
}

TEST(CheckpointStore, NewestIsTheHighestStepNotTheLatestWritten) {
  support::TempDir dir;
  const CheckpointStore store(dir.path());
  store.save(20, "twenty");
  store.save(3, "three");
  const auto newest = store.newest();
  ASSERT_TRUE(newest);
  EXPECT_EQ(newest->step, 20);
  EXPECT_EQ(newest->bytes, "twenty");
}

TEST(CheckpointStore, SavingAStepAgainReplacesIt) {
  support::TempDir dir;
  const CheckpointStore store(dir.path());
  store.save(5, "old");
  store.save(5, "new");
  EXPECT_EQ(store.newest()->bytes, "new");
}

TEST(CheckpointStore, KeepsTheLastN) {
  support::TempDir dir;
  const CheckpointStore store(dir.path(), 2);
  for (int step : {10, 20, 30, 40}) store.save(step, "bytes");
  EXPECT_THAT(store.steps(), ElementsAre(30, 40));
  EXPECT_FALSE(fs::exists(store.path(20)));
}

// Every length at which a kill can have cut the bytes short.
TEST(CheckpointStore, TruncatedBytesFallBackToThePrevious) {
  support::TempDir dir;
  const CheckpointStore store(dir.path());
  store.save(1, "good");
  const std::string bytes = "0123456789";
  store.save(2, bytes);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    base::write_file(store.path(2), bytes.substr(0, length));
    base::Findings findings;
    const auto newest = store.newest(&findings);
    ASSERT_TRUE(newest);
    EXPECT_EQ(newest->step, 1) << "cut at " << length;
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_THAT(findings[0].file, HasSubstr("step-000000002.ckpt"));
    EXPECT_THAT(findings[0].what, HasSubstr("torn"));
    EXPECT_EQ(findings[0].remedy, "step-000000001.ckpt is used");
  }
}

TEST(CheckpointStore, OneFlippedBitIsNoticed) {
  support::TempDir dir;
  const CheckpointStore store(dir.path());
  store.save(1, "good");
  store.save(2, "good");
  base::write_file(store.path(2), "gooe");
  EXPECT_EQ(store.newest()->step, 1);
}

TEST(CheckpointStore, KilledBetweenBytesAndDigest) {
  support::TempDir dir;
  const CheckpointStore store(dir.path());
  store.save(1, "good");
  base::write_file(store.path(2), "whole, but nobody vouches for it");
  base::Findings findings;
  EXPECT_EQ(store.newest(&findings)->step, 1);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_THAT(findings[0].what, HasSubstr("no digest"));
  store.save(3, "next");
  EXPECT_FALSE(fs::exists(store.path(2))) << "the next save removes what the killed one left";
}

TEST(CheckpointStore, DigestWithoutBytes) {
  support::TempDir dir;
  const CheckpointStore store(dir.path());
  store.save(1, "good");
  store.save(2, "gone");
  fs::remove(store.path(2));
  EXPECT_EQ(store.newest()->step, 1);
}

TEST(CheckpointStore, AllTornMeansNone) {
  support::TempDir dir;
  const CheckpointStore store(dir.path());
  store.save(1, "one");
  base::write_file(store.path(1), "");
  base::Findings findings;
  EXPECT_FALSE(store.newest(&findings));
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].remedy, "no other checkpoint is left") << "and no word of one that would be used";
}

TEST(CheckpointStore, OtherFilesAreNotCheckpoints) {
  support::TempDir dir;
  for (const char* name :
       {"step-.ckpt.sha256", "step-x1.ckpt.sha256", "notes.txt", "step-1.ckpt.sha256.bak"}) {
    base::write_file(dir / name, "x");
  }
  EXPECT_TRUE(CheckpointStore(dir.path()).steps().empty());
}

TEST(CheckpointStore, DigestLineIsInTheFormOfSha256sum) {
  support::TempDir dir;
  const CheckpointStore store(dir.path());
  store.save(7, "abc");
  EXPECT_EQ(base::read_file(dir / "step-000000007.ckpt.sha256"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  step-000000007.ckpt\n");
}

TEST(CheckpointStore, TemporaryFilesOfAKilledWriterAreRemovedByTheNextSave) {
  support::TempDir dir;
  base::write_file(dir / "step-000000002.ckpt.tmp4711", "half");
  CheckpointStore(dir.path()).save(3, "x");
  EXPECT_FALSE(fs::exists(dir / "step-000000002.ckpt.tmp4711"));
}

}  // namespace
}  // namespace maskfit::runs
