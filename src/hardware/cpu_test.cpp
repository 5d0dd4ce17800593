#include "hardware/cpu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace maskfit::hardware {
namespace {
using testing::Contains;
using testing::ElementsAre;
using testing::Not;

// Leaf values of real processors.
CpuidLeaves core2() {
  return {{0x6FB, 0, 0x0000E3BD, 0xBFEBFBFF}, {}, {0, 0, 1, 0x20100800}, 0, "Core 2"};
}

CpuidLeaves haswell() {
  return {{0x306C3, 0, 0x7FFAFBFF, 0xBFEBFBFF}, {0, 0x27AB, 0, 0}, {0, 0, 0x21, 0x2C100800}, 0x7, "Haswell"};
}

CpuidLeaves skylake_server() {
  CpuidLeaves leaves = haswell();
  leaves.extended7.ebx = 0xD39FFFFB;
  leaves.xcr0 = 0x2E7;
  return leaves;
}

TEST(UsableInstructions, Core2HasNothingAfterSsse3) {
  EXPECT_THAT(usable_instructions(core2()), ElementsAre("sse2", "sse3", "ssse3", "cx16", "lahf"));
}

TEST(UsableInstructions, AvxDoesNotCountWhenTheSystemDoesNotSaveItsRegisters) {
  CpuidLeaves leaves = haswell();
  leaves.xcr0 = 0;
  const auto found = usable_instructions(leaves);
  EXPECT_THAT(found, Contains("sse4.2"));
  EXPECT_THAT(found, Not(Contains("avx")));
  EXPECT_THAT(found, Not(Contains("avx2")));
}

TEST(UsableInstructions, Avx512DoesNotCountWithAvxStateAlone) {
  CpuidLeaves leaves = skylake_server();
  leaves.xcr0 = 0x7;
  EXPECT_THAT(usable_instructions(leaves), Contains("avx2"));
  EXPECT_THAT(usable_instructions(leaves), Not(Contains("avx512f")));
}

TEST(MicroarchitectureLevel, OfKnownProcessors) {
  EXPECT_EQ(microarchitecture_level(usable_instructions(core2())), 1);
  EXPECT_EQ(microarchitecture_level(usable_instructions(haswell())), 3);
  EXPECT_EQ(microarchitecture_level(usable_instructions(skylake_server())), 4);
}

TEST(MicroarchitectureLevel, OneMissingInstructionLowersIt) {
  CpuidLeaves leaves = haswell();
  leaves.basic.ecx &= ~(1u << 12);  // fma
  EXPECT_EQ(microarchitecture_level(usable_instructions(leaves)), 2);
}

TEST(InspectCpu, ThisMachineIsSane) {
  const Cpu cpu = inspect_cpu();
  EXPECT_FALSE(cpu.model.empty());
  EXPECT_THAT(cpu.instructions, Contains("sse2"));  // every x86-64 has it
  EXPECT_GE(cpu.cores, 1);
  EXPECT_LE(cpu.cores, cpu.cores_online);
}

}  // namespace
}  // namespace maskfit::hardware
