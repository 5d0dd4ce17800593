#pragma once

// The reference converter's sample_modifier_config: pictures of one class only are left out, pictures in
// which rare classes outnumber a dominant one are written several times, and the number of training records
// is capped.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace maskfit::dataset {

struct SampleModifier {
  std::vector<std::string> filter_only;          // target classes
  std::vector<std::string> dominant;             // target classes
  std::map<std::string, float> min_imbalance;    // target class -> factor; 1 where it is not named
  int num_duplicates = 0;                        // further copies
  std::int64_t max_training_samples = 0;         // over all training folds; 0: no cap
  std::map<std::string, std::string> target_of;  // class in the labels -> target class, in any case

  // Throws base::Error (kRefused) when filter_only or dominant names no target class.
  void check() const;

  // How often a picture with objects of these classes is written: 0 leaves it out. Classes without a target
  // do not count.
  int copies(const std::vector<std::string>& classes) const;

  // The cap of one training fold of `num_folds`, of which one validates where that is known; empty: none.
  std::optional<std::int64_t> cap(int num_folds, bool one_validates) const;
};

}  // namespace maskfit::dataset
