#include "loader/sample_order.h"

#include <algorithm>

#include "base/error.h"
#include "base/rng.h"

namespace maskfit::loader {
namespace {

// One shuffled walk after another through a source's pictures.
class Walk {
 public:
  Walk(const Source& source, std::uint64_t number, std::uint64_t seed, std::int64_t epoch)
      : source_(source), number_(number), seed_(seed), epoch_(epoch) {}

  std::int64_t next() {
    if (at_ == static_cast<std::int64_t>(order_.size())) {
      base::Rng rng(seed_, base::Purpose::kShuffle, static_cast<std::uint64_t>(epoch_),
                    number_ << 32 | walk_++);
      order_ = rng.permutation(source_.count);
      at_ = 0;
    }
    return source_.first + order_[at_++];
  }

 private:
  Source source_;
  std::uint64_t number_, seed_;
  std::int64_t epoch_;
  std::uint64_t walk_ = 0;
  std::int64_t at_ = 0;
  std::vector<std::int64_t> order_;
};

}  // namespace

std::int64_t steps_per_epoch(std::int64_t pictures, std::int64_t batch, std::int64_t ranks) {
  MASKFIT_CHECK(pictures >= 0 && batch >= 1 && ranks >= 1, "pictures={} batch={} ranks={}", pictures, batch,
                ranks);
  const std::int64_t batches = (pictures + batch - 1) / batch;
  return (batches + ranks - 1) / ranks;
}

SampleOrder::SampleOrder(std::vector<Source> sources, SourceSampling sampling, int batch, std::uint64_t seed)
    : sources_(std::move(sources)), seed_(seed), batch_(batch) {
  std::vector<double> ratio;
  double total = 0;
  for (const Source& source : sources_) {
    pictures_ += source.count;
    const bool drawn = source.count > 0;
    ratio.push_back(!drawn                                 ? 0.0
                    : sampling == SourceSampling::kUniform ? 1.0
                                                           : static_cast<double>(source.count));
    total += ratio.back();
  }
  MASKFIT_CHECK(batch >= 1 && pictures_ >= 1, "batch={} pictures={}", batch, pictures_);
  double sum = 0;
  for (const double r : ratio) cumulative_.push_back((sum += r) / total);
  steps_per_epoch_ = loader::steps_per_epoch(pictures_, batch);
}

std::size_t SampleOrder::draw_source(float u) const {
  const auto found = std::upper_bound(cumulative_.begin(), cumulative_.end(), static_cast<double>(u));
  return std::min<std::size_t>(found - cumulative_.begin(), sources_.size() - 1);
}

std::vector<std::int64_t> SampleOrder::epoch_order(std::int64_t epoch) const {
  std::vector<Walk> walks;
  for (std::size_t s = 0; s < sources_.size(); ++s) walks.emplace_back(sources_[s], s, seed_, epoch);
  base::Rng rng(seed_, base::Purpose::kSourceSampling, static_cast<std::uint64_t>(epoch));
  std::vector<std::int64_t> order(static_cast<std::size_t>(steps_per_epoch_ * batch_));
  for (std::int64_t& picture : order) picture = walks[draw_source(rng.uniform())].next();
  return order;
}

float SampleOrder::source_weight(std::int64_t picture) const {
  for (const Source& source : sources_) {
    if (picture >= source.first && picture < source.first + source.count) return source.weight;
  }
  MASKFIT_CHECK(false, "picture={} of {}", picture, pictures_);
  return 0;
}

}  // namespace maskfit::loader
