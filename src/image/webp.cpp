// WebP through libwebp, lossy and lossless, still pictures.

#include <webp/decode.h>

#include <algorithm>

#include "base/error.h"
#include "image/codecs.h"
#include "image/exif.h"

namespace maskfit::image::codecs {
namespace {

constexpr const char* kRemedy = "copy the file anew from where it came from, or remove it";

const std::uint8_t* data(std::string_view bytes) {
  return reinterpret_cast<const std::uint8_t*>(bytes.data());
}

std::size_t little_endian_32(std::string_view bytes, std::size_t at) {
  std::size_t value = 0;
  for (std::size_t i = 4; i-- > 0;) value = value << 8 | static_cast<std::uint8_t>(bytes[at + i]);
  return value;
}

// RIFF: "RIFF", size, "WEBP", then chunks of type (4 bytes), length (4, little endian), data padded to even
// length.
std::string_view find_exif(std::string_view bytes) {
  std::size_t position = 12;
  while (position + 8 <= bytes.size()) {
    const std::size_t length = little_endian_32(bytes, position + 4);
    if (length > bytes.size() - position - 8) break;
    if (bytes.substr(position, 4) == "EXIF") return bytes.substr(position + 8, length);
    position += 8 + length + length % 2;
  }
  return {};
}

bool recognises(std::string_view bytes) {
  return bytes.starts_with("RIFF") && bytes.size() >= 12 && bytes.substr(8, 4) == "WEBP";
}

WebPBitstreamFeatures features(std::string_view bytes) {
  WebPBitstreamFeatures found;
  const VP8StatusCode status = WebPGetFeatures(data(bytes), bytes.size(), &found);
  if (status == VP8_STATUS_NOT_ENOUGH_DATA) throw Refused("WebP cut short in its header", kRemedy);
  if (status != VP8_STATUS_OK) throw Refused("WebP header damaged", kRemedy);
  if (found.has_animation) {
    throw Refused("animated WebP is not supported", "save one frame as PNG or JPEG, or remove the file");
  }
  check_size({found.width, found.height});
  return found;
}

void read_header(std::string_view bytes, ReadInfo& info) {
  const WebPBitstreamFeatures found = features(bytes);
  info.stored_size = {found.width, found.height};
  const std::string_view exif = find_exif(bytes);
  if (!exif.empty()) {
    std::string note;
    info.orientation = exif_orientation(exif, &note);
    if (!note.empty()) info.notes.push_back(note);
  }
  const std::size_t riff_size = little_endian_32(bytes, 4) + 8;
  if (riff_size < bytes.size()) {
    info.notes.push_back(fmt::format("{} trailing bytes ignored", bytes.size() - riff_size));
  }
}

Image decode(std::string_view bytes, ReadInfo& info) {
  const WebPBitstreamFeatures found = features(bytes);
  const Size size{found.width, found.height};
  std::vector<std::uint8_t> rgba(static_cast<std::size_t>(size.width) * size.height * 4);
  if (WebPDecodeRGBAInto(data(bytes), bytes.size(), rgba.data(), rgba.size(), size.width * 4) == nullptr) {
    const bool cut = little_endian_32(bytes, 4) + 8 > bytes.size();
    throw Refused(cut ? "WebP cut short: the file ends before the picture is complete" : "WebP damaged",
                  kRemedy);
  }
  bool had_transparency = false;
  Image image = rgb_on_white(rgba, size, &had_transparency);
  if (had_transparency) info.notes.push_back("transparency laid on white");
  return image;
}

}  // namespace

const Codec kWebp{"webp", recognises, read_header, decode, nullptr};

}  // namespace maskfit::image::codecs
