#pragma once

// The gradients of all ranks, averaged while the backward pass still runs: they are copied into a few flat
// float32 arrays in the order in which they become ready, and each array goes on its way when it is full.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tensor/rank_mean.h"
#include "tensor/tensor_fwd.h"

namespace maskfit::train {

class GradientBuckets {
 public:
  static constexpr std::int64_t kBucketBytes = 8 << 20;

  // `mean` must outlive it. REQUIRES parameters of dense memory; their layout is that of the gradients, too.
  GradientBuckets(std::vector<at::Tensor> parameters, tensor::RankMean& mean,
                  std::int64_t bucket_bytes = kBucketBytes);
  ~GradientBuckets();

  // During a backward pass, in an order that is the same in every step (Detector::on_gradient).
  void take(std::size_t index, const at::Tensor& gradient);
  // After it: `gradients`, one a parameter, become the means over the ranks; what take() did not see is the
  // same on all ranks and stays. The first step learns the order, and averages everything here.
  void finish(std::vector<at::Tensor>& gradients);

  std::size_t buckets() const;

 private:
  struct Bucket;
  void lay_out();

  std::vector<at::Tensor> parameters_;
  tensor::RankMean& mean_;
  std::int64_t bucket_bytes_;
  std::vector<std::size_t> order_;  // of arrival; complete after the first step
  std::size_t taken_ = 0;           // in this step
  std::vector<at::Tensor> views_;   // by parameter, into a bucket; undefined where no gradient comes
  std::vector<Bucket> buckets_;
};

}  // namespace maskfit::train
