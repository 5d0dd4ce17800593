#include "formats/tb_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "base/error.h"
#include "base/files.h"
#include "formats/tfrecord.h"
#include "tests/support/temp_dir.h"

namespace maskfit::formats {
namespace {

TEST(TbEvents, ScalarsComeBackInOrder) {
  support::TempDir folder;
  TbEventWriter writer(folder / "events");
  writer.scalar("loss/total", 1, 0.5f);
  writer.scalar("loss/total", 2, 0.25f);
  writer.text("spec", 0, "**batch** 24");
  writer.scalar("lr", 2, 5e-4f);
  const auto scalars = read_tb_scalars(writer.path());
  ASSERT_EQ(scalars.size(), 3u);
  EXPECT_EQ(scalars[1].tag, "loss/total");
  EXPECT_EQ(scalars[1].step, 2);
  EXPECT_EQ(scalars[1].value, 0.25f);
  EXPECT_EQ(scalars[2].tag, "lr");
  const double now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  EXPECT_NEAR(scalars[0].wall_time, now, 60);
}

TEST(TbEvents, FirstRecordStatesTheVersion) {
  support::TempDir folder;
  TbEventWriter writer(folder.path());
  const auto records = read_records(writer.path());
  ASSERT_EQ(records.size(), 1u);
  EXPECT_THAT(records[0], testing::EndsWith("\x1A\x0D"
                                            "brain.Event:2"));
}

TEST(TbEvents, NameIsOneThatTensorBoardLooksFor) {
  support::TempDir folder;
  TbEventWriter writer(folder.path());
  EXPECT_THAT(writer.path().filename().string(),
              testing::ContainsRegex("^events\\.out\\.tfevents\\.[0-9]{10}\\."));
}

TEST(TbEvents, SecondWriterOfTheSameSecondGetsItsOwnFile) {
  support::TempDir folder;
  TbEventWriter first(folder.path()), second(folder.path());
  EXPECT_NE(first.path(), second.path());
  first.scalar("a", 1, 1);
  second.scalar("a", 1, 2);
  EXPECT_EQ(read_tb_scalars(first.path())[0].value, 1);
  EXPECT_EQ(read_tb_scalars(second.path())[0].value, 2);
}

TEST(TbEvents, EachEventIsOnDiskBeforeTheNext) {
  support::TempDir folder;
  TbEventWriter writer(folder.path());
  for (int step = 1; step <= 3; ++step) {
    writer.scalar("a", step, 0);
    EXPECT_EQ(read_tb_scalars(writer.path()).size(), static_cast<std::size_t>(step));
  }
}

TEST(TbEvents, TornLastEventIsLeftOut) {
  support::TempDir folder;
  TbEventWriter writer(folder.path());
  writer.scalar("a", 1, 1);
  writer.scalar("a", 2, 2);
  const std::string bytes = base::read_file(writer.path());
  base::write_file(folder / "torn", bytes.substr(0, bytes.size() - 5));
  EXPECT_EQ(read_tb_scalars(folder / "torn").size(), 1u);
}

TEST(TbEvents, DamagedEventIsAnError) {
  support::TempDir folder;
  TbEventWriter writer(folder.path());
  writer.scalar("a", 1, 1);
  std::string bytes = base::read_file(writer.path());
  bytes[bytes.size() - 6] ^= 1;
  base::write_file(folder / "bad", bytes);
  EXPECT_THROW(read_tb_scalars(folder / "bad"), base::Error);
}

TEST(TbEvents, UnwritableFolderIsNamed) {
  support::TempDir folder;
  base::write_file(folder / "file", "");
  EXPECT_THROW(TbEventWriter(folder / "file" / "events"), base::Error);
}

}  // namespace
}  // namespace maskfit::formats
