#include <gtest/gtest.h>

#include "base/files.h"
#include "hardware/gpu.h"
#include "tests/support/temp_dir.h"

namespace maskfit::hardware {
namespace {

// What NVML answers is tested through the binary with a stand-in library: tests/end_to_end/doctor_test.cpp.

TEST(CountNvidiaDevices, DisplayControllersOnly) {
  const support::TempDir pci;
  const auto add = [&](const std::string& device, const std::string& vendor,
                       const std::string& device_class) {
    base::write_file(pci / (device + "/vendor"), vendor + "\n");
    base::write_file(pci / (device + "/class"), device_class + "\n");
  };
  add("0000:01:00.0", "0x10de", "0x030000");  // VGA
  add("0000:01:00.1", "0x10de", "0x040300");  // its audio function
  add("0000:02:00.0", "0x10de", "0x030200");  // 3D controller
  add("0000:03:00.0", "0x1002", "0x030000");  // another maker's
  EXPECT_EQ(count_nvidia_devices(pci.path().string()), 2);
}

TEST(CountNvidiaDevices, NoBus) {
  EXPECT_EQ(count_nvidia_devices("/no/such/folder"), 0);
}

TEST(InspectGpus, NeverThrowsAndExplainsAnEmptyList) {
  const Gpus gpus = inspect_gpus();
  if (gpus.gpus.empty() && gpus.trouble != GpuTrouble::kNone) EXPECT_FALSE(gpus.reason.empty());
  EXPECT_EQ(gpus.links.size(), gpus.gpus.size());
}

}  // namespace
}  // namespace maskfit::hardware
