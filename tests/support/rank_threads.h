#pragma once

// The ranks of a training as threads of one process: for tests of what they do together.

#include <unistd.h>

#include <chrono>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "ranks/group.h"
#include "ranks/socket.h"

namespace maskfit::support {

// Runs `work` as that many ranks. What each threw, by rank; "" for nothing.
inline std::vector<std::string> run_ranks(int count, const std::function<void(ranks::Group&)>& work,
                                          std::chrono::milliseconds timeout = std::chrono::seconds(60)) {
  const ranks::Socket listener = ranks::listen_on(0, 1, /*loopback=*/true);
  const int port = ranks::port_of(listener), of_first = ::dup(listener.fd());
  std::vector<std::string> errors(static_cast<std::size_t>(count));
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < count; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        ranks::Group group({.rank = rank,
                            .ranks = count,
                            .local_rank = rank,
                            .local_ranks = count,
                            .port = port,
                            .listener = rank == 0 ? of_first : -1,
                            .job = "test",
                            .starter = "maskfit"},
                           {timeout});
        try {
          work(group);
        } catch (const std::exception& error) {
          group.fail(error.what());
          throw;
        }
      } catch (const std::exception& error) {
        errors[static_cast<std::size_t>(rank)] = error.what();
      }
    });
  }
  threads.clear();
  return errors;
}

}  // namespace maskfit::support
