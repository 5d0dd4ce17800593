#pragma once

// Everything a training needs to go on as if it had never stopped, as named values, and its bytes: a
// safetensors file whose arrays are `arrays` and whose metadata are the rest. Doubles are written in
// hexadecimal, so that each returns with the same bits, infinities and NaN among them.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "network/network.h"

namespace maskfit::train {

struct Checkpoint {
  std::int64_t step = 0;                               // finished optimiser steps
  std::map<std::string, std::string> texts;            // "spec_digest", "data_digest", ...
  std::map<std::string, std::vector<double>> numbers;  // "autoweight/objective_weights", "best/map", ...
  std::map<std::string, network::Array>
      arrays;  // "weights/conv1/kernel", "adam/first_moment/conv1/kernel", ...

  // Throws base::Error (kRefused) naming the entry that is missing or of another length than `size`.
  const std::vector<double>& numbers_of(const std::string& name, std::size_t size) const;
  const network::Array& array(const std::string& name) const;
};

std::string encode_checkpoint(const Checkpoint& checkpoint);
// Throws base::Error (kRefused) for a file of another kind or of a newer version.
Checkpoint decode_checkpoint(std::string_view bytes, const std::string& name_for_errors);

}  // namespace maskfit::train
