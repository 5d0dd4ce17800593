#include "train/snapshot.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "tensor/array.h"
#include "tensor/side_stream.h"
#include "train/session.h"

namespace maskfit::train {
namespace {

constexpr const char* kWeights = "weights/";

}  // namespace

std::map<std::string, network::Array> to_arrays(const std::map<std::string, at::Tensor>& tensors) {
  std::map<std::string, network::Array> arrays;
  for (const auto& [name, tensor] : tensors) arrays[name] = {tensor.sizes().vec(), tensor::to_values(tensor)};
  return arrays;
}

struct Snapshot::Impl {
  Checkpoint rest;  // all but the arrays
  std::map<std::string, at::Tensor> arrays;
  std::vector<std::string> names;  // of weights and moving statistics
  c10::Device device = c10::kCPU;
  std::optional<tensor::Moment> copied;
};

Snapshot::Snapshot(const Session& session) : impl_(std::make_unique<Impl>()) {
  const at::NoGradGuard no_grad;
  impl_->rest = session.state_without_arrays();
  impl_->names = session.array_names();
  const std::vector<at::Tensor> tensors = session.array_tensors();
  for (std::size_t i = 0; i < tensors.size(); ++i) impl_->arrays[kWeights + impl_->names[i]] = tensors[i];
  impl_->arrays.merge(session.optimizer->tensors());
  impl_->arrays.merge(session.average->tensors());
  for (auto& [name, tensor] : impl_->arrays) tensor = tensor.detach().clone();
  if (!tensors.empty()) impl_->device = tensors[0].device();
  impl_->copied.emplace(impl_->device);
}

Snapshot::~Snapshot() = default;

Checkpoint Snapshot::checkpoint(double best_map, std::int64_t best_epoch) const {
  impl_->copied->wait();
  const tensor::SideStream side(impl_->device);
  Checkpoint saved = impl_->rest;
  saved.numbers["best"] = {best_map, static_cast<double>(best_epoch)};
  saved.arrays = to_arrays(impl_->arrays);
  return saved;
}

network::Network Snapshot::averaged_network(network::Network like) const {
  impl_->copied->wait();
  const tensor::SideStream side(impl_->device);
  for (const std::string& name : impl_->names) {
    const auto average = impl_->arrays.find(WeightAverage::kPrefix + name);
    const at::Tensor& tensor =
        average != impl_->arrays.end() ? average->second : impl_->arrays.at(kWeights + name);
    like.weights.at(name).values = tensor::to_values(tensor);
  }
  return like;
}

}  // namespace maskfit::train
