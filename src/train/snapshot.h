#pragma once

// The state of a training at one moment, held while the training goes on: on a GPU its arrays are copied
// there and travel to the host only when somebody asks, on any thread.

#include <map>
#include <memory>
#include <string>

#include "network/network.h"
#include "tensor/tensor_fwd.h"
#include "train/checkpoint.h"

namespace maskfit::train {

struct Session;

// Copies on the host, row-major.
std::map<std::string, network::Array> to_arrays(const std::map<std::string, at::Tensor>& tensors);

class Snapshot {
 public:
  explicit Snapshot(const Session& session);
  ~Snapshot();
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  // Everything that the next step depends on, as the session had it but for the best validation, which may
  // have been decided since.
  Checkpoint checkpoint(double best_map, std::int64_t best_epoch) const;

  // The weights to validate and to save: the average where there is one. `like` is the network with any
  // weights; arrays that no step changes are taken from it.
  network::Network averaged_network(network::Network like) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace maskfit::train
