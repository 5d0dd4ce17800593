#include "train/gradient_buckets.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/as_strided.h>
#include <ATen/ops/empty.h>

#include "base/error.h"

namespace maskfit::train {

struct GradientBuckets::Bucket {
  at::Tensor values;     // flat
  std::size_t last = 0;  // place in the order of the gradient that fills it
};

GradientBuckets::GradientBuckets(std::vector<at::Tensor> parameters, tensor::RankMean& mean,
                                 std::int64_t bucket_bytes)
    : parameters_(std::move(parameters)),
      mean_(mean),
      bucket_bytes_(bucket_bytes),
      views_(parameters_.size()) {
  for (const at::Tensor& parameter : parameters_) {
    MASKFIT_CHECK(parameter.is_non_overlapping_and_dense(), "{} dimensions", parameter.dim());
  }
}
GradientBuckets::~GradientBuckets() = default;

std::size_t GradientBuckets::buckets() const {
  return buckets_.size();
}

void GradientBuckets::take(std::size_t index, const at::Tensor& gradient) {
  const at::NoGradGuard no_grad;
  if (buckets_.empty()) {
    order_.push_back(index);
    return;
  }
  MASKFIT_CHECK(taken_ < order_.size() && order_[taken_] == index, "gradient {} comes at place {}", index,
                taken_);
  views_[index].copy_(gradient);
  for (const Bucket& bucket : buckets_) {
    if (bucket.last == taken_) mean_.begin(bucket.values);
  }
  ++taken_;
}

void GradientBuckets::lay_out() {
  std::size_t first = 0;
  while (first < order_.size()) {
    std::int64_t size = 0;
    std::size_t end = first;
    while (end < order_.size() && size * static_cast<std::int64_t>(sizeof(float)) < bucket_bytes_) {
      size += parameters_[order_[end++]].numel();
    }
    const at::Tensor flat = at::empty({size}, parameters_[0].options().dtype(at::kFloat));
    std::int64_t offset = 0;
    for (std::size_t i = first; i < end; ++i) {
      const at::Tensor& parameter = parameters_[order_[i]];
      views_[order_[i]] = at::as_strided(flat, parameter.sizes(), parameter.strides(), offset);
      offset += parameter.numel();
    }
    buckets_.push_back({flat, end - 1});
    first = end;
  }
}

void GradientBuckets::finish(std::vector<at::Tensor>& gradients) {
  const at::NoGradGuard no_grad;
  MASKFIT_CHECK(gradients.size() == parameters_.size(), "{} gradients", gradients.size());
  if (buckets_.empty()) {
    lay_out();
    for (const std::size_t index : order_) views_[index].copy_(gradients[index]);
    for (const Bucket& bucket : buckets_) mean_.begin(bucket.values);
  } else {
    MASKFIT_CHECK(taken_ == order_.size(), "{} of {} gradients came", taken_, order_.size());
  }
  mean_.finish();
  taken_ = 0;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (views_[i].defined()) gradients[i] = views_[i];
  }
}

}  // namespace maskfit::train
