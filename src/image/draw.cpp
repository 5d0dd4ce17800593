#include "image/draw.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "image/font.h"
#include "image/painter.h"
#include "image/resize.h"

namespace maskfit::image {
namespace {

constexpr int kCaptionMargin = 2;  // background around the text, in font pixels
constexpr Color kSheetBackground{32, 32, 32};

// Fills the half-open rectangle, cut to the picture.
void fill_rect(Image& image, int x1, int y1, int x2, int y2, Color color) {
  x1 = std::max(x1, 0);
  y1 = std::max(y1, 0);
  x2 = std::min(x2, image.width);
  y2 = std::min(y2, image.height);
  for (int y = y1; y < y2; ++y) {
    std::uint8_t* pixel = image.row(y) + 3 * x1;
    for (int x = x1; x < x2; ++x) pixel = std::copy(color.begin(), color.end(), pixel);
  }
}

// A float pixel coordinate as an int that later sums cannot overflow; NaN becomes 0.
int to_pixel(float value) {
  if (std::isnan(value)) return 0;
  return static_cast<int>(std::lround(std::clamp(value, -1e6f, 1e6f)));
}

void draw_glyph(Image& image, int x, int y, char c, Color color, int scale) {
  const char* art = glyph(c);
  for (int row = 0; row < kGlyphHeight; ++row) {
    for (int column = 0; column < kGlyphWidth; ++column) {
      if (*art++ != '#') continue;
      fill_rect(image, x + column * scale, y + row * scale, x + (column + 1) * scale, y + (row + 1) * scale,
                color);
    }
  }
}

void check_rgb(const Image& image) {
  MASKFIT_CHECK(image.channels == 3, "channels={}", image.channels);
}

}  // namespace

Image filled(Size size, Color color) {
  Image image{size.width, size.height, 3, {}};
  image.pixels.resize(static_cast<std::size_t>(size.width) * size.height * 3);
  fill_rect(image, 0, 0, size.width, size.height, color);
  return image;
}

void draw_box(Image& image, const boxes::Box& box_in_image, Color color, int line_width) {
  check_rgb(image);
  const int x1 = to_pixel(box_in_image.x1), y1 = to_pixel(box_in_image.y1);
  const int x2 = std::max(to_pixel(box_in_image.x2), x1 + 1),
            y2 = std::max(to_pixel(box_in_image.y2), y1 + 1);
  const int grow = line_width - 1;
  fill_rect(image, x1 - grow, y1 - grow, x2 + grow, y1 + 1, color);
  fill_rect(image, x1 - grow, y2 - 1, x2 + grow, y2 + grow, color);
  fill_rect(image, x1 - grow, y1 - grow, x1 + 1, y2 + grow, color);
  fill_rect(image, x2 - 1, y1 - grow, x2 + grow, y2 + grow, color);
}

Size caption_size(const std::string& text, int font_scale) {
  const int columns = static_cast<int>(text.size()) * (kGlyphWidth + 1) - 1;
  return {(std::max(columns, 0) + 2 * kCaptionMargin) * font_scale,
          (kGlyphHeight + 2 * kCaptionMargin) * font_scale};
}

void draw_caption(Image& image, int x, int y, const std::string& text, Color text_color, Color background,
                  int font_scale) {
  check_rgb(image);
  const Size size = caption_size(text, font_scale);
  x = std::max(0, std::min(x, image.width - size.width));
  y = std::max(0, std::min(y, image.height - size.height));
  fill_rect(image, x, y, x + size.width, y + size.height, background);
  int pen = x + kCaptionMargin * font_scale;
  for (const char c : text) {
    draw_glyph(image, pen, y + kCaptionMargin * font_scale, c, text_color, font_scale);
    pen += (kGlyphWidth + 1) * font_scale;
  }
}

Color class_color(int class_index) {
  static constexpr std::array<Color, 6> kFirst{
      {{46, 204, 64}, {255, 65, 54}, {0, 145, 255}, {255, 200, 0}, {200, 80, 255}, {0, 210, 200}}};
  const auto index = static_cast<std::size_t>(std::max(class_index, 0));
  if (index < kFirst.size()) return kFirst[index];
  // Steps of the golden angle keep every further hue apart from its neighbours.
  const Rgb color = rgb_from_hsv(static_cast<float>(index) * 0.618034f, index % 2 == 0 ? 0.9f : 0.55f, 0.95f);
  const auto byte = [](float value) { return static_cast<std::uint8_t>(value * 255 + 0.5f); };
  return {byte(color.r), byte(color.g), byte(color.b)};
}

Image contact_sheet(const std::vector<Image>& pictures, int columns, Size tile) {
  MASKFIT_CHECK(columns >= 1 && tile.width >= 1 && tile.height >= 1, "columns={} tile={}x{}", columns,
                tile.width, tile.height);
  const int count = std::max(1, static_cast<int>(pictures.size()));
  const int rows = (count + columns - 1) / columns;
  Image sheet = filled({std::min(columns, count) * tile.width, rows * tile.height}, kSheetBackground);
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    check_rgb(pictures[i]);
    const double factor = std::min(static_cast<double>(tile.width) / pictures[i].width,
                                   static_cast<double>(tile.height) / pictures[i].height);
    const Size fitted{std::clamp(static_cast<int>(pictures[i].width * factor + 0.5), 1, tile.width),
                      std::clamp(static_cast<int>(pictures[i].height * factor + 0.5), 1, tile.height)};
    const Image picture = resize_antialias(pictures[i], fitted);
    const int index = static_cast<int>(i);
    const int left = index % columns * tile.width + (tile.width - fitted.width) / 2;
    const int top = index / columns * tile.height + (tile.height - fitted.height) / 2;
    for (int y = 0; y < fitted.height; ++y) {
      std::copy_n(picture.row(y), 3 * fitted.width, sheet.row(top + y) + 3 * left);
    }
  }
  return sheet;
}

}  // namespace maskfit::image
