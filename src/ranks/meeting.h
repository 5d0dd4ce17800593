#pragma once

// How ranks find each other.

#include <chrono>
#include <vector>

#include "ranks/place.h"
#include "ranks/socket.h"

namespace maskfit::ranks {

struct Meeting {
  Socket next, previous;                   // ranks + 1 and - 1, in a ring
  std::vector<int> peers;                  // rank 0: 1, 2, ...; elsewhere: 0
  std::vector<Socket> control, lifelines;  // one a peer
};

// Rank 0 listens, the others call it and tell where they listen themselves, and each is told where its
// neighbour does. REQUIRES at least two ranks. Throws base::Error (kFailed) that names the ranks that did not
// come, (kUsage) for a rank of another job or number of ranks.
Meeting meet(const Place& place, std::chrono::milliseconds timeout);

}  // namespace maskfit::ranks
