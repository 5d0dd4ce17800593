#pragma once

// Which part of a dataset a picture belongs to.

#include <cstdint>
#include <string>
#include <vector>

#include "dataset/dataset.h"

namespace maskfit::dataset {

struct DrawOptions {
  double val_percent = 20, test_percent = 0;  // of the samples that carry no split yet; together 0 .. 100
  std::uint64_t seed = 42;
};

// As assign_splits(), in the same proportion from every stratum (strata: one word a sample, such as its
// source and class; a group belongs to the stratum of most of its samples). Within a stratum groups stand in
// the order of a hash of their ids, and validation takes the first, test the next, training the rest. So a
// picture that is added moves only those at the two borders: after ten per cent more pictures at most two in
// a hundred of the old ones have another split. How a stratum's share is rounded is drawn from its name, so
// that many small strata together come out right. Throws base::Error (kUsage) for percentages out of range.
// REQUIRES strata.size() == samples.size().
void draw_splits(std::vector<Sample>& samples, const std::vector<std::string>& strata,
                 const DrawOptions& options);

}  // namespace maskfit::dataset
