#include "image/image.h"

#include <gmock/gmock.h>
#include <png.h>
#include <turbojpeg.h>
#include <webp/encode.h>

#include <cstring>
#include <functional>

#include "base/error.h"
#include "base/files.h"
#include "image/draw.h"
#include "tests/support/temp_dir.h"

namespace maskfit::image {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using namespace std::string_literals;

// Four quarters in different colours, so that every turn and every swap of channels shows.
Image quarters(int width = 32, int height = 16) {
  Image image = filled({width, height}, {230, 30, 40});
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const bool right = x >= width / 2, bottom = y >= height / 2;
      const Color color = right && bottom ? Color{240, 240, 240}
                          : right         ? Color{30, 200, 50}
                                          : Color{20, 40, 220};
      if (right || bottom) std::copy(color.begin(), color.end(), image.row(y) + 3 * x);
    }
  }
  return image;
}

int largest_difference(const Image& a, const Image& b) {
  if (a.width != b.width || a.height != b.height || a.channels != b.channels) return 999;
  int largest = 0;
  for (std::size_t i = 0; i < a.pixels.size(); ++i)
    largest = std::max(largest, std::abs(a.pixels[i] - b.pixels[i]));
  return largest;
}

// Inserts an APP1 segment with one orientation entry right behind the start marker.
std::string with_exif(const std::string& jpeg, int orientation) {
  std::string tiff("Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\0\0\0\0\0\0\0", 32);
  tiff[25] = static_cast<char>(orientation);
  std::string segment("\xFF\xE1\0\0", 4);
  segment[3] = static_cast<char>(tiff.size() + 2);
  return jpeg.substr(0, 2) + segment + tiff + jpeg.substr(2);
}

std::string refusal(const std::string& bytes, const std::string& name = "some/picture.jpg") {
  try {
    decode_image(bytes, name);
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::ExitCode::kRefused);
    EXPECT_EQ(error.where(), name);
    return error.what();
  }
  return "not refused";
}

std::vector<std::string> notes(const std::string& bytes, const std::string& name) {
  ReadInfo info;
  decode_image(bytes, name, &info);
  return info.notes;
}

// What a camera stores so that `upright` is seen with the given orientation: the inverse turn.
Image stored_for(const Image& upright, int orientation) {
  const bool swap = orientation >= 5;
  Image stored{swap ? upright.height : upright.width, swap ? upright.width : upright.height, 3, {}};
  stored.pixels.resize(upright.pixels.size());
  for (int y = 0; y < upright.height; ++y) {
    for (int x = 0; x < upright.width; ++x) {
      const int right = upright.width - 1 - x, bottom = upright.height - 1 - y;
      const int column[] = {x, right, right, x, y, y, bottom, bottom};
      const int row[] = {y, y, bottom, bottom, x, right, right, x};
      std::copy_n(upright.row(y) + 3 * x, 3, stored.row(row[orientation - 1]) + 3 * column[orientation - 1]);
    }
  }
  return stored;
}

TEST(ReadJpeg, AllEightExifOrientationsGiveTheSameUprightPicture) {
  const Image upright = quarters();
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const std::string bytes = with_exif(encode_jpeg(stored_for(upright, orientation), 95), orientation);
    ReadInfo info;
    const Image image = decode_image(bytes, "a.jpg", &info);
    EXPECT_LE(largest_difference(image, upright), 12) << "orientation " << orientation;
    EXPECT_EQ(info.orientation, orientation);
    EXPECT_EQ(info.stored_size, orientation >= 5 ? (Size{16, 32}) : (Size{32, 16}));
    EXPECT_EQ(info.notes.empty(), orientation == 1);
  }
}

TEST(ReadJpeg, AMalformedOrientationCountsAsUprightAndIsNoted) {
  const std::string bytes = with_exif(encode_jpeg(quarters(), 95), 77);
  EXPECT_THAT(notes(bytes, "a.jpg"), Contains(HasSubstr("77")));
  EXPECT_LE(largest_difference(decode_image(bytes, "a.jpg"), quarters()), 12);
}

TEST(ReadJpeg, GreyBecomesRgb) {
  const Image grey{16, 16, 1, std::vector<std::uint8_t>(256, 90)};
  const Image image = decode_image(encode_jpeg(grey), "a.jpg");
  EXPECT_EQ(image.channels, 3);
  EXPECT_LE(largest_difference(image, filled({16, 16}, {90, 90, 90})), 1);
}

std::string turbojpeg(const std::vector<std::uint8_t>& pixels, Size size, int pixel_format, int flags) {
  tjhandle handle = tjInitCompress();
  unsigned char* out = nullptr;
  unsigned long length = 0;
  tjCompress2(handle, pixels.data(), size.width, 0, size.height, pixel_format, &out, &length, TJSAMP_444, 95,
              flags);
  const std::string bytes(reinterpret_cast<char*>(out), length);
  tjFree(out);
  tjDestroy(handle);
  return bytes;
}

TEST(ReadJpeg, ProgressiveIsReadLikeBaseline) {
  const std::string bytes = turbojpeg(quarters().pixels, {32, 16}, TJPF_RGB, TJFLAG_PROGRESSIVE);
  EXPECT_LE(largest_difference(decode_image(bytes, "a.jpg"), quarters()), 12);
}

TEST(ReadJpeg, CmykIsConvertedAndNoted) {
  // Inverted, as Adobe writes it: 255 is no ink. Yellow paper with a third of the light taken by black.
  std::vector<std::uint8_t> cmyk;
  for (int i = 0; i < 256; ++i) cmyk.insert(cmyk.end(), {240, 240, 30, 170});
  const std::string bytes = turbojpeg(cmyk, {16, 16}, TJPF_CMYK, 0);
  EXPECT_LE(largest_difference(decode_image(bytes, "a.jpg"), filled({16, 16}, {160, 160, 20})), 3);
  EXPECT_THAT(notes(bytes, "a.jpg"), Contains("CMYK converted to RGB"));
}

TEST(ReadJpeg, TrailingBytesAreIgnoredAndNoted) {
  const std::string bytes = encode_jpeg(quarters()) + std::string(20, 'x');
  EXPECT_THAT(notes(bytes, "a.jpg"), Contains("20 trailing bytes ignored"));
}

TEST(ReadJpeg, ASecondPictureBehindTheFirstIsIgnored) {
  const std::string bytes = encode_jpeg(quarters(), 95) + encode_jpeg(filled({8, 8}, {0, 0, 0}));
  EXPECT_LE(largest_difference(decode_image(bytes, "a.jpg"), quarters()), 12);
}

TEST(ReadJpeg, AThumbnailWithItsOwnEndMarkerDoesNotEndThePicture) {
  const std::string thumbnail = encode_jpeg(filled({8, 8}, {0, 0, 0}));
  std::string segment("\xFF\xE2\0\0", 4);
  segment[2] = static_cast<char>((thumbnail.size() + 2) >> 8);
  segment[3] = static_cast<char>((thumbnail.size() + 2) & 0xFF);
  const std::string jpeg = encode_jpeg(quarters(), 95);
  EXPECT_THAT(notes(jpeg.substr(0, 2) + segment + thumbnail + jpeg.substr(2), "a.jpg"), IsEmpty());
}

TEST(ReadJpeg, CutAnywhereIsRefusedAsCutShort) {
  for (const int flags : {0, TJFLAG_PROGRESSIVE}) {
    const std::string bytes = turbojpeg(quarters(64, 64).pixels, {64, 64}, TJPF_RGB, flags);
    for (const double part : {0.4, 0.6, 0.8, 0.95}) {
      const std::string cut = bytes.substr(0, static_cast<std::size_t>(bytes.size() * part));
      EXPECT_THAT(refusal(cut), ::testing::AnyOf(HasSubstr("cut short"), HasSubstr("header unreadable")))
          << part;
    }
    EXPECT_THAT(refusal(bytes.substr(0, bytes.size() - 12)), HasSubstr("cut short"));
  }
}

TEST(ReadJpeg, OnlyTheEndMarkerMissingIsMended) {
  std::string bytes = encode_jpeg(quarters(), 95);
  bytes.resize(bytes.size() - 2);
  EXPECT_THAT(notes(bytes, "a.jpg"), Contains(HasSubstr("end marker missing")));
  EXPECT_LE(largest_difference(decode_image(bytes, "a.jpg"), quarters()), 12);
}

TEST(ReadJpeg, DamageInsideIsRefused) {
  std::string bytes = encode_jpeg(quarters(64, 64), 95);
  const std::size_t scan = bytes.find("\xFF\xDA");
  bytes.erase(scan + 40, (bytes.size() - scan) / 2);
  EXPECT_THAT(refusal(bytes), HasSubstr("JPEG damaged"));
}

// A PNG of one row, written by libpng with the given colour type.
std::string png_row(int width, int bits, int color_type, std::vector<std::uint8_t> row,
                    const std::function<void(png_structp, png_infop)>& extras = {}) {
  std::string out;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &out,
      [](png_structp p, png_bytep bytes, std::size_t count) {
        static_cast<std::string*>(png_get_io_ptr(p))->append(reinterpret_cast<char*>(bytes), count);
      },
      nullptr);
  png_set_IHDR(png, info, static_cast<png_uint_32>(width), 1, bits, color_type, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  if (extras) extras(png, info);
  png_write_info(png, info);
  png_write_row(png, row.data());
  png_write_end(png, nullptr);
  png_destroy_write_struct(&png, &info);
  return out;
}

TEST(ReadPng, RoundTripIsExact) {
  ReadInfo info;
  EXPECT_EQ(decode_image(encode_png(quarters()), "a.png", &info).pixels, quarters().pixels);
  EXPECT_EQ(info.format, "png");
  EXPECT_THAT(info.notes, IsEmpty());
}

TEST(ReadPng, PaletteAndItsTransparency) {
  const std::string bytes =
      png_row(3, 8, PNG_COLOR_TYPE_PALETTE, {1, 0, 2}, [](png_structp png, png_infop info) {
        const png_color palette[] = {{1, 2, 3}, {40, 50, 60}, {200, 100, 0}};
        const png_byte alpha[] = {255, 255, 0};
        png_set_PLTE(png, info, palette, 3);
        png_set_tRNS(png, info, alpha, 3, nullptr);
      });
  EXPECT_THAT(decode_image(bytes, "a.png").pixels,
              ::testing::ElementsAre(40, 50, 60, 1, 2, 3, 255, 255, 255));
}

TEST(ReadPng, OneBitGrey) {
  const std::string bytes = png_row(4, 1, PNG_COLOR_TYPE_GRAY, {0b01010000});
  EXPECT_THAT(decode_image(bytes, "a.png").pixels,
              ::testing::ElementsAre(0, 0, 0, 255, 255, 255, 0, 0, 0, 255, 255, 255));
}

TEST(ReadPng, SixteenBitsKeepTheUpperEight) {
  const std::string bytes = png_row(1, 16, PNG_COLOR_TYPE_RGB, {0x12, 0xFF, 0x80, 0x00, 0xFF, 0xFE});
  EXPECT_THAT(decode_image(bytes, "a.png").pixels, ::testing::ElementsAre(0x12, 0x80, 0xFF));
  EXPECT_THAT(notes(bytes, "a.png"), Contains("16 bits a channel reduced to 8"));
}

TEST(ReadPng, AlphaIsLaidOnWhite) {
  const std::string bytes =
      png_row(3, 8, PNG_COLOR_TYPE_RGBA, {10, 20, 30, 255, 10, 20, 30, 0, 0, 100, 200, 51});
  EXPECT_THAT(decode_image(bytes, "a.png").pixels,
              ::testing::ElementsAre(10, 20, 30, 255, 255, 255, 204, 224, 244));
  EXPECT_THAT(notes(bytes, "a.png"), Contains("transparency laid on white"));
}

TEST(ReadPng, GreyWithAlpha) {
  EXPECT_THAT(decode_image(png_row(1, 8, PNG_COLOR_TYPE_GRAY_ALPHA, {100, 255}), "a.png").pixels,
              ::testing::ElementsAre(100, 100, 100));
}

TEST(ReadPng, ExifOrientationIsApplied) {
  const std::string bytes =
      png_row(2, 8, PNG_COLOR_TYPE_GRAY, {10, 200}, [](png_structp png, png_infop info) {
        std::string tiff("MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x02\0\0\0\0\0\0", 26);
        png_set_eXIf_1(png, info, static_cast<png_uint_32>(tiff.size()),
                       reinterpret_cast<png_bytep>(tiff.data()));
      });
  EXPECT_EQ(decode_image(bytes, "a.png").pixels[0], 200);
}

TEST(ReadPng, NamedJpgIsReadByItsContentAndNoted) {
  EXPECT_THAT(notes(encode_png(quarters()), "a.jpg"), Contains("the content is png, the name says jpeg"));
  EXPECT_THAT(notes(encode_jpeg(quarters()), "a.JPEG"), IsEmpty());
}

TEST(ReadPng, CutAnywhereIsRefused) {
  const std::string bytes = encode_png(quarters());
  for (std::size_t length = 8; length + 12 < bytes.size(); length += 3) {
    EXPECT_THAT(refusal(bytes.substr(0, length), "a.png"), HasSubstr("PNG")) << length;
  }
}

TEST(ReadPng, AFlippedBitIsRefused) {
  std::string bytes = encode_png(quarters());
  bytes[bytes.find("IDAT") + 10] ^= 1;
  EXPECT_THAT(refusal(bytes, "a.png"), HasSubstr("PNG damaged"));
}

TEST(ReadPng, TrailingBytesAreIgnoredAndNoted) {
  EXPECT_THAT(notes(encode_png(quarters()) + "junk", "a.png"), Contains("4 trailing bytes ignored"));
}

TEST(ReadWebp, LosslessRoundTripAndCut) {
  std::uint8_t* out = nullptr;
  const Image picture = quarters();
  const std::size_t size = WebPEncodeLosslessRGB(picture.pixels.data(), 32, 16, 96, &out);
  const std::string bytes(reinterpret_cast<char*>(out), size);
  WebPFree(out);
  ReadInfo info;
  EXPECT_EQ(decode_image(bytes, "a.webp", &info).pixels, picture.pixels);
  EXPECT_EQ(info.format, "webp");
  EXPECT_THAT(refusal(bytes.substr(0, bytes.size() / 2), "a.webp"), HasSubstr("cut short"));
  EXPECT_THAT(refusal(bytes.substr(0, 16), "a.webp"), HasSubstr("cut short"));
}

// A BMP of 2 x 2: red green / blue white, bottom-up unless `top_down`.
std::string bmp(int bits, bool top_down) {
  std::string out("BM\0\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x02\0\0\0\x02\0\0\0\x01\0", 28);
  if (top_down) out.replace(22, 4, "\xFE\xFF\xFF\xFF", 4);
  out += std::string{static_cast<char>(bits), 0} + std::string(24, '\0');
  const std::string padding(bits == 24 ? 2 : 0, '\0'), fourth(bits == 32 ? 1 : 0, '\0');
  const std::string top = "\0\0\xFF"s + fourth + "\0\xFF\0"s + fourth + padding;
  const std::string bottom = "\xFF\0\0"s + fourth + "\xFF\xFF\xFF"s + fourth + padding;
  return out + (top_down ? top + bottom : bottom + top);
}

TEST(ReadBmp, BothRowOrdersAndPixelSizes) {
  for (const int bits : {24, 32}) {
    for (const bool top_down : {false, true}) {
      EXPECT_THAT(decode_image(bmp(bits, top_down), "a.bmp").pixels,
                  ::testing::ElementsAre(255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255))
          << bits << top_down;
    }
  }
}

TEST(ReadBmp, CutOrOutsideItsPaletteIsRefused) {
  const std::string whole = bmp(24, false);
  for (std::size_t length = 10; length < whole.size(); ++length) {
    EXPECT_THAT(refusal(whole.substr(0, length), "a.bmp"), HasSubstr("BMP cut short")) << length;
  }
}

TEST(Refusal, NamesWhatTheFileIsInstead) {
  EXPECT_THAT(refusal(""), HasSubstr("0 bytes"));
  EXPECT_THAT(refusal("GIF89a........"), HasSubstr("a GIF picture"));
  EXPECT_THAT(refusal("<!DOCTYPE html><title>404</title>"), HasSubstr("a web page"));
  EXPECT_THAT(refusal("version https://git-lfs.github.com/spec/v1\n"), HasSubstr("Git LFS pointer"));
  EXPECT_THAT(refusal("BMW is a car\n"), HasSubstr("a text file"));
  EXPECT_THAT(refusal("BM\x01\x02"), HasSubstr("not a picture"));
  EXPECT_THAT(refusal("\xFF\xD8\xFF"), HasSubstr("JPEG"));
}

TEST(Refusal, APictureTooLargeForAnyMachineIsRefusedByItsHeader) {
  std::string bytes = encode_png(filled({1, 1}, {0, 0, 0}));
  bytes.replace(16, 8, std::string("\0\0\xFF\xFF\0\0\xFF\xFF", 8));
  bytes.replace(29, 4, std::string("\x39\x67\x4E\x07", 4));  // the CRC of the patched header
  EXPECT_THAT(refusal(bytes, "a.png"), HasSubstr("65535 x 65535 pixels, over the limit"));
}

TEST(ReadImageSize, IsUprightAndDecodesNothing) {
  const support::TempDir folder;
  std::string bytes = with_exif(encode_jpeg(quarters(32, 16)), 6);
  bytes.resize(bytes.size() - 12);  // the header does not show the cut
  base::write_file(folder / "a.jpg", bytes);
  ReadInfo info;
  EXPECT_EQ(read_image_size(folder / "a.jpg", &info), (Size{16, 32}));
  EXPECT_EQ(info.stored_size, (Size{32, 16}));
}

TEST(WriteImage, ChoosesTheFormatByTheEndingAndRefusesOthers) {
  const support::TempDir folder;
  write_image(folder / "a.PNG", quarters());
  write_image(folder / "b.jpeg", quarters(), 95);
  EXPECT_EQ(read_image(folder / "a.PNG").pixels, quarters().pixels);
  EXPECT_LE(largest_difference(read_image(folder / "b.jpeg"), quarters()), 12);
  EXPECT_THROW(write_image(folder / "c.tif", quarters()), base::Error);
}

TEST(WriteImage, OnePixel) {
  for (const char* name : {"a.png", "a.jpg"}) {
    const support::TempDir folder;
    write_image(folder / name, filled({1, 1}, {255, 255, 255}));
    EXPECT_EQ(read_image(folder / name).pixels, (std::vector<std::uint8_t>{255, 255, 255}));
  }
}

}  // namespace
}  // namespace maskfit::image
