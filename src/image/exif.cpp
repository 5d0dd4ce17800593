#include "image/exif.h"

#include <algorithm>
#include <cstdint>

#include "base/error.h"

namespace maskfit::image {
namespace {

constexpr std::uint16_t kOrientationTag = 0x0112;
constexpr std::size_t kEntrySize = 12;

// Bounds-checked numbers of a TIFF block in either byte order.
class TiffReader {
 public:
  TiffReader(std::string_view bytes, bool big_endian) : bytes_(bytes), big_endian_(big_endian) {}

  bool has(std::size_t offset, std::size_t count) const {
    return offset <= bytes_.size() && count <= bytes_.size() - offset;
  }
  std::uint32_t number(std::size_t offset, int size) const {
    std::uint32_t value = 0;
    for (int i = 0; i < size; ++i) {
      const int at = big_endian_ ? i : size - 1 - i;
      value = (value << 8) | static_cast<std::uint8_t>(bytes_[offset + static_cast<std::size_t>(at)]);
    }
    return value;
  }

 private:
  std::string_view bytes_;
  bool big_endian_;
};

// Bytes of a TIFF integer type, 0 for the other types. SHORT is the standard's; some writers use another
// width or sign, and a value of 1..8 is as clear.
int size_of_type(std::uint32_t type) {
  switch (type) {
    case 1:  // BYTE
    case 6:  // SBYTE
      return 1;
    case 3:  // SHORT
    case 8:  // SSHORT
      return 2;
    case 4:  // LONG
    case 9:  // SLONG
      return 4;
    default:
      return 0;
  }
}

int orientation_of_entry(const TiffReader& tiff, std::size_t entry, std::string* note) {
  const std::uint32_t type = tiff.number(entry + 2, 2);
  const int size = size_of_type(type);
  if (size == 0) {
    *note = fmt::format("EXIF orientation has the field type {}, taken as upright", type);
    return 1;
  }
  const std::uint32_t value = tiff.number(entry + 8, size);
  if (value < 1 || value > 8) {
    *note = fmt::format("EXIF orientation {} is not 1..8, taken as upright", value);
    return 1;
  }
  return static_cast<int>(value);
}

}  // namespace

int exif_orientation(std::string_view block, std::string* note) {
  if (block.starts_with(std::string_view("Exif\0", 5)))
    block.remove_prefix(std::min<std::size_t>(6, block.size()));
  const bool little = block.starts_with("II");
  if (!little && !block.starts_with("MM")) {
    *note = "EXIF block without a byte-order mark, taken as upright";
    return 1;
  }
  const TiffReader tiff(block, !little);
  if (!tiff.has(0, 8)) {
    *note = "EXIF block cut short, taken as upright";
    return 1;
  }
  const std::size_t directory = tiff.number(4, 4);
  if (!tiff.has(directory, 2)) {
    *note = "EXIF directory outside its block, taken as upright";
    return 1;
  }
  const std::uint32_t entries = tiff.number(directory, 2);
  for (std::uint32_t i = 0; i < entries; ++i) {
    const std::size_t entry = directory + 2 + i * kEntrySize;
    if (!tiff.has(entry, kEntrySize)) {
      *note = "EXIF directory cut short, taken as upright";
      return 1;
    }
    if (tiff.number(entry, 2) == kOrientationTag) return orientation_of_entry(tiff, entry, note);
  }
  return 1;
}

Size upright_size(Size stored, int orientation) {
  return orientation >= 5 ? Size{stored.height, stored.width} : stored;
}

Image turn_upright(const Image& stored, int orientation) {
  MASKFIT_CHECK(orientation >= 1 && orientation <= 8, "orientation={}", orientation);
  if (orientation == 1) return stored;
  // Where an upright pixel (x, y) lies in the stored picture: axes swapped for 5..8, then mirrored.
  const bool swap = orientation >= 5;
  const bool mirror_x = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool mirror_y = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  const Size size = upright_size({stored.width, stored.height}, orientation);
  Image upright{size.width, size.height, stored.channels, {}};
  upright.pixels.resize(stored.pixels.size());
  for (int y = 0; y < size.height; ++y) {
    std::uint8_t* out = upright.row(y);
    for (int x = 0; x < size.width; ++x) {
      int from_x = swap ? y : x;
      int from_y = swap ? x : y;
      if (mirror_x) from_x = stored.width - 1 - from_x;
      if (mirror_y) from_y = stored.height - 1 - from_y;
      const std::uint8_t* in = stored.row(from_y) + from_x * stored.channels;
      out = std::copy_n(in, stored.channels, out);
    }
  }
  return upright;
}

}  // namespace maskfit::image
