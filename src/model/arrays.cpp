#include "model/arrays.h"

#include "base/error.h"
#include "tensor/array.h"

namespace maskfit::model {
namespace {

// Calls visit(slot, tensor) for every array in node order.
template <typename Visit>
void for_each_slot(std::vector<NodeArrays>& arrays, const network::Network& network, Visit visit) {
  std::size_t node = 0;
  for (const network::WeightSlot& slot : network::weight_slots(network)) {
    while (network.nodes.at(node).name != slot.node) ++node;
    visit(slot, array_of(arrays.at(node), slot.name));
  }
}

}  // namespace

at::Tensor& array_of(NodeArrays& arrays, const std::string& slot_name) {
  const std::string array = slot_name.substr(slot_name.rfind('/') + 1);
  if (array == "kernel") return arrays.kernel;
  if (array == "bias") return arrays.bias;
  if (array == "gamma") return arrays.gamma;
  if (array == "beta") return arrays.beta;
  if (array == "moving_mean") return arrays.mean;
  MASKFIT_CHECK(array == "moving_variance", "slot_name={}", slot_name);
  return arrays.variance;
}

std::vector<NodeArrays> load_arrays(const network::Network& network, at::Device device,
                                    at::MemoryFormat format) {
  network::check_weights(network);
  std::vector<NodeArrays> arrays(network.nodes.size());
  for_each_slot(arrays, network, [&](const network::WeightSlot& slot, at::Tensor& tensor) {
    tensor = tensor::from_values(network.weights.at(slot.name).values, slot.shape, device);
    if (tensor.dim() == 4) tensor = tensor.contiguous(format);
  });
  return arrays;
}

void store_arrays(std::vector<NodeArrays>& arrays, network::Network& network) {
  for_each_slot(arrays, network, [&](const network::WeightSlot& slot, at::Tensor& tensor) {
    network.weights.at(slot.name).values = tensor::to_values(tensor);
  });
}

}  // namespace maskfit::model
