#pragma once

namespace maskfit::image {

// The built-in font: 5 x 8 pixels a glyph (the last row is for descenders), to be set on a 6 x 9 raster.
constexpr int kGlyphWidth = 5, kGlyphHeight = 8;

// kGlyphHeight rows of kGlyphWidth characters, one after the other, '#' = ink. Printable ASCII (32..126);
// anything else gives a hollow box.
const char* glyph(char c);

}  // namespace maskfit::image
