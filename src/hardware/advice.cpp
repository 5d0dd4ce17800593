#include "hardware/advice.h"

#include <fmt/format.h>

namespace maskfit::hardware {
namespace {

constexpr std::int64_t kGib = std::int64_t{1} << 30;
// Training ResNet-18 at 960x544, batch 1, takes about 1.5 GB on the CPU; a run folder with its checkpoints
// about 1 GB.
constexpr std::int64_t kMemoryWanted = 4 * kGib;
constexpr std::int64_t kMemoryNeeded = 1 * kGib;
constexpr std::int64_t kDiskWanted = 5 * kGib;
constexpr std::int64_t kDiskNeeded = kGib / 2;

const std::string kNoGpu = "training runs on the CPU only";

// Why the driver shows no GPU. Nothing when the machine simply has none.
std::vector<Advice> advise_driver(const Gpus& gpus) {
  switch (gpus.trouble) {
    case GpuTrouble::kNone:
    case GpuTrouble::kNoLibrary:
    case GpuTrouble::kNoDriver:
      if (gpus.devices_on_pci_bus == 0 || !gpus.gpus.empty()) return {};
      return {{false, kNoGpu,
               fmt::format("{} NVIDIA device(s) on the PCI bus, but no driver serves them",
                           gpus.devices_on_pci_bus),
               "install the driver (Debian: apt-get install nvidia-driver, from non-free) and restart"}};
    case GpuTrouble::kDriverMismatch:
      return {{false, kNoGpu,
               "the NVIDIA kernel module and its libraries are of different versions: " + gpus.reason,
               "restart the machine; in a container, use the host's driver libraries"}};
    case GpuTrouble::kNoPermission:
      return {{false, kNoGpu, "this user may not open the GPU: " + gpus.reason,
               "join the group that owns /dev/nvidia*, usually video or render"}};
    case GpuTrouble::kOther:
      return {{false, kNoGpu, "the NVIDIA driver answers: " + gpus.reason,
               "look into dmesg for lines with NVRM"}};
  }
  return {};
}

std::vector<Advice> advise_gpu(const Machine& machine, const Program& program) {
  if (machine.gpus.gpus.empty()) return advise_driver(machine.gpus);
  if (!program.library_has_cuda) {
    return {{false, "the GPU is not used", "maskfit is linked with a LibTorch for the CPU",
             "MASKFIT_PRESET=gpu ./dev build, with a CUDA LibTorch: pip install torch, or -DTorch_DIR=..."}};
  }
  if (!program.cuda_kernels) {
    return {{false, "GPU training is slower than it could be", "this build has no CUDA kernels of its own",
             "MASKFIT_PRESET=gpu ./dev build, with nvcc on the PATH"}};
  }
  if (!program.library_sees_gpu) {
    return {{false, "the GPU is not used",
             fmt::format("LibTorch finds no device; the driver {} serves CUDA up to {}", machine.gpus.driver,
                         machine.gpus.cuda_driver),
             "unset CUDA_VISIBLE_DEVICES, or use a LibTorch for that CUDA version, or a newer driver"}};
  }
  std::vector<Advice> advice;
  for (const Gpu& gpu : machine.gpus.gpus) {
    if (gpu.capability_major >= 8) continue;
    const bool half = gpu.capability_major == 7;
    advice.push_back({false, fmt::format("bf16 is slow on GPU {}", gpu.index),
                      fmt::format("{} has compute capability {}.{}; bf16 came with 8.0", gpu.name,
                                  gpu.capability_major, gpu.capability_minor),
                      half ? "train with --precision fp16" : "train with --precision fp32"});
  }
  return advice;
}

std::vector<Advice> advise_cpu(const Machine& machine, const Program& program) {
  std::vector<Advice> advice;
  if (machine.cpu.level < 3) {
    advice.push_back(
        {false, "training on the CPU is several times slower than on a newer one",
         fmt::format("the processor has no AVX2 (x86-64-v{}), so plain kernels are used", machine.cpu.level),
         "nothing is wrong; use small inputs (--size 480x272), or another machine for training"});
  }
  if (program.threads < machine.cpu.cores) {
    advice.push_back({false, fmt::format("only {} of {} cores are used", program.threads, machine.cpu.cores),
                      "--threads or OMP_NUM_THREADS says so", "unset OMP_NUM_THREADS"});
  }
  return advice;
}

std::vector<Advice> advise_space(const Machine& machine) {
  std::vector<Advice> advice;
  if (const std::int64_t usable = machine.memory.usable_bytes(); usable < kMemoryWanted) {
    advice.push_back({usable < kMemoryNeeded, "training may run out of memory",
                      fmt::format("{} can be used{}", format_bytes(usable),
                                  machine.memory.limit_bytes ? " in this container" : ""),
                      "use a smaller --batch and --size, or give it more memory"});
  }
  if (machine.disk.free_bytes < kDiskWanted) {
    advice.push_back(
        {machine.disk.free_bytes < kDiskNeeded, "a run may not fit on the disk",
         fmt::format("{} are free in {}", format_bytes(machine.disk.free_bytes), machine.disk.path.string()),
         "free some space, or write runs elsewhere with --out"});
  }
  return advice;
}

void append(std::vector<Advice>& to, const std::vector<Advice>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

Machine inspect_machine(const std::filesystem::path& work_folder) {
  return {inspect_cpu(), inspect_memory(), inspect_disk(work_folder), inspect_gpus()};
}

std::vector<Advice> advise(const Machine& machine, const Program& program) {
  std::vector<Advice> advice = advise_gpu(machine, program);
  append(advice, advise_space(machine));
  append(advice, advise_cpu(machine, program));
  return advice;
}

}  // namespace maskfit::hardware
