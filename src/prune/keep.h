#pragma once

// Which filters of a layer stay: the arithmetic of the reference's "min weight" pruning on plain vectors.

#include <span>
#include <string>
#include <vector>

#include "network/network.h"

namespace maskfit::prune {

enum class Normalizer {
  kMax,  // by the layer's largest norm: 0..1
  kL2,   // by the L2 norm of its n norms, times n: equal filters all get sqrt(n)
  kOff,
};
// How the statistics of layers that must keep the same channels (both sides of an addition, a depthwise
// convolution and what feeds it) become one.
enum class Criterion {
  kUnion,         // the largest: a channel stays when one layer wants it
  kIntersection,  // the smallest: a channel stays when all want it
  kArithmeticMean,
  kGeometricMean,
};
// The reference's words: max, L2, off; union, intersection, arithmetic_mean, geometric_mean. Throw
// base::Error (kUsage) that lists them.
Normalizer normalizer_from_name(const std::string& name);
Criterion criterion_from_name(const std::string& name);
const char* to_string(Normalizer normalizer);
const char* to_string(Criterion criterion);

struct KeepRule {
  double threshold = 0.1;  // a filter stays on its own merit when its statistic is greater than this
  int granularity = 8;     // counts are rounded up to a multiple of this
  int min_filters = 16;    // no layer gets fewer than this, or than it has
};

// L2 norm of every filter of a kernel [filters][in][height][width]; a depthwise kernel has one a channel.
std::vector<double> filter_norms(const network::Array& kernel);

// A layer of zeros stays zero (the reference divides by 0 there).
std::vector<double> normalized(std::vector<double> norms, Normalizer normalizer);

// One statistic for filters that stay or go together. REQUIRES at least one, none negative.
double combined(std::span<const double> statistics, Criterion criterion);

// Places of the filters that stay, ascending: q = number of statistics > threshold, at least min_filters,
// rounded up to the granularity, at most all; the q largest, of equal ones the first. Never empty for a layer
// that has a filter.
std::vector<int> keep_set(std::span<const double> statistic, const KeepRule& rule);

}  // namespace maskfit::prune
