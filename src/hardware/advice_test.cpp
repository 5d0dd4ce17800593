#include "hardware/advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace maskfit::hardware {
namespace {
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t kGib = std::int64_t{1} << 30;

Machine good_cpu_machine() {
  Machine machine;
  machine.cpu.level = 3;
  machine.cpu.cores = 8;
  machine.memory = {64 * kGib, 48 * kGib, std::nullopt};
  machine.disk = {"/home", 100 * kGib, 200 * kGib};
  machine.gpus.trouble = GpuTrouble::kNoLibrary;
  return machine;
}

Machine gpu_machine() {
  Machine machine = good_cpu_machine();
  machine.gpus.trouble = GpuTrouble::kNone;
  machine.gpus.devices_on_pci_bus = 1;
  machine.gpus.driver = "550.54.15";
  machine.gpus.cuda_driver = "12.4";
  machine.gpus.gpus = {{0, "NVIDIA H200", 140 * kGib, 140 * kGib, 9, 0, "0000:18:00.0"}};
  return machine;
}

constexpr Program kCpuProgram{false, false, false, 8};
constexpr Program kGpuProgram{true, true, true, 8};

auto why(const std::string& text) {
  return Field(&Advice::why, HasSubstr(text));
}
auto remedy(const std::string& text) {
  return Field(&Advice::remedy, HasSubstr(text));
}

TEST(Advise, NothingWhereNothingIsWrong) {
  EXPECT_THAT(advise(good_cpu_machine(), kCpuProgram), IsEmpty());
  EXPECT_THAT(advise(gpu_machine(), kGpuProgram), IsEmpty());
}

TEST(Advise, CpuBuildOnAGpuMachine) {
  EXPECT_THAT(advise(gpu_machine(), kCpuProgram), ElementsAre(remedy("MASKFIT_PRESET=gpu")));
}

TEST(Advise, LibraryThatFindsNoDeviceNamesTheDriver) {
  EXPECT_THAT(advise(gpu_machine(), {true, true, false, 8}),
              ElementsAre(why("550.54.15 serves CUDA up to 12.4")));
}

TEST(Advise, GpuOnTheBusWithoutADriver) {
  Machine machine = good_cpu_machine();
  machine.gpus.devices_on_pci_bus = 2;
  EXPECT_THAT(advise(machine, kCpuProgram), ElementsAre(why("2 NVIDIA device(s)")));
}

TEST(Advise, EveryTroubleOfTheDriverHasARemedy) {
  for (const GpuTrouble trouble :
       {GpuTrouble::kDriverMismatch, GpuTrouble::kNoPermission, GpuTrouble::kOther}) {
    Machine machine = good_cpu_machine();
    machine.gpus.trouble = trouble;
    machine.gpus.reason = "the library's words";
    const auto advice = advise(machine, kGpuProgram);
    ASSERT_THAT(advice, ElementsAre(why("the library's words")));
    EXPECT_FALSE(advice[0].remedy.empty());
  }
}

TEST(Advise, OldGpuIsToldItsPrecision) {
  Machine machine = gpu_machine();
  machine.gpus.gpus[0].capability_major = 7;
  machine.gpus.gpus[0].capability_minor = 5;
  EXPECT_THAT(advise(machine, kGpuProgram), ElementsAre(remedy("--precision fp16")));
  machine.gpus.gpus[0].capability_major = 6;
  EXPECT_THAT(advise(machine, kGpuProgram), ElementsAre(remedy("--precision fp32")));
}

TEST(Advise, OldProcessorIsSlowNotBroken) {
  Machine machine = good_cpu_machine();
  machine.cpu.level = 1;
  const auto advice = advise(machine, kCpuProgram);
  ASSERT_THAT(advice, ElementsAre(why("x86-64-v1")));
  EXPECT_FALSE(advice[0].fatal);
}

TEST(Advise, ThreadsLeftIdle) {
  EXPECT_THAT(advise(good_cpu_machine(), {false, false, false, 1}), ElementsAre(remedy("OMP_NUM_THREADS")));
}

TEST(Advise, LittleMemoryInAContainer) {
  Machine machine = good_cpu_machine();
  machine.memory.limit_bytes = 2 * kGib;
  EXPECT_THAT(advise(machine, kCpuProgram), ElementsAre(why("2.0 GiB can be used in this container")));
  machine.memory.limit_bytes = kGib / 2;
  EXPECT_TRUE(advise(machine, kCpuProgram).at(0).fatal);
}

TEST(Advise, FullDiskIsFatal) {
  Machine machine = good_cpu_machine();
  machine.disk.free_bytes = 2 * kGib;
  EXPECT_FALSE(advise(machine, kCpuProgram).at(0).fatal);
  machine.disk.free_bytes = 1000;
  EXPECT_TRUE(advise(machine, kCpuProgram).at(0).fatal);
  EXPECT_THAT(advise(machine, kCpuProgram), ElementsAre(why("/home")));
}

}  // namespace
}  // namespace maskfit::hardware
