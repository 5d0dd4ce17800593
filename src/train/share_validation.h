#pragma once

// A validation whose pictures are shared among the ranks, batch by batch.

#include <cstdint>
#include <vector>

#include "ranks/group.h"
#include "train/detect_all.h"

namespace maskfit::train {

// What a rank has found in its share of the batches.
struct DetectedShare {
  std::vector<std::int64_t> pictures;    // that it looked at, in the order of the set
  std::vector<double> batch_costs;       // mean of each of its batches, times its pictures
  std::int64_t non_finite_picture = -1;  // the first one, or -1
};

// Batch b of `batches` is rank b mod ranks' affair: the batches are those of one rank, so that every picture
// meets the network in the same company and not a bit differs.
bool is_mine(const ranks::Group* group, std::int64_t batch);

// Rank 0 gets everybody's detections, signals and costs as if it had made them; elsewhere `result` is left as
// it is. A meeting of all ranks. The sum of the costs is formed in the order of the batches.
void gather_shares(ranks::Group& group, const loader::PictureSet& pictures, DetectedShare share,
                   DetectedSet& result);

}  // namespace maskfit::train
