#pragma once

// Lines of a text from a stranger: "\n", "\r\n" or "\r" end them, and a byte-order mark before the first is
// left out.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace maskfit::formats {

class TextLines {
 public:
  explicit TextLines(std::string_view text) : text_(text) {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
  }

  // False at the end of the text.
  bool next(std::string_view* line) {
    if (at_ >= text_.size()) return false;
    const std::size_t end = std::min(text_.find_first_of("\r\n", at_), text_.size());
    *line = text_.substr(at_, end - at_);
    at_ = end + (text_.substr(end, 2) == "\r\n" ? 2 : 1);
    ++number_;
    return true;
  }
  // 1-based, of the line that next() gave last.
  int number() const { return number_; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  int number_ = 0;
};

// The finite numbers that the line consists of; empty when a word is none.
inline std::vector<double> numbers_of(std::string_view line) {
  std::vector<double> numbers;
  for (const std::string& word : base::split_words(line)) {
    double value = 0;
    const char* end = word.data() + word.size();
    const auto result = std::from_chars(word.data(), end, value);
    if (result.ec != std::errc() || result.ptr != end || !std::isfinite(value)) return {};
    numbers.push_back(value);
  }
  return numbers;
}

}  // namespace maskfit::formats
