#pragma once

// Numbers in files are little-endian. So is every machine that maskfit runs on, and the static_assert keeps
// that honest.

#include <bit>
#include <cstring>
#include <string>
#include <string_view>

namespace maskfit::formats {

static_assert(std::endian::native == std::endian::little,
              "file formats are read and written in native order");

template <typename Number>
void append_le(std::string& bytes, Number value) {
  char raw[sizeof(Number)];
  std::memcpy(raw, &value, sizeof(Number));
  bytes.append(raw, sizeof(Number));
}

// REQUIRES: bytes holds sizeof(Number) bytes at `offset`.
template <typename Number>
Number load_le(std::string_view bytes, std::size_t offset = 0) {
  Number value;
  std::memcpy(&value, bytes.data() + offset, sizeof(Number));
  return value;
}

}  // namespace maskfit::formats
