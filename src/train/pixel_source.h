#pragma once

// Who turns the plan of a batch into the network's input: on a CPU the loader's threads, on a GPU one kernel
// over pictures that lie there as bytes.

#include <memory>
#include <string>

#include "loader/batch.h"
#include "loader/picture_set.h"
#include "model/detector.h"
#include "tensor/tensor_fwd.h"

namespace maskfit::train {

class PixelSource {
 public:
  virtual ~PixelSource() = default;
  // Whether make() reads `pixels`, which the loader has to fill then.
  virtual bool needs_host_pixels() const = 0;
  // [N][channels][H][W] on the device, 0..1. The host does not wait for it.
  virtual at::Tensor make(const loader::BatchPlan& plan, const loader::PixelBatch& pixels) = 0;
};

// On a GPU, in a build with our CUDA kernels, with pictures that are resident and fit there: uploads them
// all, once. Otherwise the pixels come from the host.
std::unique_ptr<PixelSource> make_pixel_source(const loader::PictureSet& pictures, const std::string& device,
                                               model::Precision precision);

}  // namespace maskfit::train
