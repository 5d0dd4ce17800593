#pragma once

// Pictures of a set as the network's input tensor.

#include <cstdint>
#include <string>

#include "loader/batch.h"
#include "loader/picture_set.h"
#include "tensor/tensor_fwd.h"

namespace maskfit::train {

// Canvases [first, first + count) as bytes on the CPU: [count][H][W][channels].
at::Tensor canvas_bytes(const loader::PictureSet& pictures, std::int64_t first, std::int64_t count);

// Pictures [first, first + count) without augmentation: [count][channels][H][W] float32, 0..1, on `device`.
at::Tensor plain_pixels(const loader::PictureSet& pictures, std::int64_t first, std::int64_t count,
                        const std::string& device);

// A batch of augmented pictures, copied to `device`: [count][channels][H][W] float32.
at::Tensor to_tensor(const loader::PixelBatch& pixels, const std::string& device);

}  // namespace maskfit::train
