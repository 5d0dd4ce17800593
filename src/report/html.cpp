#include "report/html.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

namespace maskfit::report {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string base64(std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t k) -> std::uint32_t {
      return k < bytes.size() ? static_cast<std::uint8_t>(bytes[k]) : 0;
    };
    const std::uint32_t three = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    out += kDigits[three >> 18];
    out += kDigits[three >> 12 & 63];
    out += i + 1 < bytes.size() ? kDigits[three >> 6 & 63] : '=';
    out += i + 2 < bytes.size() ? kDigits[three & 63] : '=';
  }
  return out;
}

std::string short_number(double value) {
  return std::isfinite(value) ? fmt::format("{:.4g}", value) : "n/a";
}

std::string grouped(long long value) {
  const std::string digits = std::to_string(value);
  std::string out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const std::size_t left = digits.size() - i;
    const bool after_digit = i > 0 && digits[i - 1] != '-';
    if (after_digit && left % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

std::string percent(double share) {
  return std::isfinite(share) ? fmt::format("{:.1f}\u202f%", 100 * share) : "n/a";
}

}  // namespace maskfit::report
