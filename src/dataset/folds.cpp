#include "dataset/folds.h"

#include <algorithm>

#include "base/error.h"
#include "dataset/python_random.h"

namespace maskfit::dataset {
namespace {

void shuffle_all(std::vector<Fold>& folds, PythonRandom& random) {
  for (Fold& fold : folds) random.shuffle(fold);
}

}  // namespace

std::vector<Fold> reference_random_folds(std::vector<std::string> names, float val_percent) {
  if (!(val_percent >= 0 && val_percent <= 100)) {
    throw base::Error(base::ExitCode::kUsage, fmt::format("{} percent for validation", val_percent),
                      "val_split", "give a number from 0 to 100");
  }
  std::sort(names.begin(), names.end());
  // The spec's float, widened and cut off: 29 percent of 100 are 28.
  const double fraction = static_cast<double>(val_percent) / 100.0;
  const auto num_val = static_cast<std::ptrdiff_t>(fraction * static_cast<double>(names.size()));
  std::vector<Fold> folds = {Fold(names.begin(), names.begin() + num_val),
                             Fold(names.begin() + num_val, names.end())};
  PythonRandom random(kReferenceSeed);
  shuffle_all(folds, random);
  shuffle_all(folds, random);
  return folds;
}

std::vector<Fold> sequence_folds(std::vector<std::pair<std::string, Fold>> sequences, int num_folds) {
  if (num_folds > 1) {
    std::sort(sequences.begin(), sequences.end(), [](const auto& a, const auto& b) {
      return a.second.size() != b.second.size() ? a.second.size() > b.second.size() : a.first < b.first;
    });
  }
  const std::size_t n = static_cast<std::size_t>(std::max(num_folds, 1));
  std::vector<Fold> folds(n);
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    Fold& fold = folds[n - 1 - i % n];
    fold.insert(fold.end(), sequences[i].second.begin(), sequences[i].second.end());
  }
  return folds;
}

void reference_shuffle(std::vector<Fold>& folds) {
  PythonRandom random(kReferenceSeed);
  shuffle_all(folds, random);
}

std::vector<std::int64_t> shard_sizes(std::int64_t n, int num_shards) {
  const std::int64_t k = std::max(num_shards, 1);
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(k), n / k);
  sizes.back() += n % k;
  return sizes;
}

std::string shard_name(const std::string& prefix, int fold, int num_folds, int shard, int num_shards) {
  std::string name = prefix;
  if (num_folds > 0) name += fmt::format("-fold-{:03}-of-{:03}", fold, num_folds);
  if (num_shards > 0) name += fmt::format("-shard-{:05}-of-{:05}", shard, num_shards);
  return name;
}

std::string fold_mark(int fold) {
  return fmt::format("fold-{:03}-of-", fold);
}

}  // namespace maskfit::dataset
