#include <fmt/format.h>

#include <iostream>

#include "base/text.h"
#include "base/version.h"
#include "cli/command.h"
#include "hardware/cpu.h"
#include "tensor/library.h"

namespace maskfit::cli {
namespace {

int doctor() {
  const hardware::Cpu cpu = hardware::inspect_cpu();
  const tensor::LibraryFacts library = tensor::library_facts();
  std::cout << fmt::format("CPU       {}, {} of {} cores usable\n", cpu.model, cpu.cores, cpu.cores_online)
            << fmt::format("          x86-64-v{}: {}\n", cpu.level, fmt::join(cpu.instructions, " "))
            << fmt::format("          in use: {} kernels of LibTorch\n", library.cpu_kernels)
            << fmt::format("LibTorch  {}, {} threads, CUDA {}\n", library.version, library.threads,
                           library.cuda_usable       ? "usable"
                           : library.built_with_cuda ? "built in, no device"
                                                     : "not built in")
            << fmt::format("maskfit   {}, {}\n", base::version(), base::build_facts());
  return 0;
}

}  // namespace

Command doctor_command() {
  return {"doctor", "What this machine can do, what will not work and what to do about it",
          [](CLI::App&) -> std::function<int()> { return doctor; }};
}

}  // namespace maskfit::cli
