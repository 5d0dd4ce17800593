#pragma once

// Pictures of a set as the network's input tensor.

#include <cstdint>
#include <memory>
#include <string>

#include "loader/batch.h"
#include "loader/picture_set.h"
#include "tensor/tensor_fwd.h"

namespace maskfit::train {

// Canvases [first, first + count) as bytes on the CPU: [count][H][W][channels].
at::Tensor canvas_bytes(const loader::PictureSet& pictures, std::int64_t first, std::int64_t count);

// All canvases as bytes on a GPU, [pictures][H][W][channels], when they fit into a share of its free memory;
// otherwise, and on a CPU, an undefined tensor.
at::Tensor resident_bytes(const loader::PictureSet& pictures, const std::string& device);

// Pictures of a set without augmentation. The set must outlive it.
class PlainPixels {
 public:
  // keep: on a GPU, hold the bytes there when they fit; for a set that is looked at again and again.
  PlainPixels(const loader::PictureSet& pictures, std::string device, bool keep = false);
  ~PlainPixels();

  // Pictures [first, first + count): [count][channels][H][W] float32, 0..1, on the device.
  at::Tensor make(std::int64_t first, std::int64_t count) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A batch of augmented pictures, copied to `device`: [count][channels][H][W] float32.
at::Tensor to_tensor(const loader::PixelBatch& pixels, const std::string& device);

}  // namespace maskfit::train
