#pragma once

// IEEE 754 binary16.

#include <cstdint>

namespace maskfit::formats {

// Nearest, ties to even; beyond 65504 infinite; NaN stays NaN.
std::uint16_t float16_from_float(float value);
float float_from_float16(std::uint16_t bits);

}  // namespace maskfit::formats
