#pragma once

// What the LibTorch that is linked in says about itself.

#include <string>

namespace maskfit::tensor {

struct LibraryFacts {
  std::string version;  // "1.13.0"
  std::string
      cpu_kernels;  // the instruction set that its CPU kernels chose on this machine: "DEFAULT", "AVX2", ...
  int threads = 1;  // that one operation may use
  bool built_with_cuda = false;
  bool cuda_usable = false;  // a CUDA build that sees a driver and a device
  std::string config;        // its own description, many lines
};

LibraryFacts library_facts();

// Threads that one operation may use. LibTorch's own default counts physical cores, sometimes too few in a
// virtual machine or a container, so cli/app.cpp calls this once before any command.
void use_threads(int threads);

// The text after `key` up to the next comma or line end, or "" when `config` does not have it.
// Apart from library_facts() for the tests: config_value("USE_CUDA=OFF, X=1", "USE_CUDA=") is "OFF".
std::string config_value(const std::string& config, const std::string& key);

}  // namespace maskfit::tensor
