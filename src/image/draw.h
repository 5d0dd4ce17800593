#pragma once

#include <array>
#include <string>

#include "boxes/box.h"
#include "image/image.h"

namespace maskfit::image {

using Color = std::array<std::uint8_t, 3>;  // red, green, blue

// Everything here draws on RGB pictures and cuts what lies outside.

// Outline of `line_width` nested rectangles growing outward: the innermost covers the box's own border
// pixels.
void draw_box(Image& image, const boxes::Box& box_in_image, Color color, int line_width);

// ASCII caption on a filled background, top-left corner at (x, y), kept inside the picture where it fits.
// Built-in bitmap font; bytes outside printable ASCII show as hollow boxes.
void draw_caption(Image& image, int x, int y, const std::string& text, Color text_color, Color background,
                  int font_scale = 1);
// The size that draw_caption fills, background included.
Size caption_size(const std::string& text, int font_scale = 1);

// Distinct colours for class 0, 1, 2, ...
Color class_color(int class_index);

// Pictures side by side on a grid of `columns`, each fitted whole into a tile and centred on dark grey. An
// empty list gives one empty tile.
Image contact_sheet(const std::vector<Image>& pictures, int columns, Size tile);

// A picture of one colour.
Image filled(Size size, Color color);

}  // namespace maskfit::image
