#pragma once

// Pictures: 8-bit, interleaved, rows top to bottom, upright (EXIF orientation applied when read).

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace maskfit::image {

struct Image {
  int width = 0, height = 0;
  int channels = 3;                  // 3 = RGB, 1 = grey
  std::vector<std::uint8_t> pixels;  // [height][width][channels]

  std::uint8_t* row(int y) { return pixels.data() + static_cast<std::size_t>(y) * width * channels; }
  const std::uint8_t* row(int y) const {
    return pixels.data() + static_cast<std::size_t>(y) * width * channels;
  }
};

struct Size {
  int width = 0, height = 0;
  bool operator==(const Size&) const = default;
};

// How a file was understood. `notes` says what was mended on the way ("PNG named .jpg", "EXIF orientation 6
// applied", "trailing bytes", "CMYK converted"), one short sentence each.
struct ReadInfo {
  Size stored_size;     // as in the file, before EXIF
  int orientation = 1;  // EXIF 1..8; a malformed value counts as 1 and is noted
  std::string format;   // "jpeg", "png", "webp", "bmp"
  std::vector<std::string> notes;
};

// Decodes by content, never by the name's ending. Result is upright RGB. Throws base::Error (kRefused) that
// names the file and what is wrong (truncated, 0 bytes, unknown format).
Image read_image(const std::filesystem::path& path, ReadInfo* info = nullptr);
Image decode_image(std::string_view bytes, const std::string& name_for_errors, ReadInfo* info = nullptr);

// Upright size from the header alone, without decoding.
Size read_image_size(const std::filesystem::path& path, ReadInfo* info = nullptr);

// By the name's ending: .jpg/.jpeg, .png. Atomic.
void write_image(const std::filesystem::path& path, const Image& image, int jpeg_quality = 92);
std::string encode_jpeg(const Image& image, int quality = 92);
std::string encode_png(const Image& image);

}  // namespace maskfit::image
