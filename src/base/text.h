#pragma once

// Small text tools that several folders need.

#include <string>
#include <string_view>
#include <vector>

namespace maskfit::base {

// Splits at runs of white space; no empty parts.
std::vector<std::string> split_words(std::string_view text);
// Splits at every separator; keeps empty parts.
std::vector<std::string> split(std::string_view text, char separator);
std::string trim(std::string_view text);
// ASCII letters only; UTF-8 bytes stay as they are.
std::string to_lower(std::string_view text);

// The candidate with the smallest edit distance, or "" when none is near enough to be a likely typing mistake
// (distance over a third of the longer word).
std::string nearest_name(std::string_view wanted, const std::vector<std::string>& candidates);

// Whole text as a number. False when anything is left over, or the text is empty.
bool parse_float(std::string_view text, float* value);
bool parse_int(std::string_view text, long long* value);

// "3:07" or "1:03:07".
std::string format_duration(double seconds);

}  // namespace maskfit::base
