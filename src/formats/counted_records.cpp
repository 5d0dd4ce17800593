#include "formats/counted_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "formats/text_lines.h"

namespace maskfit::formats {
namespace {

// A line with several words and no '/' is rather a row with a word in it.
bool is_path(std::string_view line) {
  return numbers_of(line).empty() &&
         (line.find('/') != std::string_view::npos || base::split_words(line).size() == 1);
}

// The count, or nothing when the line is no whole number.
std::optional<std::size_t> count_of(std::string_view line) {
  const std::vector<double> numbers = numbers_of(line);
  if (numbers.size() != 1 || numbers[0] < 0 || numbers[0] > 1e6 || numbers[0] != std::floor(numbers[0]))
    return std::nullopt;
  return static_cast<std::size_t>(numbers[0]);
}

class Parser {
 public:
  Parser(std::string_view text, const std::string& file, std::size_t least, std::size_t most,
         base::Findings* findings)
      : lines_(text), file_(file), least_(least), most_(most), findings_(findings) {}

  std::vector<CountedRecord> parse() {
    std::vector<CountedRecord> records;
    for (bool more = advance(); more;) {
      if (!is_path(line_)) {
        refuse(number_, fmt::format("'{}' where a picture's path belongs", shown(line_)),
               "the lines up to the next path were left out");
        while (more && !is_path(line_)) more = advance();
        continue;
      }
      CountedRecord record;
      record.path = base::trim(line_);
      record.line = number_;
      more = advance();
      if (read_record(&record, &more)) records.push_back(std::move(record));
    }
    return records;
  }

 private:
  void refuse(int line, const std::string& what, const std::string& remedy) {
    findings_->push_back({base::Severity::kRefused, file_, line, "", what, remedy});
  }

  static std::string shown(std::string_view line) { return std::string(line.substr(0, 60)); }

  // To the next line that is not blank.
  bool advance() {
    while (lines_.next(&line_)) {
      number_ = lines_.number();
      if (!base::trim(line_).empty()) return true;
    }
    return false;
  }

  // Takes everything up to the next path; false, with a finding, when it does not fit together.
  bool read_record(CountedRecord* record, bool* more) {
    const std::string remedy = fmt::format("{} was left out; mend the record", record->path);
    if (!*more || is_path(line_) || !count_of(line_)) {
      refuse(record->line, fmt::format("no number of faces follows {}", record->path), remedy);
      while (*more && !is_path(line_)) *more = advance();
      return false;
    }
    const std::size_t stated = *count_of(line_);
    bool good = true;
    for (*more = advance(); *more && !is_path(line_); *more = advance()) {
      std::vector<double> numbers = numbers_of(line_);
      if (good && (numbers.size() < least_ || numbers.size() > most_)) {
        refuse(number_, fmt::format("'{}' is not a row of {} numbers", shown(line_), most_), remedy);
        good = false;
      }
      if (good) record->rows.push_back({std::move(numbers), number_});
    }
    if (!good) return false;
    if (stated == 0 && record->rows.size() == 1 && is_zero(record->rows[0])) record->rows.clear();
    if (record->rows.size() == stated) return true;
    refuse(record->line,
           fmt::format("{} states {} faces, and {} rows follow", record->path, stated, record->rows.size()),
           remedy);
    return false;
  }

  static bool is_zero(const CountedRecord::Row& row) {
    return std::all_of(row.numbers.begin(), row.numbers.end(), [](double number) { return number == 0; });
  }

  TextLines lines_;
  const std::string& file_;
  std::size_t least_, most_;
  base::Findings* findings_;
  std::string_view line_;
  int number_ = 0;
};

}  // namespace

std::vector<CountedRecord> parse_counted_records(std::string_view text, const std::string& file,
                                                 std::size_t least, std::size_t most,
                                                 base::Findings* findings) {
  return Parser(text, file, least, most, findings).parse();
}

bool begins_with_counted_record(std::string_view text, std::size_t least, std::size_t most) {
  TextLines lines(text);
  std::vector<std::string_view> first;
  for (std::string_view line; first.size() < 3 && lines.next(&line);) {
    if (!base::trim(line).empty()) first.push_back(line);
  }
  if (first.size() < 2 || !is_path(first[0]) || first[0].find('/') == std::string_view::npos) return false;
  const auto count = count_of(first[1]);
  if (!count) return false;
  if (first.size() < 3) return *count == 0;
  if (*count == 0 && is_path(first[2])) return true;
  const std::size_t numbers = numbers_of(first[2]).size();
  return numbers >= least && numbers <= most;
}

}  // namespace maskfit::formats
