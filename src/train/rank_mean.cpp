#include "train/rank_mean.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>

#include <future>
#include <utility>
#include <vector>

#include "base/error.h"
#include "loss/loss_tensors.h"
#include "tensor/device.h"
#include "train/nccl_mean.h"

namespace maskfit::train {
namespace {

class HostMean : public tensor::RankMean {
 public:
  explicit HostMean(ranks::Group& group) : group_(group) {}
  ~HostMean() override {
    // The group's thread may still be at work in the memory of our tensors.
    for (Begun& begun : begun_) begun.done.wait();
  }

  int ranks() const override { return group_.size(); }

  void mean(const at::Tensor& values) override {
    check(values);
    if (values.scalar_type() == at::kDouble) {
      group_.sum(std::span(values.data_ptr<double>(), static_cast<std::size_t>(values.numel())));
    } else {
      group_.sum(floats(values));
    }
    divide(values);
  }

  void begin(const at::Tensor& values) override {
    check(values);
    begun_.push_back({values, group_.sum_later(floats(values))});
  }

  void finish() override {
    for (Begun& begun : begun_) begun.done.wait();
    std::vector<Begun> done = std::exchange(begun_, {});
    for (Begun& begun : done) begun.done.get();
    for (const Begun& begun : done) divide(begun.values);
  }

 private:
  struct Begun {
    at::Tensor values;
    std::future<void> done;
  };

  static void check(const at::Tensor& values) {
    MASKFIT_CHECK(values.is_cpu() && values.is_contiguous(), "a mean over ranks of other memory");
  }
  static std::span<float> floats(const at::Tensor& values) {
    return {values.data_ptr<float>(), static_cast<std::size_t>(values.numel())};
  }
  void divide(const at::Tensor& values) const {
    const at::NoGradGuard no_grad;
    values.div_(group_.size());
  }

  ranks::Group& group_;
  std::vector<Begun> begun_;
};

}  // namespace

std::unique_ptr<tensor::RankMean> make_rank_mean(ranks::Group& group, const std::string& device) {
  if (tensor::device_from_name(device).is_cpu()) return std::make_unique<HostMean>(group);
  return make_nccl_mean(group, device);
}

void begin_mean_of_costs(loss::Loss& loss, tensor::RankMean& mean) {
  const at::NoGradGuard no_grad;
  const at::Tensor costs = at::cat({loss.task.detach().view(1), loss.mean_costs.reshape(-1)});
  mean.begin(costs);
  loss.task = costs[0];
  loss.mean_costs = costs.narrow(0, 1, costs.size(0) - 1).view(loss.mean_costs.sizes());
}

}  // namespace maskfit::train
