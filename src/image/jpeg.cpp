// JPEG through libjpeg-turbo. A walk over the markers (ITU-T T.81, annex B) finds what the decoder does not
// tell: EXIF, Adobe's colour transform, the end of the picture, and what lies behind it.

#include <turbojpeg.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "base/error.h"
#include "image/codecs.h"
#include "image/exif.h"

namespace maskfit::image {
namespace codecs {
namespace {

constexpr const char* kRemedy = "copy the file anew from where it came from, or remove it";
constexpr std::uint8_t kSoi = 0xD8, kEoi = 0xD9, kSos = 0xDA, kApp1 = 0xE1;

struct TjCloser {
  void operator()(void* handle) const { tjDestroy(handle); }
};
using TjHandle = std::unique_ptr<void, TjCloser>;

struct Layout {
  std::string_view exif;        // the first APP1 segment that starts with "Exif"; empty when there is none
  bool multiple_scans = false;  // progressive, or one scan a component
  std::optional<std::size_t>
      end;  // just behind the end-of-image marker; absent when the file stops before it
};

std::uint8_t byte_at(std::string_view bytes, std::size_t i) {
  return static_cast<std::uint8_t>(bytes[i]);
}

bool is_parameterless(std::uint8_t marker) {
  return marker == 0x01 || (marker >= 0xD0 && marker <= kSoi);
}

// The next marker byte at or behind *position, which moves to just behind it; 0 at the end of the file. In
// entropy-coded data FF 00 is a stuffed byte and FF D0..D7 are restart markers: both are stepped over.
std::uint8_t next_marker(std::string_view bytes, std::size_t* position) {
  for (std::size_t i = *position; i + 1 < bytes.size(); ++i) {
    if (byte_at(bytes, i) != 0xFF) continue;
    const std::uint8_t marker = byte_at(bytes, i + 1);
    if (marker == 0xFF || marker == 0 || is_parameterless(marker)) continue;
    *position = i + 2;
    return marker;
  }
  return 0;
}

Layout walk_markers(std::string_view bytes) {
  Layout layout;
  std::size_t position = 2;
  int scans = 0;
  while (const std::uint8_t marker = next_marker(bytes, &position)) {
    if (marker == kEoi) {
      layout.end = position;
      break;
    }
    if (position + 2 > bytes.size()) break;
    const std::size_t length = byte_at(bytes, position) * 256u + byte_at(bytes, position + 1);
    if (length < 2 || position + length > bytes.size()) break;
    const std::string_view segment = bytes.substr(position + 2, length - 2);
    if (marker == kApp1 && layout.exif.empty() && segment.starts_with("Exif")) layout.exif = segment;
    if (marker == kSos) ++scans;
    position += length;
  }
  layout.multiple_scans = scans > 1;
  return layout;
}

struct Header {
  Size size;
  int colorspace = 0;  // TJCS_*
};

Header parse_header(void* handle, std::string_view bytes) {
  Header header;
  int subsampling = 0;
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  const int status = tjDecompressHeader3(handle, data, bytes.size(), &header.size.width, &header.size.height,
                                         &subsampling, &header.colorspace);
  if (status != 0 && tjGetErrorCode(handle) != TJERR_WARNING) {
    throw Refused(fmt::format("JPEG header unreadable ({})", tjGetErrorStr2(handle)), kRemedy);
  }
  if (header.size == Size{}) throw Refused("JPEG cut short in its header", kRemedy);
  check_size(header.size);
  return header;
}

TjHandle new_decompressor() {
  TjHandle handle(tjInitDecompress());
  MASKFIT_CHECK(handle != nullptr, "tjInitDecompress: {}", tjGetErrorStr2(nullptr));
  return handle;
}

// Print colours to screen colours. Adobe writes CMYK inverted (255 = no ink), which is what nearly every CMYK
// JPEG holds, so the stored numbers are already "how much light passes".
Image rgb_from_inverted_cmyk(const std::vector<std::uint8_t>& cmyk, Size size) {
  Image image{size.width, size.height, 3, {}};
  image.pixels.resize(cmyk.size() / 4 * 3);
  for (std::size_t i = 0; i < cmyk.size() / 4; ++i) {
    const int key = cmyk[4 * i + 3];
    for (std::size_t c = 0; c < 3; ++c) {
      image.pixels[3 * i + c] = static_cast<std::uint8_t>((cmyk[4 * i + c] * key + 127) / 255);
    }
  }
  return image;
}

struct Decoded {
  Image image;
  std::string warning;  // the decoder's first complaint; empty when it had none
};

// At 1/denominator of the size, rounded up; 1, 2, 4 or 8. The decoder computes only what that takes, but
// reads all of the file, so damage is noticed at any size.
Decoded decode_pixels(std::string_view bytes, int denominator) {
  const TjHandle handle = new_decompressor();
  const Header header = parse_header(handle.get(), bytes);
  const bool cmyk = header.colorspace == TJCS_CMYK || header.colorspace == TJCS_YCCK;
  const int channels = cmyk ? 4 : 3;
  const tjscalingfactor factor{1, denominator};
  const Size size{TJSCALED(header.size.width, factor), TJSCALED(header.size.height, factor)};
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(size.width) * size.height * channels);
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  Decoded decoded;
  if (tjDecompress2(handle.get(), data, bytes.size(), pixels.data(), size.width, 0, size.height,
                    cmyk ? TJPF_CMYK : TJPF_RGB, TJFLAG_ACCURATEDCT) != 0) {
    decoded.warning = tjGetErrorStr2(handle.get());
    if (tjGetErrorCode(handle.get()) != TJERR_WARNING) {
      throw Refused(fmt::format("JPEG unreadable ({})", decoded.warning), kRemedy);
    }
  }
  decoded.image =
      cmyk ? rgb_from_inverted_cmyk(pixels, size) : Image{size.width, size.height, 3, std::move(pixels)};
  return decoded;
}

[[noreturn]] void refuse_truncated() {
  throw Refused("JPEG cut short: the file ends before the picture is complete", kRemedy);
}

// The end marker is missing. When all pixels are there nevertheless, decoding with a marker of our own at the
// end raises no complaint; a later scan that is missing altogether would not be noticed, so only one-scan
// files can pass.
Image decode_without_end(std::string_view bytes, const Layout& layout, int denominator, ReadInfo& info) {
  if (layout.multiple_scans) refuse_truncated();
  std::string mended(bytes);
  mended += {'\xFF', static_cast<char>(kEoi)};
  Decoded decoded = decode_pixels(mended, denominator);
  if (!decoded.warning.empty()) refuse_truncated();
  info.notes.push_back("JPEG end marker missing, all pixels are there");
  return std::move(decoded.image);
}

bool recognises(std::string_view bytes) {
  return bytes.starts_with("\xFF\xD8\xFF");
}

void read_header(std::string_view bytes, ReadInfo& info) {
  const TjHandle handle = new_decompressor();
  const Header header = parse_header(handle.get(), bytes);
  info.stored_size = header.size;
  if (header.colorspace == TJCS_CMYK || header.colorspace == TJCS_YCCK)
    info.notes.push_back("CMYK converted to RGB");
  const Layout layout = walk_markers(bytes);
  if (!layout.exif.empty()) {
    std::string note;
    info.orientation = exif_orientation(layout.exif, &note);
    if (!note.empty()) info.notes.push_back(note);
  }
  if (layout.end && *layout.end < bytes.size()) {
    info.notes.push_back(fmt::format("{} trailing bytes ignored", bytes.size() - *layout.end));
  }
}

Image decode_at(std::string_view bytes, int denominator, ReadInfo& info) {
  const Layout layout = walk_markers(bytes);
  if (!layout.end) return decode_without_end(bytes, layout, denominator, info);
  Decoded decoded = decode_pixels(bytes.substr(0, *layout.end), denominator);
  if (!decoded.warning.empty()) {
    // Stray bytes between segments cost no pixel; every other complaint means that some pixels are invented.
    if (decoded.warning.find("extraneous bytes") == std::string::npos) {
      throw Refused(fmt::format("JPEG damaged ({})", decoded.warning), kRemedy);
    }
    info.notes.push_back("stray bytes inside the JPEG ignored");
  }
  return std::move(decoded.image);
}

Image decode(std::string_view bytes, ReadInfo& info) {
  return decode_at(bytes, 1, info);
}

Image decode_reduced(std::string_view bytes, int least_side, ReadInfo& info) {
  int denominator = 8;
  while (denominator > 1 &&
         std::min(info.stored_size.width, info.stored_size.height) < denominator * least_side)
    denominator /= 2;
  return decode_at(bytes, denominator, info);
}

}  // namespace

const Codec kJpeg{"jpeg", recognises, read_header, decode, decode_reduced};

}  // namespace codecs

std::string encode_jpeg(const Image& image, int quality) {
  MASKFIT_CHECK(image.channels == 3 || image.channels == 1, "channels={}", image.channels);
  std::unique_ptr<void, codecs::TjCloser> handle(tjInitCompress());
  MASKFIT_CHECK(handle != nullptr, "tjInitCompress: {}", tjGetErrorStr2(nullptr));
  const bool grey = image.channels == 1;
  // Full colour resolution for high qualities: drawn boxes and captions stay crisp.
  const int subsampling = grey ? TJSAMP_GRAY : quality >= 90 ? TJSAMP_444 : TJSAMP_420;
  unsigned char* buffer = nullptr;
  unsigned long size = 0;
  const int status =
      tjCompress2(handle.get(), image.pixels.data(), image.width, 0, image.height,
                  grey ? TJPF_GRAY : TJPF_RGB, &buffer, &size, subsampling, quality, TJFLAG_ACCURATEDCT);
  const std::unique_ptr<unsigned char, void (*)(unsigned char*)> owner(buffer, tjFree);
  if (status != 0) {
    throw base::Error(base::ExitCode::kFailed, fmt::format("cannot encode a {} x {} JPEG: {}", image.width,
                                                           image.height, tjGetErrorStr2(handle.get())));
  }
  return std::string(reinterpret_cast<const char*>(buffer), size);
}

}  // namespace maskfit::image
