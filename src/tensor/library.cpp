#include "tensor/library.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>

namespace maskfit::tensor {

std::string config_value(const std::string& config, const std::string& key) {
  const std::size_t found = config.find(key);
  if (found == std::string::npos) return "";
  const std::size_t begin = found + key.size();
  return config.substr(begin, config.find_first_of(",\n", begin) - begin);
}

void use_threads(int threads) {
  at::set_num_threads(threads);
}

LibraryFacts library_facts() {
  LibraryFacts facts;
  facts.config = at::show_config();
  facts.version = config_value(facts.config, "TORCH_VERSION=");
  facts.cpu_kernels = config_value(facts.config, "CPU capability usage: ");
  facts.threads = at::get_num_threads();
  facts.built_with_cuda = config_value(facts.config, "USE_CUDA=") == "ON";
  facts.cuda_usable = facts.built_with_cuda && at::hasCUDA() && at::detail::getCUDAHooks().getNumGPUs() > 0;
  return facts;
}

}  // namespace maskfit::tensor
