#include "tensor/version.h"

#include <torch/version.h>
#if TORCH_VERSION_MAJOR >= 2
#include <ATen/ops/_foreach_copy.h>
#endif

#include "base/error.h"

namespace maskfit::tensor {

void copy_all(const std::vector<at::Tensor>& destinations, const std::vector<at::Tensor>& sources) {
  MASKFIT_CHECK(destinations.size() == sources.size(), "{} destinations, {} sources", destinations.size(),
                sources.size());
#if TORCH_VERSION_MAJOR >= 2
  if (!destinations.empty()) at::_foreach_copy_(destinations, sources);
#else
  for (std::size_t i = 0; i < destinations.size(); ++i) destinations[i].copy_(sources[i]);
#endif
}

}  // namespace maskfit::tensor
