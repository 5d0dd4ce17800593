#pragma once

// Finds the hashes near a hash without comparing all with all.
//
// Multi-index hashing (Norouzi, Punjani, Fleet, "Fast search in Hamming space with multi-index hashing", CVPR
// 2012): a 64-bit hash is four bands of 16 bits. Two hashes that differ in at most r bits differ in at most
// floor(r / 4) bits of one band at least, so it is enough to look into the buckets of each band's value and
// of its neighbours that near.

#include <cstdint>
#include <functional>
#include <vector>

namespace maskfit::audit {

class HashIndex {
 public:
  // Bits in which a hash and one that is found may differ.
  static constexpr int kMaxRadius = 11;

  // Copies the hashes; 24 bytes each.
  explicit HashIndex(std::vector<std::uint64_t> hashes);

  // Calls found(i, distance) once for every hash i with i < below whose distance is at most `radius`, in no
  // particular order. REQUIRES 0 <= radius <= kMaxRadius. Safe from several threads at a time.
  void near(std::uint64_t hash, int radius, std::uint32_t below,
            const std::function<void(std::uint32_t, int)>& found) const;

 private:
  static constexpr int kBands = 4;

  std::vector<std::uint64_t> hashes_;
  // Of each band: where the bucket of each value starts in `members`.
  struct Band {
    std::vector<std::uint32_t> starts, members;
    // A bit for each value that has a bucket: most have none, and 8 KB stay in the nearest cache.
    std::vector<std::uint64_t> occupied;
  };
  Band bands_[kBands];
};

}  // namespace maskfit::audit
