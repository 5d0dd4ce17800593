#pragma once

// NVIDIA GPUs, asked through the driver's management library (NVML), which is loaded at run time: the same
// binary runs where there is none.

#include <cstdint>
#include <string>
#include <vector>

namespace maskfit::hardware {

struct Gpu {
  int index = 0;     // NVML's order (by PCI bus), which nvidia-smi shows
  std::string name;  // "NVIDIA H200"
  std::int64_t total_bytes = 0, free_bytes = 0;
  int capability_major = 0, capability_minor = 0;
  std::string bus_id;  // "00000000:18:00.0"
};

// Why there is nothing to see, or something less than there could be.
enum class GpuTrouble {
  kNone,
  kNoLibrary,       // no NVML on this machine: no driver
  kNoDriver,        // NVML is there, the kernel module is not
  kDriverMismatch,  // the kernel module and the libraries are of different versions
  kNoPermission,
  kOther,
};

struct Gpus {
  std::vector<Gpu> gpus;
  std::string driver;       // "550.54.15"
  std::string cuda_driver;  // the newest CUDA that the driver serves: "12.4"
  // links[i][j] between gpus i and j in nvidia-smi's words: "X" (itself), "NV18" (18 NVLinks), "PIX" (one
  // PCIe switch), "PXB" (several), "PHB" (a host bridge), "NODE" (inside a NUMA node), "SYS" (between NUMA
  // nodes), "?" (not told).
  std::vector<std::vector<std::string>> links;
  GpuTrouble trouble = GpuTrouble::kNone;
  std::string reason;          // the library's own words for `trouble`
  int devices_on_pci_bus = 0;  // NVIDIA display controllers that the kernel sees, with or without a driver
};

Gpus inspect_gpus();

// Counts folders below `pci_devices` (as /sys/bus/pci/devices) whose vendor is NVIDIA and whose class is a
// display or 3D controller.
int count_nvidia_devices(const std::string& pci_devices);

}  // namespace maskfit::hardware
