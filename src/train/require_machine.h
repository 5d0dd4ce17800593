#pragma once

// Whether this machine can do what a run asks for: asked before the run leaves anything behind.

#include <cstdint>
#include <string>

#include "spec/experiment.pb.h"

namespace maskfit::train {

// Throws base::Error: kUsage for an unknown device, kMachine when the machine lacks it.
void require_device(const std::string& device);

// Builds the network, its weights included, so that a pretrained model that cannot be read is refused here,
// too. Throws base::Error as require_device() does, kMachine when the device lacks the precision or
// the memory for a step of this batch (with the largest that would fit), kRefused for a network that the spec
// cannot have.
void require_machine(const spec::Experiment& experiment, const std::string& device);

// The memory part for `bytes` of memory. Throws base::Error (kMachine).
void require_memory(const spec::Experiment& experiment, const std::string& device, double bytes);

}  // namespace maskfit::train
