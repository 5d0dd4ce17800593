#pragma once

// What will not work on this machine, why, and what to do about it.

#include <string>
#include <vector>

#include "hardware/cpu.h"
#include "hardware/gpu.h"
#include "hardware/memory.h"

namespace maskfit::hardware {

struct Machine {
  Cpu cpu;
  Memory memory;
  Disk disk;
  Gpus gpus;
};

// `work_folder`: where runs would be written.
Machine inspect_machine(const std::filesystem::path& work_folder);

// What the program brings along, as far as it decides what works here.
struct Program {
  bool cuda_kernels = false;      // MASKFIT_CUDA was on
  bool library_has_cuda = false;  // LibTorch was built with CUDA
  bool library_sees_gpu = false;  // and finds a device
  int threads = 1;                // that one operation may use
};

struct Advice {
  bool fatal = false;  // training cannot work at all
  std::string what;    // "no GPU is used"
  std::string why;     // "this build of maskfit has no CUDA kernels"
  std::string remedy;  // "build with MASKFIT_PRESET=gpu ./dev build"
};

// Most important first; empty when nothing stands in the way.
std::vector<Advice> advise(const Machine& machine, const Program& program);

}  // namespace maskfit::hardware
