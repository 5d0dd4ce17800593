#pragma once

// A network that comes from a file is data: what is wrong with it is the file's fault, not ours. The same
// checks serve both, so what they throw is put into other words here.

#include <string>

#include "base/error.h"

namespace maskfit::network {

// What a failed check says about the network, without the expression and its place in the source:
// "node 'conv1': stride=0".
std::string reason_of(const base::CheckFailed& error);

}  // namespace maskfit::network
