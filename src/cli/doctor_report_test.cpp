#include "cli/doctor_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace maskfit::cli {
namespace {
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kGib = std::int64_t{1} << 30;

DoctorReport two_gpus() {
  DoctorReport report;
  report.machine.cpu = {"A Processor", {"sse2", "avx2"}, 3, 4, 8};
  report.machine.memory = {32 * kGib, 24 * kGib, 8 * kGib};
  report.machine.disk = {"/data", 10 * kGib, 100 * kGib};
  report.machine.gpus.driver = "550.54.15";
  report.machine.gpus.cuda_driver = "12.4";
  report.machine.gpus.gpus = {{0, "NVIDIA A", 80 * kGib, 79 * kGib, 9, 0, "0000:18:00.0"},
                              {1, "NVIDIA B", 80 * kGib, 70 * kGib, 8, 6, "0000:2A:00.0"}};
  report.machine.gpus.links = {{"X", "NV18"}, {"NV18", "X"}};
  report.library = {"2.11.0", "AVX512", 4, true, true, "all about it"};
  return report;
}

TEST(DoctorText, NamesEveryPartOfTheMachine) {
  const std::string text = to_text(two_gpus());
  for (const char* part :
       {"A Processor, 4 of 8 cores usable", "x86-64-v3: sse2 avx2", "AVX512 kernels, 4 threads",
        "24.0 GiB of 32.0 GiB available, limited to 8.0 GiB in this container",
        "10.0 GiB of 100.0 GiB free in /data", "2.11.0 with CUDA, usable here",
        "NVIDIA B, 70.0 GiB of 80.0 GiB free, compute capability 8.6", "550.54.15, serves CUDA up to 12.4",
        "GPU1  NV18  X", "Nothing stands in the way."}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(DoctorText, OneGpuNeedsNoMatrix) {
  DoctorReport report = two_gpus();
  report.machine.gpus.gpus.pop_back();
  report.machine.gpus.links = {{"X"}};
  EXPECT_THAT(to_text(report), Not(HasSubstr("Links")));
}

TEST(DoctorText, WithoutAGpuTheReasonIsGiven) {
  DoctorReport report = two_gpus();
  report.machine.gpus = {};
  report.machine.gpus.reason = "no library";
  EXPECT_THAT(to_text(report), HasSubstr("none (no library)"));
}

TEST(DoctorText, AdviceHasWhyAndWhatToDo) {
  DoctorReport report = two_gpus();
  report.advice = {{true, "it fails", "the reason", "the remedy"}};
  EXPECT_TRUE(report.fatal());
  EXPECT_THAT(to_text(report),
              HasSubstr("[must mend] it fails\n    why:  the reason\n    what to do:  the remedy\n"));
}

TEST(DoctorText, SpeedSaysWhatWasMeasured) {
  DoctorReport report = two_gpus();
  EXPECT_THAT(to_text(report), Not(HasSubstr("Training")));
  report.speed = {{1234.2, 960, 544, 24, 9, false}, "cuda", "bf16"};
  EXPECT_THAT(to_text(report),
              HasSubstr("about 1234 pictures/s at 960x544, batch 24, bf16 on cuda (measured)"));
  report.speed->estimate.scaled_up = true;
  EXPECT_THAT(to_text(report), HasSubstr("scaled up from a smaller input"));
}

TEST(DoctorJson, HoldsWhatTheTextSays) {
  DoctorReport report = two_gpus();
  report.advice = {{false, "slow", "the reason", "the remedy"}};
  EXPECT_FALSE(report.fatal());
  const auto json = to_json(report);
  EXPECT_EQ(json["cpu"]["level"], "x86-64-v3");
  EXPECT_EQ(json["cpu"]["cores_usable"], 4);
  EXPECT_EQ(json["memory"]["limit_bytes"], 8 * kGib);
  EXPECT_EQ(json["disk"]["path"], "/data");
  EXPECT_EQ(json["libtorch"]["version"], "2.11.0");
  EXPECT_EQ(json["gpu"]["devices"][1]["compute_capability"], "8.6");
  EXPECT_EQ(json["gpu"]["links"][0][1], "NV18");
  EXPECT_EQ(json["advice"][0]["remedy"], "the remedy");
  EXPECT_TRUE(json["training_speed"].is_null());
  report.speed = {{12.5, 960, 544, 2, 9, false}, "cpu", "fp32"};
  EXPECT_EQ(to_json(report)["training_speed"]["images_per_second"], 12.5);
}

TEST(DoctorJson, NoLimitIsNull) {
  DoctorReport report = two_gpus();
  report.machine.memory.limit_bytes.reset();
  EXPECT_TRUE(to_json(report)["memory"]["limit_bytes"].is_null());
}

}  // namespace
}  // namespace maskfit::cli
