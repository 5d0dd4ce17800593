#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

namespace maskfit::base {
namespace {

constexpr std::string_view kBlank = " \t\r\n\f\v";

// Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours ("trian") cost 1
// each.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitute = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, substitute});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

template <typename Number>
bool parse_whole(std::string_view text, Number* value) {
  if (text.starts_with('+') && text.size() > 1 && text[1] != '-') text.remove_prefix(1);
  if (text.empty()) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t begin = text.find_first_not_of(kBlank); begin != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(kBlank, begin), text.size());
    words.emplace_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(kBlank, end);
  }
  return words;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end = text.find(separator); end != std::string_view::npos;
       end = text.find(separator, begin)) {
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  parts.emplace_back(text.substr(begin));
  return parts;
}

std::string trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(kBlank) - begin + 1));
}

std::string to_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::string nearest_name(std::string_view wanted, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance = std::string_view::npos;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(to_lower(wanted), to_lower(candidate));
    if (distance < best_distance && distance * 3 <= std::max(wanted.size(), candidate.size())) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

bool parse_float(std::string_view text, float* value) {
  return parse_whole(text, value);
}
bool parse_int(std::string_view text, long long* value) {
  return parse_whole(text, value);
}

std::string format_duration(double seconds) {
  const long long whole = std::llround(std::max(0.0, seconds));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace maskfit::base
