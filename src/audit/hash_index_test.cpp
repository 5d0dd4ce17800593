#include "audit/hash_index.h"

#include <gtest/gtest.h>

#include <bit>
#include <map>

#include "base/error.h"
#include "base/rng.h"

namespace maskfit::audit {
namespace {

std::uint64_t random_hash(base::Rng* rng) {
  return std::uint64_t{rng->next_u32()} << 32 | rng->next_u32();
}

std::vector<std::uint64_t> clustered(int n) {
  base::Rng rng(5, base::Purpose::kTest);
  std::vector<std::uint64_t> hashes;
  for (int i = 0; i < n; ++i) {
    std::uint64_t hash = i % 3 == 0 || hashes.empty() ? random_hash(&rng) : hashes[rng.uniform_int(0, i - 1)];
    for (std::int64_t k = rng.uniform_int(0, 9); k > 0; --k)
      hash ^= std::uint64_t{1} << rng.uniform_int(0, 63);
    hashes.push_back(hash);
  }
  return hashes;
}

TEST(HashIndex, FindsExactlyWhatComparingAllWithAllFinds) {
  const std::vector<std::uint64_t> hashes = clustered(600);
  const HashIndex index(hashes);
  for (const int radius : {0, 3, 4, 7, 8, HashIndex::kMaxRadius}) {
    int total = 0;
    for (std::uint32_t i = 0; i < hashes.size(); ++i) {
      std::map<std::uint32_t, int> wanted, found;
      for (std::uint32_t k = 0; k < i; ++k) {
        const int bits = std::popcount(hashes[i] ^ hashes[k]);
        if (bits <= radius) wanted[k] = bits;
      }
      index.near(hashes[i], radius, i,
                 [&](std::uint32_t k, int bits) { EXPECT_TRUE(found.emplace(k, bits).second) << "twice"; });
      EXPECT_EQ(found, wanted) << i << " radius " << radius;
      total += static_cast<int>(found.size());
    }
    if (radius > 3) EXPECT_GT(total, 100) << radius;
  }
}

TEST(HashIndex, AnEmptyIndexFindsNothing) {
  int found = 0;
  HashIndex({}).near(7, 8, 100, [&](std::uint32_t, int) { ++found; });
  EXPECT_EQ(found, 0);
}

TEST(HashIndex, ARadiusBeyondItsReachIsAMistake) {
  EXPECT_THROW(HashIndex({1}).near(1, 12, 1, [](std::uint32_t, int) {}), base::CheckFailed);
}

}  // namespace
}  // namespace maskfit::audit
