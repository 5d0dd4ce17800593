#include "hardware/memory.h"

#include <gtest/gtest.h>

#include "tests/support/temp_dir.h"

namespace maskfit::hardware {
namespace {

TEST(ParseMeminfo, KibibytesBecomeBytes) {
  const Memory memory =
      parse_meminfo("MemTotal:       24678400 kB\nMemFree:  1 kB\nMemAvailable:   18000000 kB\n");
  EXPECT_EQ(memory.total_bytes, 24678400LL * 1024);
  EXPECT_EQ(memory.available_bytes, 18000000LL * 1024);
}

TEST(ParseMeminfo, OldKernelWithoutAvailable) {
  const Memory memory = parse_meminfo("MemTotal: 100 kB\n");
  EXPECT_EQ(memory.total_bytes, 102400);
  EXPECT_EQ(memory.available_bytes, 0);
  EXPECT_EQ(parse_meminfo("").total_bytes, 0);
}

TEST(Memory, ContainerLimitCutsWhatIsUsable) {
  Memory memory{100, 80, std::nullopt};
  EXPECT_EQ(memory.usable_bytes(), 80);
  memory.limit_bytes = 30;
  EXPECT_EQ(memory.usable_bytes(), 30);
  memory.limit_bytes = 90;
  EXPECT_EQ(memory.usable_bytes(), 80);
}

TEST(InspectDisk, OfAPathThatDoesNotExistYet) {
  const support::TempDir folder;
  const Disk disk = inspect_disk(folder / "runs/new");
  EXPECT_EQ(disk.path, folder.path());
  EXPECT_GT(disk.total_bytes, 0);
  EXPECT_LE(disk.free_bytes, disk.total_bytes);
}

TEST(FormatBytes, UnitByMagnitude) {
  EXPECT_EQ(format_bytes(25'125'558'681), "23.4 GiB");
  EXPECT_EQ(format_bytes(512LL << 20), "512 MiB");
  EXPECT_EQ(format_bytes(2048), "2 KiB");
}

}  // namespace
}  // namespace maskfit::hardware
