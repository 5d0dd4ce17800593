#pragma once

// Text as UTF-8.

#include <cstdint>
#include <string>
#include <string_view>

namespace maskfit::formats {

// What is no code point becomes U+FFFD.
void append_utf8(std::string& text, std::uint32_t code);

bool is_utf8(std::string_view text);
// Text of a legacy code page, read as Latin-1: letters of western Europe come out right, others at least
// readable.
std::string utf8_from_latin1(std::string_view text);

}  // namespace maskfit::formats
