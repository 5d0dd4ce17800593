#pragma once

// Bad data as a value. Importers, readers and audits collect findings; commands print and count them.

#include <string>
#include <vector>

namespace maskfit::base {

enum class Severity {
  kRepaired,  // used after a repair; `what` says which
  kWarning,   // used as it is
  kRefused,   // not used
};

struct Finding {
  Severity severity = Severity::kRefused;
  std::string file;    // path as given by the user
  int line = 0;        // 1-based; 0 when the finding is about the whole file
  std::string field;   // "x2", "class", "orientation"; may be empty
  std::string what;    // one sentence: what is wrong, with the value found
  std::string remedy;  // one sentence: what to do, or what was done
  int column =
      0;  // 1-based, in characters; 0 when unknown. Last, so that Finding{...} lists may leave it out
};

using Findings = std::vector<Finding>;

// "labels/0001.txt:3: x2: 17 is not right of x1 = 20; swap them or delete the line"; with a column
// "train.txt:3:7: ..."
std::string to_string(const Finding& finding);

}  // namespace maskfit::base
