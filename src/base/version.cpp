#include "base/version.h"

#include <fmt/format.h>

namespace maskfit::base {

std::string version() {
  return MASKFIT_VERSION;
}

bool built_with_cuda() {
#ifdef MASKFIT_WITH_CUDA
  return true;
#else
  return false;
#endif
}

std::string build_facts() {
#if defined(__clang__)
  const std::string compiler =
      fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  const std::string compiler = fmt::format("g++ {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
#if defined(__AVX2__)
  const char* target = "x86-64 with AVX2 required";
#elif defined(__x86_64__)
  const char* target = "x86-64 baseline";
#else
  const char* target = "not x86-64";
#endif
  return fmt::format("{}, {}, {}, {} CUDA kernels", compiler, MASKFIT_BUILD_TYPE, target,
                     built_with_cuda() ? "with" : "without");
}

}  // namespace maskfit::base
