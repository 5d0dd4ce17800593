#pragma once

// DBSCAN (Ester, Kriegel, Sander, Xu, KDD 1996) over boxes with the distance 1 - IoU and coverages as sample
// weights (spec 7.1, 7.3).

#include <span>
#include <vector>

#include "postprocess/postprocess.h"

namespace maskfit::postprocess {

struct DbscanOptions {
  double eps = 0.2;           // neighbours: 1 - intersection / (union + regulariser) <= eps
  double regulariser = 1e-5;  // square pixels
  double min_weight = 1;      // a core point's neighbourhood (itself included) weighs at least this
};

// One label a box: the number of its cluster, or -1 for noise. Clusters are numbered by their smallest core
// point; a point that is no core point belongs to the first cluster that has a core point near it. Time O(n
// log n + near pairs), memory O(n).
std::vector<int> dbscan(std::span<const boxes::Box> boxes, std::span<const float> weights,
                        const DbscanOptions& options);

// What is known of one cluster.
struct Cluster {
  boxes::Box box;            // mean, weighted by coverage
  double sum_coverage = 0;   // over members
  double mean_coverage = 0;  // over members
  double min_coverage = 0, max_coverage = 0;
  double spread = 0;         // root of the weighted variance of the four coordinates over the mean box's area
  std::vector<int> members;  // ascending places in the candidates
};

// One entry a cluster, by number.
std::vector<Cluster> summarise(const Candidates& candidates, std::span<const int> labels);

// Confidence of a cluster; NaN with kMeanCoverage when all its coverages are equal, as in the reference.
double confidence_of(const Cluster& cluster, ConfidenceModel model);

}  // namespace maskfit::postprocess
