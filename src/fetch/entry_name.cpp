#include "fetch/entry_name.h"

#include <fmt/format.h>
#include <iconv.h>

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace maskfit::fetch {
namespace {

// "" when `text` is not in this encoding.
std::string convert(std::string_view text, const char* from) {
  const iconv_t converter = ::iconv_open("UTF-8", from);
  if (converter == reinterpret_cast<iconv_t>(-1)) return "";
  std::string in(text), out(text.size() * 4 + 4, '\0');
  char* read = in.data();
  char* write = out.data();
  std::size_t left = in.size(), room = out.size();
  const bool done = ::iconv(converter, &read, &left, &write, &room) != static_cast<std::size_t>(-1);
  ::iconv_close(converter);
  if (!done) return "";
  out.resize(out.size() - room);
  return out;
}

bool has_drive(std::string_view path) {
  return path.size() >= 2 && path[1] == ':' && ((path[0] | 0x20) >= 'a' && (path[0] | 0x20) <= 'z');
}

}  // namespace

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0x80                   ? 1
                               : lead >= 0xc2 && lead < 0xe0 ? 2
                               : lead >= 0xe0 && lead < 0xf0 ? 3
                               : lead >= 0xf0 && lead < 0xf5 ? 4
                                                             : 0;
    if (length == 0 || i + length > text.size()) return false;
    for (std::size_t k = 1; k < length; ++k) {
      if ((static_cast<unsigned char>(text[i + k]) & 0xc0u) != 0x80u) return false;
    }
    const auto second = length > 1 ? static_cast<unsigned char>(text[i + 1]) : 0u;
    // Overlong forms, surrogates and what lies above U+10FFFF.
    if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second >= 0xa0) ||
        (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second >= 0x90)) {
      return false;
    }
    i += length;
  }
  return true;
}

std::string to_utf8(std::string_view name) {
  if (is_utf8(name)) return std::string(name);
  if (std::string converted = convert(name, "GB18030"); !converted.empty()) return converted;
  std::string out;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", byte);
    }
  }
  return out;
}

EntryName entry_name(std::string_view as_written) {
  // First the encoding: in GBK the second byte of a character may be a backslash.
  std::string text = to_utf8(as_written);
  std::replace(text.begin(), text.end(), '\\', '/');
  EntryName name;
  name.escapes = text.starts_with("/") || has_drive(text);
  if (has_drive(text)) text.erase(0, 2);
  for (const std::string& part : base::split(text, '/')) {
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      name.escapes = true;
      continue;
    }
    std::string clean;
    for (const char c : part) {
      if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) clean += c;
    }
    name.path += (name.path.empty() ? "" : "/") + clean;
  }
  return name;
}

}  // namespace maskfit::fetch
