#include "base/cgroup.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "tests/support/temp_dir.h"

namespace maskfit::base {
namespace {

TEST(CgroupLimits, VersionTwo) {
  const support::TempDir root;
  write_file(root / "cpu.max", "150000 100000\n");
  write_file(root / "memory.max", "2147483648\n");
  const CgroupLimits limits = read_cgroup_limits(root.path());
  EXPECT_DOUBLE_EQ(limits.cores.value(), 1.5);
  EXPECT_EQ(limits.memory_bytes.value(), 2147483648);
}

TEST(CgroupLimits, MaxIsNoLimit) {
  const support::TempDir root;
  write_file(root / "cpu.max", "max 100000\n");
  write_file(root / "memory.max", "max\n");
  const CgroupLimits limits = read_cgroup_limits(root.path());
  EXPECT_FALSE(limits.cores.has_value());
  EXPECT_FALSE(limits.memory_bytes.has_value());
}

TEST(CgroupLimits, VersionOne) {
  const support::TempDir root;
  write_file(root / "cpu/cpu.cfs_quota_us", "400000\n");
  write_file(root / "cpu/cpu.cfs_period_us", "100000\n");
  write_file(root / "memory/memory.limit_in_bytes", "1073741824\n");
  EXPECT_DOUBLE_EQ(read_cgroup_limits(root.path()).cores.value(), 4.0);
  EXPECT_EQ(read_cgroup_limits(root.path()).memory_bytes.value(), 1073741824);
}

TEST(CgroupLimits, VersionOneWithoutLimits) {
  const support::TempDir root;
  write_file(root / "cpu/cpu.cfs_quota_us", "-1\n");
  write_file(root / "cpu/cpu.cfs_period_us", "100000\n");
  write_file(root / "memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_FALSE(read_cgroup_limits(root.path()).cores.has_value());
  EXPECT_FALSE(read_cgroup_limits(root.path()).memory_bytes.has_value());
}

TEST(CgroupLimits, NoControlFiles) {
  const support::TempDir root;
  EXPECT_FALSE(read_cgroup_limits(root.path()).cores.has_value());
  EXPECT_FALSE(read_cgroup_limits(root / "absent").memory_bytes.has_value());
}

}  // namespace
}  // namespace maskfit::base
