#pragma once

// Bytes of files from strangers, made by bending good ones. Seeded: each round has its own seed, so that a
// failure repeats; the sanitizer build makes it strict. MASKFIT_MUTATION_ROUNDS asks for a longer run.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>

#include "base/error.h"
#include "base/rng.h"

namespace maskfit::support {

inline int mutation_rounds(int by_default = 3000) {
  const char* wanted = std::getenv("MASKFIT_MUTATION_ROUNDS");
  return wanted == nullptr
             ? by_default
             : static_cast<int>(std::max(1L, std::strtol(wanted, nullptr, 10) * by_default / 3000));
}

// One to four changes: a bit, a byte, a cut, a piece doubled, a piece lost, a number made large.
inline std::string mutated(std::string bytes, base::Rng& rng) {
  const auto place = [&] {
    return static_cast<std::size_t>(rng.uniform_int(0, static_cast<std::int64_t>(bytes.size()) - 1));
  };
  for (std::int64_t n = rng.uniform_int(1, 4); n > 0 && !bytes.empty(); --n) {
    const std::size_t at = place();
    switch (rng.uniform_int(0, 5)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << rng.uniform_int(0, 7)));
        break;
      case 1:
        bytes[at] = static_cast<char>(rng.uniform_int(0, 255));
        break;
      case 2:
        bytes.resize(at);
        break;
      case 3:
        bytes.insert(at, bytes.substr(place(), 16));
        break;
      case 4:
        bytes.erase(at, 5);
        break;
      default:
        bytes.replace(at, 1, "99999999999999999999");
        break;
    }
  }
  return bytes;
}

inline std::string mutated(const std::string& bytes, int round) {
  base::Rng rng(7, base::Purpose::kTest, 0, static_cast<std::uint64_t>(round));
  return mutated(bytes, rng);
}

// Reads `good` and mutations of it; an Error is as good as a value.
inline void expect_survives(const std::string& good, const std::function<void(const std::string&)>& read,
                            int rounds = mutation_rounds()) {
  read(good);
  for (int round = 0; round < rounds; ++round) {
    const std::string bytes = mutated(good, round);
    SCOPED_TRACE(testing::Message() << "round " << round);
    try {
      read(bytes);
    } catch (const base::Error& error) {
      EXPECT_STRNE(error.what(), "");
    }
  }
}

}  // namespace maskfit::support
