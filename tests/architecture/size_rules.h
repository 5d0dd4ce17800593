#pragma once

// Budgets: how long a file and a function may get, and how much is tested.

#include <string>
#include <vector>

#include "tests/architecture/include_rules.h"
#include "tests/architecture/source_tree.h"

namespace maskfit::architecture {

struct Function {
  std::string name;  // the text before the "(": "Detector::forward", "TEST"
  int line = 0;      // where its head begins, 1-based
  int lines = 0;     // from there to its closing brace
};

// Functions defined at namespace or class level. Lambdas count into the function around them. Found by
// counting braces, so the code has to be balanced in every branch of the preprocessor.
std::vector<Function> find_functions(const std::string& text);

struct Budget {
  int file_warn = 400, file_fail = 600;
  int function_warn = 60, function_fail = 100;
  int command_fail = 80;  // functions in src/cli, tests apart
};

struct SizeReport {
  Violations violations;
  std::vector<std::string> warnings;
};

SizeReport check_sizes(const SourceTree& tree, const Budget& budget);

// Lines of tests are at least `ratio` of the lines of the product.
Violations check_test_ratio(const SourceTree& tree, double ratio);

}  // namespace maskfit::architecture
