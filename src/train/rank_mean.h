#pragma once

// tensor::RankMean over the ranks of a group: through its sockets for a CPU, through NCCL for a GPU.

#include <memory>
#include <string>

#include "loss/detection_loss.h"
#include "ranks/group.h"
#include "tensor/rank_mean.h"

namespace maskfit::train {

// `group` must outlive it. Throws base::Error (kMachine) where NCCL is missing or refuses.
std::unique_ptr<tensor::RankMean> make_rank_mean(ranks::Group& group, const std::string& device);

// loss.task and loss.mean_costs become the means over the ranks, once RankMean::finish() has been called;
// without a gradient.
void begin_mean_of_costs(loss::Loss& loss, tensor::RankMean& mean);

}  // namespace maskfit::train
