#pragma once

// The definition of at::Tensor, for the few headers whose structures hold tensors. They are for folders that
// may see LibTorch; everybody else gets by with tensor_fwd.h.

#include <ATen/core/Tensor.h>
