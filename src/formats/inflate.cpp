#include "formats/inflate.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>

namespace maskfit::formats {

std::string inflate_bounded(std::string_view packed, std::size_t most, std::string* trouble) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) {
    *trouble = "not readable: zlib has no memory";
    return "";
  }
  struct End {
    z_stream* stream;
    ~End() { inflateEnd(stream); }
  } end{&stream};
  // zlib does not write to its input.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string out;
  int state = Z_OK;
  while (state == Z_OK) {
    const std::size_t filled = out.size();
    out.resize(std::min(most, std::max<std::size_t>(4096, 2 * filled)));
    if (out.size() == filled) {
      *trouble = fmt::format("longer than {} bytes once inflated", most);
      return "";
    }
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + filled);
    stream.avail_out = static_cast<uInt>(out.size() - filled);
    state = inflate(&stream, Z_NO_FLUSH);
    out.resize(out.size() - stream.avail_out);
  }
  if (state == Z_STREAM_END) return out;
  *trouble = stream.msg == nullptr ? "cut off" : fmt::format("damaged ({})", stream.msg);
  return "";
}

}  // namespace maskfit::formats
