#pragma once

// What the readers of JSON annotations share.

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace maskfit::formats {

// Throws base::Error (kRefused), where = "file:line:column", for what is no JSON.
nlohmann::json parse_json(std::string_view text, const std::string& file);

// The member as text, or "" when it is missing or something else.
std::string text_member(const nlohmann::json& object, const char* member);
// A whole number from 1 to 1e6 (also written as 640.0), or 0.
int whole_member(const nlohmann::json& object, const char* member);
// Also reads a number that is written as text. False when it is none or not finite.
bool finite_number(const nlohmann::json& value, float* number);

}  // namespace maskfit::formats
