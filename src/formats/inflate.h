#pragma once

// zlib's inflation of bytes from a stranger.

#include <string>
#include <string_view>

namespace maskfit::formats {

// The inflated bytes, at most `most`. Memory follows the data that arrives, not what the data claims. Empty,
// with *trouble ("damaged (incorrect data check)", "cut off", "longer than 100 bytes once inflated"), when it
// is none.
std::string inflate_bounded(std::string_view packed, std::size_t most, std::string* trouble);

}  // namespace maskfit::formats
