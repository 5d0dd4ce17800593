#pragma once

// Facts about this build that need no other library.

#include <string>

namespace maskfit::base {

// "0.1.0", from project() in CMakeLists.txt.
std::string version();
// "g++ 12.2.0, Release, x86-64 baseline, without CUDA kernels"
std::string build_facts();
// Whether MASKFIT_CUDA was on.
bool built_with_cuda();

}  // namespace maskfit::base
