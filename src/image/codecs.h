#pragma once

// The decoders behind image.h, private to this folder. Each works on a whole file in memory and gives the
// picture as stored: RGB, 8 bit, not yet turned upright. A picture that cannot be used throws Refused; what
// was mended on the way goes into ReadInfo::notes.

#include <stdexcept>
#include <string>
#include <string_view>

#include "image/image.h"

namespace maskfit::image::codecs {

// Why a file was not used. image.cpp turns it into a base::Error with the file's name.
class Refused : public std::runtime_error {
 public:
  explicit Refused(const std::string& what, std::string hint = "")
      : std::runtime_error(what), hint_(std::move(hint)) {}
  const std::string& hint() const { return hint_; }

 private:
  std::string hint_;
};

// read_header fills stored_size and orientation, and notes what the header shows; it decodes no pixel.
// decode takes what read_header found and gives stored_size pixels in RGB. decode_reduced (null: there is no
// shortcut) gives a fraction of them, see reduced.h.
struct Codec {
  const char* format;  // as in ReadInfo::format
  bool (*recognises)(std::string_view bytes);
  void (*read_header)(std::string_view bytes, ReadInfo& info);
  Image (*decode)(std::string_view bytes, ReadInfo& info);
  Image (*decode_reduced)(std::string_view bytes, int least_side, ReadInfo& info);
};

extern const Codec kJpeg;
extern const Codec kPng;
extern const Codec kWebp;
extern const Codec kBmp;

// "a GIF picture", "a web page", ... for content that no codec reads; "" when it is unknown.
std::string describe_foreign(std::string_view bytes);

// Throws Refused for an empty picture or one so large that decoding it would exhaust a small machine.
void check_size(Size size);

// Lays RGBA pixels on white. Sets *had_transparency when any alpha was below 255.
Image rgb_on_white(const std::vector<std::uint8_t>& rgba, Size size, bool* had_transparency);

}  // namespace maskfit::image::codecs
