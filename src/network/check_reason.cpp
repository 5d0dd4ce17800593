#include "network/check_reason.h"

#include <regex>

namespace maskfit::network {

std::string reason_of(const base::CheckFailed& error) {
  // base::check_failed: "internal check failed: EXPRESSION (FILE:LINE): VALUES"
  static const std::regex kPlace(R"( \([^ ()]+:[0-9]+\): )");
  const std::string text = error.what();
  std::smatch place;
  return std::regex_search(text, place, kPlace) ? place.suffix().str() : text;
}

}  // namespace maskfit::network
