#pragma once

// Frames of videos, told by numbers in their names and by how little changes from one to the next.

#include <string>
#include <vector>

#include "audit/similar.h"

namespace maskfit::audit {

// "clips/a/frame_0012" -> {"clips/a/frame_", 12}: the last run of digits in the file's name; what is behind
// it belongs to the series, too. number is -1 when there is none.
struct NumberedName {
  std::string series;
  long long number = -1;
};
NumberedName numbered_name(const std::string& id);

std::vector<Sequence> find_sequences(const std::vector<std::string>& ids,
                                     const std::vector<PictureFacts>& facts, const SimilarOptions& options);

}  // namespace maskfit::audit
