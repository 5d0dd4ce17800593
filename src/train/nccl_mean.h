#pragma once

// Means over GPUs by NCCL, which LibTorch for CUDA brings along: a dozen of its functions are looked up in
// libnccl.so.2 when they are needed, so that neither its header nor its library is needed to build.

#include <memory>
#include <string>

#include "ranks/group.h"
#include "tensor/rank_mean.h"

namespace maskfit::train {

// Works on one stream of its own, beside the current one; every call can be recorded into a CUDA graph. When
// a rank of the group fails, what hangs on the GPU is aborted. Throws base::Error (kMachine) in a build
// without CUDA, without the library, or where NCCL refuses.
std::unique_ptr<tensor::RankMean> make_nccl_mean(ranks::Group& group, const std::string& device);

}  // namespace maskfit::train
