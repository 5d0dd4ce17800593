// A stand-in for libnvidia-ml.so.1 with two GPUs joined by four NVLinks; doctor_test puts it on the library
// path. $FAKE_NVML_INIT is what nvmlInit_v2 returns (NVML's error numbers), 0 by default.

#include <cstdlib>
#include <cstring>

namespace {

// The handle of GPU i is a pointer to this array's element i.
char devices[2];
const char* const kNames[] = {"NVIDIA Fake 80GB", "NVIDIA Fake 40GB"};
const char* const kBusIds[] = {"00000000:18:00.0", "00000000:2A:00.0"};

long index_of(const void* device) {
  return static_cast<const char*>(device) - devices;
}

struct Memory {
  unsigned long long total, free, used;
};
struct Pci {
  char bus_id_legacy[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};

}  // namespace

extern "C" {

int nvmlInit_v2() {
  const char* code = std::getenv("FAKE_NVML_INIT");
  return code == nullptr ? 0 : static_cast<int>(std::strtol(code, nullptr, 10));
}
int nvmlShutdown() {
  return 0;
}
const char* nvmlErrorString(int) {
  return "the fake driver refuses";
}
int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  std::strncpy(text, "550.54.15", size);
  return 0;
}
int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = 12040;
  return 0;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 2;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = &devices[index];
  return 0;
}
int nvmlDeviceGetName(void* device, char* text, unsigned size) {
  std::strncpy(text, kNames[index_of(device)], size);
  return 0;
}
int nvmlDeviceGetMemoryInfo(void* device, Memory* memory) {
  memory->total = (index_of(device) == 0 ? 80ull : 40ull) << 30;
  memory->used = 1ull << 30;
  memory->free = memory->total - memory->used;
  return 0;
}
int nvmlDeviceGetCudaComputeCapability(void* device, int* major, int* minor) {
  *major = index_of(device) == 0 ? 9 : 7;
  *minor = index_of(device) == 0 ? 0 : 5;
  return 0;
}
int nvmlDeviceGetPciInfo_v3(void* device, Pci* pci) {
  std::strcpy(pci->bus_id, kBusIds[index_of(device)]);
  return 0;
}
int nvmlDeviceGetP2PStatus(void*, void*, int, int* status) {
  *status = 0;
  return 0;
}
// Links 0 to 3 are up and lead to the other GPU.
int nvmlDeviceGetNvLinkState(void*, unsigned link, int* active) {
  *active = link < 4 ? 1 : 0;
  return 0;
}
int nvmlDeviceGetNvLinkRemotePciInfo_v2(void* device, unsigned, Pci* pci) {
  std::strcpy(pci->bus_id, kBusIds[1 - index_of(device)]);
  return 0;
}

}  // extern "C"
