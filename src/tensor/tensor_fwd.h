#pragma once

// All that a header outside tensor/ may say about LibTorch: a reference to a tensor it does not look into.

namespace at {
class Tensor;
}  // namespace at
