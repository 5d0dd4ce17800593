#include "hardware/gpu.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

namespace maskfit::hardware {
namespace fs = std::filesystem;
namespace {

// The part of NVML's binary interface that is used here, from its reference manual. It has been stable since
// 2013, so the toolkit's header is not needed to build.
using Device = struct NvmlDeviceTag*;
struct NvmlMemory {
  unsigned long long total, free, used;
};
struct NvmlPci {
  char bus_id_legacy[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};

constexpr int kSuccess = 0;
constexpr int kErrorNoPermission = 4;
constexpr int kErrorDriverNotLoaded = 9;
constexpr int kErrorLibraryVersionMismatch = 18;
constexpr int kP2pNvlink = 2;  // NVML_P2P_CAPS_INDEX_NVLINK
constexpr int kP2pOk = 0;
constexpr unsigned kMaxNvlinks = 18;

class Nvml {
 public:
  Nvml() : library_(::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) {}

  bool loaded() const { return library_ != nullptr; }

  // Calls a function of the library; std::nullopt when this version does not have it.
  template <typename... Args>
  std::optional<int> call(const char* name, Args... args) const {
    using Function = int (*)(Args...);
    const auto function = reinterpret_cast<Function>(::dlsym(library_.get(), name));
    if (function == nullptr) return std::nullopt;
    return function(args...);
  }
  template <typename... Args>
  bool ok(const char* name, Args... args) const {
    return call(name, args...) == kSuccess;
  }

  std::string error_text(int code) const {
    using Function = const char* (*)(int);
    const auto function = reinterpret_cast<Function>(::dlsym(library_.get(), "nvmlErrorString"));
    return function != nullptr ? function(code) : fmt::format("NVML error {}", code);
  }

 private:
  struct Close {
    void operator()(void* handle) const { ::dlclose(handle); }
  };
  std::unique_ptr<void, Close> library_;
};

GpuTrouble trouble_of(int code) {
  switch (code) {
    case kSuccess:
      return GpuTrouble::kNone;
    case kErrorNoPermission:
      return GpuTrouble::kNoPermission;
    case kErrorDriverNotLoaded:
      return GpuTrouble::kNoDriver;
    case kErrorLibraryVersionMismatch:
      return GpuTrouble::kDriverMismatch;
    default:
      return GpuTrouble::kOther;
  }
}

Gpu inspect(const Nvml& nvml, Device device, int index) {
  Gpu gpu;
  gpu.index = index;
  std::array<char, 96> name{};
  if (nvml.ok("nvmlDeviceGetName", device, name.data(), static_cast<unsigned>(name.size())))
    gpu.name = name.data();
  NvmlMemory memory{};
  if (nvml.ok("nvmlDeviceGetMemoryInfo", device, &memory)) {
    gpu.total_bytes = static_cast<std::int64_t>(memory.total);
    gpu.free_bytes = static_cast<std::int64_t>(memory.free);
  }
  nvml.ok("nvmlDeviceGetCudaComputeCapability", device, &gpu.capability_major, &gpu.capability_minor);
  NvmlPci pci{};
  if (nvml.ok("nvmlDeviceGetPciInfo_v3", device, &pci)) gpu.bus_id = pci.bus_id;
  return gpu;
}

// Active NVLinks of `from` that lead straight to `to`; through an NVSwitch all active ones do.
int count_nvlinks(const Nvml& nvml, Device from, const std::string& to_bus_id) {
  int active = 0, direct = 0;
  for (unsigned link = 0; link < kMaxNvlinks; ++link) {
    int state = 0;
    if (!nvml.ok("nvmlDeviceGetNvLinkState", from, link, &state) || state == 0) continue;
    ++active;
    NvmlPci remote{};
    if (nvml.ok("nvmlDeviceGetNvLinkRemotePciInfo_v2", from, link, &remote) && to_bus_id == remote.bus_id)
      ++direct;
  }
  return direct > 0 ? direct : active;
}

std::string pcie_link(const Nvml& nvml, Device a, Device b) {
  int level = -1;
  if (!nvml.ok("nvmlDeviceGetTopologyCommonAncestor", a, b, &level)) return "?";
  switch (level) {
    case 0:  // two devices of one board
    case 10:
      return "PIX";
    case 20:
      return "PXB";
    case 30:
      return "PHB";
    case 40:
      return "NODE";
    case 50:
      return "SYS";
    default:
      return "?";
  }
}

std::string link_between(const Nvml& nvml, Device a, Device b, const std::string& bus_id_of_b) {
  int status = -1;
  if (nvml.ok("nvmlDeviceGetP2PStatus", a, b, kP2pNvlink, &status) && status == kP2pOk) {
    if (const int links = count_nvlinks(nvml, a, bus_id_of_b); links > 0) return fmt::format("NV{}", links);
  }
  return pcie_link(nvml, a, b);
}

void inspect_driver(const Nvml& nvml, Gpus& gpus) {
  std::array<char, 80> version{};
  if (nvml.ok("nvmlSystemGetDriverVersion", version.data(), static_cast<unsigned>(version.size()))) {
    gpus.driver = version.data();
  }
  int cuda = 0;  // 1000 * major + 10 * minor
  if (nvml.ok("nvmlSystemGetCudaDriverVersion_v2", &cuda)) {
    gpus.cuda_driver = fmt::format("{}.{}", cuda / 1000, cuda % 1000 / 10);
  }
}

void inspect_devices(const Nvml& nvml, Gpus& gpus) {
  unsigned count = 0;
  nvml.ok("nvmlDeviceGetCount_v2", &count);
  std::vector<Device> devices;
  for (unsigned i = 0; i < count; ++i) {
    Device device = nullptr;
    if (!nvml.ok("nvmlDeviceGetHandleByIndex_v2", i, &device)) continue;
    devices.push_back(device);
    gpus.gpus.push_back(inspect(nvml, device, static_cast<int>(i)));
  }
  gpus.links.assign(devices.size(), std::vector<std::string>(devices.size(), "X"));
  for (std::size_t i = 0; i < devices.size(); ++i) {
    for (std::size_t j = 0; j < devices.size(); ++j) {
      if (i != j) gpus.links[i][j] = link_between(nvml, devices[i], devices[j], gpus.gpus[j].bus_id);
    }
  }
}

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

int count_nvidia_devices(const std::string& pci_devices) {
  int count = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(pci_devices, error)) {
    const bool nvidia = first_line(entry.path() / "vendor") == "0x10de";
    // Base class 03: display controller (0x0300 VGA, 0x0302 3D).
    if (nvidia && first_line(entry.path() / "class").starts_with("0x03")) ++count;
  }
  return count;
}

Gpus inspect_gpus() {
  Gpus gpus;
  gpus.devices_on_pci_bus = count_nvidia_devices("/sys/bus/pci/devices");
  const Nvml nvml;
  if (!nvml.loaded()) {
    gpus.trouble = GpuTrouble::kNoLibrary;
    gpus.reason = "libnvidia-ml.so.1 is not on this machine";
    return gpus;
  }
  const int code = nvml.call("nvmlInit_v2").value_or(-1);
  gpus.trouble = trouble_of(code);
  if (code != kSuccess) {
    gpus.reason = nvml.error_text(code);
    return gpus;
  }
  inspect_driver(nvml, gpus);
  inspect_devices(nvml, gpus);
  nvml.ok("nvmlShutdown");
  return gpus;
}

}  // namespace maskfit::hardware
