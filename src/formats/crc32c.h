#pragma once

// CRC-32C (Castagnoli): reflected polynomial 0x82F63B78, initial value and final xor 0xFFFFFFFF, and the
// masked form that TFRecord files store. Eight table look-ups for eight bytes at a time; needs no SSE 4.2.

#include <cstdint>
#include <string_view>

namespace maskfit::formats {

std::uint32_t crc32c(std::string_view bytes);

// rotate_right(crc, 15) + 0xA282EAD8 modulo 2^32. A CRC that is itself stored beside data is masked, because
// the CRC of data that contains its own CRC is degenerate.
std::uint32_t mask_crc(std::uint32_t crc);

}  // namespace maskfit::formats
