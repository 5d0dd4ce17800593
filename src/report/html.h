#pragma once

#include <string>
#include <string_view>

namespace maskfit::report {

// Text for element content and quoted attributes.
std::string escaped(std::string_view text);
std::string base64(std::string_view bytes);

// Four significant digits without trailing zeros: 0.7273, 1.2e-05, 640, "n/a" for what is not finite.
std::string short_number(double value);
// 1234567 -> "1,234,567".
std::string grouped(long long value);
// 0.7273 -> "72.7 %"; "n/a" for what is not finite.
std::string percent(double share);

}  // namespace maskfit::report
