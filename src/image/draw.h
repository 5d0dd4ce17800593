#pragma once

#include <array>
#include <string>

#include "boxes/box.h"
#include "image/image.h"

namespace maskfit::image {

using Color = std::array<std::uint8_t, 3>;

// Outline of `line_width` nested rectangles growing outward.
void draw_box(Image& image, const boxes::Box& box_in_image, Color color, int line_width);
// ASCII caption on a filled background, top-left corner at (x, y), kept inside the picture. Built-in bitmap font.
void draw_caption(Image& image, int x, int y, const std::string& text, Color text_color, Color background,
                  int font_scale = 1);
// Distinct colours for class 0, 1, 2, ...
Color class_color(int class_index);
// Pictures side by side on a grid of `columns`, each fitted into a tile.
Image contact_sheet(const std::vector<Image>& pictures, int columns, Size tile);

}  // namespace maskfit::image
