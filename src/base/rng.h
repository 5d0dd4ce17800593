#pragma once

// Counter-based random numbers: a draw is a pure function of (seed, epoch, sample, purpose, index), so what a
// sample gets does not depend on thread, rank, order or resume.
//
// The generator is Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011),
// with key = (seed, purpose) and counter = (index, epoch, sample low, sample high).

#include <cstdint>
#include <vector>

namespace maskfit::base {

// What a stream of numbers is for. Two purposes never share a number. Append only: the values are part of
// what makes an old run reproducible.
enum class Purpose : std::uint32_t {
  kTest = 0,
  kInitialWeights = 1,
  kShuffle = 2,
  kSplit = 3,
  kSpatialAugmentation = 4,
  kColorAugmentation = 5,
  kMosaic = 6,
  kSynthetic = 7,
  kSourceSampling = 8,
};

class Rng {
 public:
  Rng(std::uint64_t seed, Purpose purpose, std::uint64_t epoch = 0, std::uint64_t sample = 0);

  std::uint32_t next_u32();
  // [0, 1), 24 random bits.
  float uniform();
  // [low, high); works for a reversed interval, too.
  float uniform(float low, float high);
  // Uniform integer in [low, high], both included. REQUIRES low <= high.
  std::int64_t uniform_int(std::int64_t low, std::int64_t high);
  // Standard normal (Box-Muller).
  float normal();
  // Normal of mean 0, redrawn until |x| <= 2 sigma, as TensorFlow's truncated_normal.
  float truncated_normal(float sigma);
  bool bernoulli(float probability) { return uniform() < probability; }
  // A uniform permutation of 0..n-1 (Fisher-Yates).
  std::vector<std::int64_t> permutation(std::int64_t n);

 private:
  void refill();

  std::uint32_t key_[2];
  std::uint32_t counter_[4];
  std::uint32_t block_[4];
  int used_ = 4;
};

}  // namespace maskfit::base
