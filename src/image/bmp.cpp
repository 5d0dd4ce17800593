// BMP, the uncompressed kinds that programs write today: 8-bit palette, 24 and 32 bit, bottom-up or top-down.

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/error.h"
#include "image/codecs.h"

namespace maskfit::image::codecs {
namespace {

constexpr std::size_t kFileHeader = 14;  // "BM", file size, reserved, offset of the pixels
constexpr std::size_t kInfoHeader = 40;  // BITMAPINFOHEADER; later headers begin with the same fields
constexpr std::uint32_t kUncompressed = 0, kBitFields = 3;

struct Header {
  Size size;
  bool top_down = false;
  std::uint32_t bits = 0;
  std::size_t palette = 0, palette_colors = 0;  // offset; entries of blue, green, red, 0
  std::size_t pixels = 0, stride = 0;           // offset; bytes a row, padded to 4
};

std::uint32_t number(std::string_view bytes, std::size_t at, int count) {
  std::uint32_t value = 0;
  for (int i = count; i-- > 0;)
    value = value << 8 | static_cast<std::uint8_t>(bytes[at + static_cast<std::size_t>(i)]);
  return value;
}

Header parse(std::string_view bytes) {
  if (bytes.size() < kFileHeader + kInfoHeader) throw Refused("BMP cut short in its header");
  const std::uint32_t header_size = number(bytes, 14, 4);
  if (header_size < kInfoHeader)
    throw Refused("BMP of the OS/2 kind is not supported", "save it as PNG or JPEG");
  Header header;
  const auto height = static_cast<std::int32_t>(number(bytes, 22, 4));
  header.top_down = height < 0;
  if (height == INT32_MIN) throw Refused("BMP header damaged (height)");
  header.size = {static_cast<std::int32_t>(number(bytes, 18, 4)), std::abs(height)};
  check_size(header.size);
  header.bits = number(bytes, 28, 2);
  const std::uint32_t compression = number(bytes, 30, 4);
  const bool plain =
      compression == kUncompressed && (header.bits == 8 || header.bits == 24 || header.bits == 32);
  if (!plain && !(compression == kBitFields && header.bits == 32)) {
    throw Refused(
        fmt::format("BMP with {} bits a pixel and compression {} is not supported", header.bits, compression),
        "save it as PNG or JPEG");
  }
  header.palette = kFileHeader + header_size;
  header.palette_colors = header.bits == 8 ? number(bytes, 46, 4) : 0;
  if (header.bits == 8 && header.palette_colors == 0) header.palette_colors = 256;
  header.pixels = number(bytes, 10, 4);
  header.stride = (static_cast<std::size_t>(header.size.width) * header.bits / 8 + 3) / 4 * 4;
  if (header.palette_colors > 256 || header.palette + header.palette_colors * 4 > bytes.size() ||
      header.pixels > bytes.size() || header.stride * header.size.height > bytes.size() - header.pixels) {
    throw Refused("BMP cut short: the file ends before the picture is complete",
                  "copy the file anew from where it came from, or remove it");
  }
  return header;
}

bool recognises(std::string_view bytes) {
  // "BM" alone starts many a text; the reserved bytes are 0 in every picture.
  return bytes.starts_with("BM") && bytes.size() >= 10 && number(bytes, 6, 4) == 0;
}

void read_header(std::string_view bytes, ReadInfo& info) {
  info.stored_size = parse(bytes).size;
}

Image decode(std::string_view bytes, ReadInfo&) {
  const Header header = parse(bytes);
  Image image{header.size.width, header.size.height, 3, {}};
  image.pixels.resize(static_cast<std::size_t>(image.width) * image.height * 3);
  const std::size_t step = header.bits / 8;
  for (int y = 0; y < image.height; ++y) {
    const int stored_y = header.top_down ? y : image.height - 1 - y;
    std::size_t at = header.pixels + header.stride * static_cast<std::size_t>(stored_y);
    std::uint8_t* out = image.row(y);
    for (int x = 0; x < image.width; ++x, at += step, out += 3) {
      std::size_t bgr = at;
      if (step == 1) {
        const std::size_t index = static_cast<std::uint8_t>(bytes[at]);
        if (index >= header.palette_colors)
          throw Refused(fmt::format("BMP damaged: no palette entry {}", index));
        bgr = header.palette + index * 4;
      }
      for (std::size_t c = 0; c < 3; ++c) out[c] = static_cast<std::uint8_t>(bytes[bgr + 2 - c]);
    }
  }
  return image;
}

}  // namespace

const Codec kBmp{"bmp", recognises, read_header, decode, nullptr};

}  // namespace maskfit::image::codecs
