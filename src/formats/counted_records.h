#pragma once

// The grammar that FDDB's folds and WIDER FACE's text share: a picture's path, a line with a count, then that
// many lines of numbers. Four parsers of the latter are known to lose their place at a record of 0 faces that
// has a line of zeros all the same; this one takes its place from the paths, not from the counts.

#include <string>
#include <string_view>
#include <vector>

#include "base/finding.h"

namespace maskfit::formats {

struct CountedRecord {
  std::string path;
  int line = 0;  // of the path
  struct Row {
    std::vector<double> numbers;
    int line = 0;
  };
  std::vector<Row> rows;
};

// `least` and `most` numbers a row. A record that is not as it says adds one refused finding and is left out.
std::vector<CountedRecord> parse_counted_records(std::string_view text, const std::string& file,
                                                 std::size_t least, std::size_t most,
                                                 base::Findings* findings);

// Whether the first three lines that are not blank are a path, a whole number and, if that is not 0, a row of
// `least` to `most` numbers.
bool begins_with_counted_record(std::string_view text, std::size_t least, std::size_t most);

}  // namespace maskfit::formats
