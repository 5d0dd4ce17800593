// PNG through libpng, any colour type and bit depth brought to 8-bit RGB.

#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>

#include "base/error.h"
#include "image/codecs.h"
#include "image/exif.h"

namespace maskfit::image {
namespace codecs {
namespace {

constexpr std::string_view kSignature("\x89PNG\r\n\x1A\n", 8);

// What libpng reads from and reports to. libpng leaves by longjmp, so whatever must be destroyed lives here,
// in a frame above the jump.
struct PngReader {
  std::string_view bytes;
  std::size_t position = 0;
  bool ran_out = false;
  std::string error;
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::vector<std::uint8_t> rgba;
  std::vector<png_bytep> rows;
  Size size;
  int bit_depth = 0, color_type = 0;

  ~PngReader() { png_destroy_read_struct(&png, &info, nullptr); }
};

void on_error(png_structp png, png_const_charp message) {
  static_cast<PngReader*>(png_get_error_ptr(png))->error = message;
  png_longjmp(png, 1);
}

void ignore_warning(png_structp, png_const_charp) {}

void read_bytes(png_structp png, png_bytep out, std::size_t count) {
  auto* reader = static_cast<PngReader*>(png_get_io_ptr(png));
  if (count > reader->bytes.size() - reader->position) {
    reader->ran_out = true;
    png_error(png, "the file ends before the picture is complete");
  }
  std::memcpy(out, reader->bytes.data() + reader->position, count);
  reader->position += count;
}

// False when libpng gave up; reader.error says why. No object with a destructor may live in this frame.
bool read_info(PngReader& reader) {
  if (setjmp(png_jmpbuf(reader.png))) return false;
  png_set_read_fn(reader.png, &reader, read_bytes);
  png_set_user_limits(reader.png, 1 << 20, 1 << 20);  // check_size gives the better message
  png_read_info(reader.png, reader.info);
  reader.size = {static_cast<int>(png_get_image_width(reader.png, reader.info)),
                 static_cast<int>(png_get_image_height(reader.png, reader.info))};
  reader.bit_depth = png_get_bit_depth(reader.png, reader.info);
  reader.color_type = png_get_color_type(reader.png, reader.info);
  return true;
}

bool read_pixels(PngReader& reader) {
  if (setjmp(png_jmpbuf(reader.png))) return false;
  png_set_expand(reader.png);  // palette -> RGB, 1/2/4-bit grey -> 8, tRNS -> alpha
  png_set_strip_16(reader.png);
  png_set_gray_to_rgb(reader.png);
  png_set_add_alpha(reader.png, 0xFF, PNG_FILLER_AFTER);
  png_set_interlace_handling(reader.png);
  png_read_update_info(reader.png, reader.info);
  png_read_image(reader.png, reader.rows.data());
  return true;
}

void open(PngReader& reader, std::string_view bytes) {
  reader.bytes = bytes;
  reader.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reader, on_error, ignore_warning);
  reader.info = reader.png ? png_create_info_struct(reader.png) : nullptr;
  MASKFIT_CHECK(reader.info != nullptr, "libpng {}", PNG_LIBPNG_VER_STRING);
}

[[noreturn]] void refuse(const PngReader& reader) {
  throw Refused(
      reader.ran_out ? "PNG cut short: " + reader.error : fmt::format("PNG damaged ({})", reader.error),
      "copy the file anew from where it came from, or remove it");
}

struct Layout {
  std::string_view exif;
  std::size_t end = 0;  // just behind the IEND chunk; 0 when there is none
};

// Chunks are: length (4 bytes, big endian), type (4), data, CRC (4).
Layout walk_chunks(std::string_view bytes) {
  Layout layout;
  std::size_t position = kSignature.size();
  while (position + 12 <= bytes.size()) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < 4; ++i) length = length << 8 | static_cast<std::uint8_t>(bytes[position + i]);
    const std::string_view type = bytes.substr(position + 4, 4);
    if (length > bytes.size() - position - 12) break;
    if (type == "eXIf") layout.exif = bytes.substr(position + 8, length);
    position += 12 + length;
    if (type == "IEND") {
      layout.end = position;
      break;
    }
  }
  return layout;
}

bool recognises(std::string_view bytes) {
  return bytes.starts_with(kSignature);
}

void read_header(std::string_view bytes, ReadInfo& info) {
  PngReader reader;
  open(reader, bytes);
  if (!read_info(reader)) refuse(reader);
  check_size(reader.size);
  info.stored_size = reader.size;
  if (reader.bit_depth == 16) info.notes.push_back("16 bits a channel reduced to 8");
  const Layout layout = walk_chunks(bytes);
  if (!layout.exif.empty()) {
    std::string note;
    info.orientation = exif_orientation(layout.exif, &note);
    if (!note.empty()) info.notes.push_back(note);
  }
  if (layout.end == 0) info.notes.push_back("PNG end chunk missing");
  if (layout.end != 0 && layout.end < bytes.size()) {
    info.notes.push_back(fmt::format("{} trailing bytes ignored", bytes.size() - layout.end));
  }
}

Image decode(std::string_view bytes, ReadInfo& info) {
  PngReader reader;
  open(reader, bytes);
  if (!read_info(reader)) refuse(reader);
  check_size(reader.size);
  reader.rgba.resize(static_cast<std::size_t>(reader.size.width) * reader.size.height * 4);
  for (int y = 0; y < reader.size.height; ++y) {
    reader.rows.push_back(reader.rgba.data() + static_cast<std::size_t>(y) * reader.size.width * 4);
  }
  if (!read_pixels(reader)) refuse(reader);
  bool had_transparency = false;
  Image image = rgb_on_white(reader.rgba, reader.size, &had_transparency);
  if (had_transparency) info.notes.push_back("transparency laid on white");
  return image;
}

}  // namespace

const Codec kPng{"png", recognises, read_header, decode, nullptr};

}  // namespace codecs

namespace {

struct PngWriter {
  std::string out;
  std::string error;
  std::vector<png_bytep> rows;
  png_structp png = nullptr;
  png_infop info = nullptr;

  ~PngWriter() { png_destroy_write_struct(&png, &info); }
};

void on_write_error(png_structp png, png_const_charp message) {
  static_cast<PngWriter*>(png_get_error_ptr(png))->error = message;
  png_longjmp(png, 1);
}

void write_bytes(png_structp png, png_bytep bytes, std::size_t count) {
  static_cast<PngWriter*>(png_get_io_ptr(png))->out.append(reinterpret_cast<const char*>(bytes), count);
}

void flush(png_structp) {}

bool write_all(PngWriter& writer, const Image& image) {
  if (setjmp(png_jmpbuf(writer.png))) return false;
  png_set_write_fn(writer.png, &writer, write_bytes, flush);
  png_set_IHDR(writer.png, writer.info, static_cast<png_uint_32>(image.width),
               static_cast<png_uint_32>(image.height), 8,
               image.channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(writer.png, writer.info);
  png_write_image(writer.png, writer.rows.data());
  png_write_end(writer.png, nullptr);
  return true;
}

}  // namespace

std::string encode_png(const Image& image) {
  MASKFIT_CHECK(image.channels == 3 || image.channels == 1, "channels={}", image.channels);
  PngWriter writer;
  writer.png =
      png_create_write_struct(PNG_LIBPNG_VER_STRING, &writer, on_write_error, codecs::ignore_warning);
  writer.info = writer.png ? png_create_info_struct(writer.png) : nullptr;
  MASKFIT_CHECK(writer.info != nullptr, "libpng {}", PNG_LIBPNG_VER_STRING);
  for (int y = 0; y < image.height; ++y) writer.rows.push_back(const_cast<png_bytep>(image.row(y)));
  if (!write_all(writer, image)) {
    throw base::Error(base::ExitCode::kFailed, fmt::format("cannot encode a {} x {} PNG: {}", image.width,
                                                           image.height, writer.error));
  }
  return std::move(writer.out);
}

}  // namespace maskfit::image
