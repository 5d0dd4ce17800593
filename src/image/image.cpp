#include "image/image.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "image/codecs.h"
#include "image/exif.h"
#include "image/reduced.h"

namespace maskfit::image {
namespace codecs {
namespace {

// 200 million pixels are 600 MB of RGB; the largest camera pictures have half of that.
constexpr std::int64_t kMaxPixels = 200'000'000;

struct Foreign {
  std::size_t offset;
  std::string_view magic;
  const char* description;
};

constexpr std::array kForeign{
    Foreign{0, "GIF8", "a GIF picture"},
    Foreign{0, std::string_view("II*\0", 4), "a TIFF picture"},
    Foreign{0, std::string_view("MM\0*", 4), "a TIFF picture"},
    Foreign{4, "ftypheic", "a HEIC picture"},
    Foreign{4, "ftypmif1", "a HEIC picture"},
    Foreign{4, "ftypavif", "an AVIF picture"},
    Foreign{4, "ftyp", "a video"},
    Foreign{4, "jP  ", "a JPEG 2000 picture"},
    Foreign{0, "8BPS", "a Photoshop file"},
    Foreign{0, "%PDF", "a PDF document"},
    Foreign{0, "PK\x03\x04", "a ZIP archive"},
    Foreign{0, "version https://git-lfs", "a Git LFS pointer, not the picture itself"},
    Foreign{0, "<!DOCTYPE", "a web page"},
    Foreign{0, "<!doctype", "a web page"},
    Foreign{0, "<html", "a web page"},
    Foreign{0, "<HTML", "a web page"},
    Foreign{0, "<?xml", "an XML text"},
};

}  // namespace

std::string describe_foreign(std::string_view bytes) {
  for (const Foreign& foreign : kForeign) {
    if (bytes.size() >= foreign.offset && bytes.substr(foreign.offset).starts_with(foreign.magic)) {
      return foreign.description;
    }
  }
  const auto is_text = [](char c) {
    return static_cast<unsigned char>(c) >= 32 || c == '\n' || c == '\r' || c == '\t';
  };
  return std::all_of(bytes.begin(), bytes.end(), is_text) ? "a text file" : "";
}

void check_size(Size size) {
  if (size.width < 1 || size.height < 1) {
    throw Refused(fmt::format("the picture is {} x {} pixels", size.width, size.height), "remove the file");
  }
  if (static_cast<std::int64_t>(size.width) * size.height > kMaxPixels) {
    throw Refused(fmt::format("the picture has {} x {} pixels, over the limit of {} million", size.width,
                              size.height, kMaxPixels / 1'000'000),
                  "make it smaller with a picture editor, or remove it");
  }
}

Image rgb_on_white(const std::vector<std::uint8_t>& rgba, Size size, bool* had_transparency) {
  Image image{size.width, size.height, 3, {}};
  image.pixels.resize(rgba.size() / 4 * 3);
  bool transparent = false;
  for (std::size_t i = 0; i < rgba.size() / 4; ++i) {
    const int alpha = rgba[4 * i + 3];
    transparent |= alpha != 255;
    for (std::size_t c = 0; c < 3; ++c) {
      image.pixels[3 * i + c] =
          static_cast<std::uint8_t>((rgba[4 * i + c] * alpha + 255 * (255 - alpha) + 127) / 255);
    }
  }
  *had_transparency = transparent;
  return image;
}

}  // namespace codecs

namespace {

constexpr std::array<const codecs::Codec*, 4> kCodecs{&codecs::kJpeg, &codecs::kPng, &codecs::kWebp,
                                                      &codecs::kBmp};

const codecs::Codec& recognise(std::string_view bytes) {
  if (bytes.empty()) throw codecs::Refused("the file is empty (0 bytes)", "copy it anew, or remove it");
  for (const codecs::Codec* codec : kCodecs) {
    if (codec->recognises(bytes)) return *codec;
  }
  const std::string foreign = codecs::describe_foreign(bytes);
  if (!foreign.empty())
    throw codecs::Refused("this is " + foreign, "give the picture itself as JPEG or PNG, or remove the file");
  throw codecs::Refused("not a picture: the content is neither JPEG, PNG, WebP nor BMP", "remove the file");
}

// The formats that a name's ending promises.
std::string format_of_ending(const std::string& name) {
  const std::string ending = base::to_lower(std::filesystem::path(name).extension().string());
  if (ending == ".jpg" || ending == ".jpeg") return "jpeg";
  if (ending == ".png" || ending == ".webp" || ending == ".bmp") return ending.substr(1);
  return "";
}

void read_header(const codecs::Codec& codec, std::string_view bytes, const std::string& name,
                 ReadInfo& info) {
  info.format = codec.format;
  codec.read_header(bytes, info);
  const std::string promised = format_of_ending(name);
  if (!promised.empty() && promised != info.format) {
    info.notes.push_back(fmt::format("the content is {}, the name says {}", info.format, promised));
  }
  if (info.orientation != 1)
    info.notes.push_back(fmt::format("EXIF orientation {} applied", info.orientation));
}

// Runs `body`, which may throw Refused, and gives its complaint the file's name.
template <class Body>
auto naming(const std::string& name, const Body& body) {
  try {
    return body();
  } catch (const codecs::Refused& refused) {
    throw base::Error(base::ExitCode::kRefused, refused.what(), name, refused.hint());
  }
}

// least_side 0: the whole picture.
Image decode_upright(std::string_view bytes, const std::string& name, int least_side, ReadInfo* info) {
  return naming(name, [&] {
    ReadInfo found;
    const codecs::Codec& codec = recognise(bytes);
    read_header(codec, bytes, name, found);
    Image image = least_side > 0 && codec.decode_reduced != nullptr
                      ? codec.decode_reduced(bytes, least_side, found)
                      : codec.decode(bytes, found);
    if (found.orientation != 1) image = turn_upright(image, found.orientation);
    if (info != nullptr) *info = std::move(found);
    return image;
  });
}

}  // namespace

Image decode_image(std::string_view bytes, const std::string& name_for_errors, ReadInfo* info) {
  return decode_upright(bytes, name_for_errors, 0, info);
}

Image decode_reduced(std::string_view bytes, const std::string& name_for_errors, int least_side,
                     ReadInfo* info) {
  MASKFIT_CHECK(least_side > 0, "least_side={}", least_side);
  return decode_upright(bytes, name_for_errors, least_side, info);
}

Image read_image(const std::filesystem::path& path, ReadInfo* info) {
  return decode_image(base::read_file(path), path.string(), info);
}

Size read_image_size(const std::filesystem::path& path, ReadInfo* info) {
  const std::string bytes = base::read_file(path);
  return naming(path.string(), [&] {
    ReadInfo found;
    read_header(recognise(bytes), bytes, path.string(), found);
    const Size size = upright_size(found.stored_size, found.orientation);
    if (info != nullptr) *info = std::move(found);
    return size;
  });
}

void write_image(const std::filesystem::path& path, const Image& image, int jpeg_quality) {
  const std::string format = format_of_ending(path.string());
  if (format == "jpeg") return base::write_file(path, encode_jpeg(image, jpeg_quality));
  if (format == "png") return base::write_file(path, encode_png(image));
  throw base::Error(base::ExitCode::kUsage, "pictures are written as JPEG or PNG", path.string(),
                    "give a name that ends in .jpg or .png");
}

}  // namespace maskfit::image
