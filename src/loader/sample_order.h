#pragma once

// Which picture is looked at when: a pure function of (sources, seed, epoch, step).

#include <cstdint>
#include <vector>

namespace maskfit::loader {

// A run of pictures that came from one place: [first, first + count) of the loader's list.
struct Source {
  std::int64_t first = 0, count = 0;
  float weight = 1;  // of its pictures in the loss (dataset_config.data_sources.source_weight)
};

// From which source the next picture comes when there are several (dataset_config.sampling_mode).
enum class SourceSampling {
  kProportional,  // with a probability in proportion to its pictures
  kUniform,       // with equal probability
};

// ceil(ceil(pictures / batch) / ranks): every rank sees full batches, the last ones filled from the next
// shuffle.
std::int64_t steps_per_epoch(std::int64_t pictures, std::int64_t batch, std::int64_t ranks = 1);

class SampleOrder {
 public:
  // REQUIRES batch >= 1 and at least one picture; sources without pictures are never drawn.
  SampleOrder(std::vector<Source> sources, SourceSampling sampling, int batch, std::uint64_t seed);

  // ceil(pictures / batch), the reference's: every batch is full, the last one of an epoch is filled with
  // pictures of a new shuffle.
  std::int64_t steps_per_epoch() const { return steps_per_epoch_; }
  std::int64_t pictures() const { return pictures_; }
  const std::vector<Source>& sources() const { return sources_; }

  // The pictures of a whole epoch, step after step: steps_per_epoch() * batch indices. A source is walked
  // through in shuffled order before any of its pictures comes again. epoch is 0-based.
  std::vector<std::int64_t> epoch_order(std::int64_t epoch) const;
  // Weight of the source that picture belongs to.
  float source_weight(std::int64_t picture) const;

 private:
  std::size_t draw_source(float u) const;

  std::vector<Source> sources_;
  std::vector<double> cumulative_;  // probability that the source's number is <= i
  std::uint64_t seed_;
  int batch_;
  std::int64_t pictures_ = 0, steps_per_epoch_ = 0;
};

}  // namespace maskfit::loader
