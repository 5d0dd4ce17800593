#pragma once

// How the reference's converter parts frames into folds, folds into shards, and what it calls the files
// (docs/tfrecord-format.md). Fold 0 is the one that `validation_fold: 0` validates on.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace maskfit::dataset {

using Fold = std::vector<std::string>;  // frame names in the order they are written

inline constexpr std::uint32_t kReferenceSeed = 42;  // the converter's, not configurable there

// partition_mode "random" as the reference does it, for comparison with old files: the *first* val_percent of
// the names in byte order are fold 0, the others fold 1, and each fold is shuffled twice (fold 0, 1, 0, 1)
// from one generator. Accepts 100 percent (everything into fold 0), which the reference's own spec files ask
// for and its converter rejects.
std::vector<Fold> reference_random_folds(std::vector<std::string> names, float val_percent);

// partition_mode "sequence": whole sequences, longest first (then by name), are dealt to the folds in turn,
// and the list of folds is reversed. With num_folds 0 or 1 everything is one fold, in the order given. Not
// shuffled yet.
std::vector<Fold> sequence_folds(std::vector<std::pair<std::string, Fold>> sequences, int num_folds);

// Shuffles every fold in turn from one generator: what the reference does before it writes.
void reference_shuffle(std::vector<Fold>& folds);

// floor(n / k) each, the last one takes the rest. `num_shards` 0 counts as 1.
std::vector<std::int64_t> shard_sizes(std::int64_t n, int num_shards);
// "PREFIX-fold-000-of-002-shard-00000-of-00010"; the fold part only with num_folds > 0, the shard part only
// with num_shards > 0.
std::string shard_name(const std::string& prefix, int fold, int num_folds, int shard, int num_shards);
// "fold-000-of-": a file whose name has it belongs to that fold.
std::string fold_mark(int fold);

}  // namespace maskfit::dataset
