#include "formats/json_text.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"

namespace maskfit::formats {

using nlohmann::json;

json parse_json(std::string_view text, const std::string& file) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  try {
    return json::parse(text);
  } catch (const json::parse_error& error) {
    const std::size_t at = std::min(error.byte == 0 ? 0 : error.byte - 1, text.size());
    const std::string_view before = text.substr(0, at);
    const std::size_t line = 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
    const std::size_t start = before.rfind('\n');
    const std::size_t column = start == std::string_view::npos ? at + 1 : at - start;
    throw base::Error(base::ExitCode::kRefused,
                      at >= text.size() ? "the JSON is cut off" : "the JSON is broken here",
                      fmt::format("{}:{}:{}", file, line, column), "fetch or export the file anew");
  } catch (const json::exception&) {
    // A number beyond a double's range; the parser does not tell where.
    throw base::Error(base::ExitCode::kRefused, "the JSON holds a number that is too large", file,
                      "export the file anew");
  }
}

std::string text_member(const json& object, const char* member) {
  if (!object.is_object()) return "";
  const auto found = object.find(member);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

int whole_member(const json& object, const char* member) {
  if (!object.is_object()) return 0;
  const auto found = object.find(member);
  float value = 0;
  if (found == object.end() || !finite_number(*found, &value)) return 0;
  return value >= 1 && value <= 1e6f && value == std::floor(value) ? static_cast<int>(value) : 0;
}

bool finite_number(const json& value, float* number) {
  if (value.is_string()) return base::parse_float(value.get<std::string>(), number) && std::isfinite(*number);
  if (!value.is_number()) return false;
  const double wide = value.get<double>();
  if (!(std::abs(wide) < 1e9)) return false;
  *number = static_cast<float>(wide);
  return true;
}

}  // namespace maskfit::formats
