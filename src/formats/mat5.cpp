#include "formats/mat5.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/error.h"
#include "formats/inflate.h"
#include "formats/little_endian.h"
#include "formats/utf8.h"

namespace maskfit::formats {
namespace {

constexpr std::size_t kHeader = 128;
constexpr std::size_t kMaxFields = 4096;
constexpr std::size_t kMaxRatio = 1032;  // of zlib's deflate; the format cannot do more

enum ElementType : std::uint32_t {
  kInt8 = 1,
  kUint8 = 2,
  kInt16 = 3,
  kUint16 = 4,
  kInt32 = 5,
  kUint32 = 6,
  kSingle = 7,
  kDouble = 9,
  kInt64 = 12,
  kUint64 = 13,
  kMatrix = 14,
  kCompressed = 15,
  kUtf8 = 16,
  kUtf16 = 17,
  kUtf32 = 18,
};

// The class in the array flags.
enum ArrayClass : std::uint32_t {
  kClassCell = 1,
  kClassStruct = 2,
  kClassChar = 4,
  kClassFirstNumeric = 6,
  kClassLastNumeric = 15
};

std::size_t width_of(std::uint32_t type) {
  switch (type) {
    case kInt8:
    case kUint8:
    case kUtf8:
      return 1;
    case kInt16:
    case kUint16:
    case kUtf16:
      return 2;
    case kInt32:
    case kUint32:
    case kSingle:
    case kUtf32:
      return 4;
    case kDouble:
    case kInt64:
    case kUint64:
      return 8;
    default:
      return 0;
  }
}

struct Element {
  std::uint32_t type = 0;
  std::string_view data;
};

// What all variables of a file share: byte order and what is left of the limits.
struct Context {
  const std::string& file;
  bool swapped;
  std::size_t inflated_left;
  std::size_t kept_left;
};

// Reads elements one after the other from a piece of the file, or of an inflated variable.
class Reader {
 public:
  // `start` is where the bytes lie, for messages; `where` names what they are ("the file", "variable 2").
  Reader(std::string_view bytes, std::size_t start, const std::string& where, Context* context)
      : bytes_(bytes), start_(start), where_(where), context_(context) {}

  bool at_end() const { return at_ >= bytes_.size(); }

  [[noreturn]] void fail(const std::string& what) const {
    throw base::Error(base::ExitCode::kRefused,
                      fmt::format("broken MATLAB file: {} at byte {} of {}", what, start_ + at_, where_),
                      context_->file, "fetch the file anew; it is damaged or cut off");
  }

  Element next() {
    if (bytes_.size() - at_ < 8) fail("an element is cut off");
    const auto first = number<std::uint32_t>(bytes_, at_);
    Element element;
    if (first >> 16 != 0) {
      const std::size_t size = first >> 16;
      if (size > 4) fail(fmt::format("a small element of {} bytes", size));
      element = {first & 0xFFFF, bytes_.substr(at_ + 4, size)};
      at_ += 8;
      return element;
    }
    const std::size_t size = number<std::uint32_t>(bytes_, at_ + 4);
    if (size > bytes_.size() - at_ - 8)
      fail(fmt::format("an element of {} bytes where {} are left", size, bytes_.size() - at_ - 8));
    element = {first, bytes_.substr(at_ + 8, size)};
    const std::size_t padding = first == kCompressed ? 0 : (8 - size % 8) % 8;
    // The last element's padding may be missing.
    at_ += 8 + std::min(size + padding, bytes_.size() - at_ - 8);
    return element;
  }

  MatArray array(const Element& element, int depth) const {
    if (element.type != kMatrix)
      fail(fmt::format("an element of type {} in place of an array", element.type));
    if (depth == 0) keep(sizeof(MatArray));  // parts are counted before they are made
    if (element.data.empty()) return empty_array();
    if (depth >= kMatMaxDepth) fail(fmt::format("arrays nested more than {} deep", kMatMaxDepth));
    Reader inner(element.data, start_ + static_cast<std::size_t>(element.data.data() - bytes_.data()), where_,
                 context_);
    return inner.array_content(depth);
  }

 private:
  template <typename Number>
  Number number(std::string_view bytes, std::size_t at) const {
    char raw[sizeof(Number)];
    std::copy_n(bytes.data() + at, sizeof(Number), raw);
    if (context_->swapped) std::reverse(std::begin(raw), std::end(raw));
    return load_le<Number>({raw, sizeof(Number)});
  }

  static MatArray empty_array() {
    MatArray array;
    array.dims = {0, 0};
    return array;
  }

  void keep(std::size_t bytes) const {
    if (bytes > context_->kept_left) {
      throw base::Error(base::ExitCode::kRefused, "the MATLAB file holds more than any annotation file does",
                        context_->file, "check that it is the file you mean");
    }
    context_->kept_left -= bytes;
  }

  Element next_of(const char* what, std::initializer_list<std::uint32_t> types) {
    const Element element = next();
    if (std::find(types.begin(), types.end(), element.type) == types.end())
      fail(fmt::format("an element of type {} in place of {}", element.type, what));
    return element;
  }

  MatArray array_content(int depth) {
    MatArray array;
    const Element flags = next_of("the array's flags", {kUint32});
    if (flags.data.size() != 8) fail("array flags of the wrong size");
    const std::uint32_t array_class = number<std::uint32_t>(flags.data, 0) & 0xFF;
    const bool known = array_class == kClassCell || array_class == kClassStruct ||
                       array_class == kClassChar ||
                       (array_class >= kClassFirstNumeric && array_class <= kClassLastNumeric);
    if (!known) {  // sparse arrays and objects are laid out in their own way
      array = empty_array();
      array.kind = MatKind::kOther;
      if (array_class <= kClassLastNumeric) {
        next_of("the dimensions", {kInt32});
        array.name = next_of("the name", {kInt8, kUint8, kUtf8}).data;
      }
      return array;
    }
    read_dims(&array);
    array.name = next_of("the name", {kInt8, kUint8, kUtf8}).data;
    keep(array.name.size());
    if (array_class == kClassCell) {
      array.kind = MatKind::kCells;
      read_parts(&array, array.elements(), depth);
    } else if (array_class == kClassStruct) {
      array.kind = MatKind::kStruct;
      read_struct(&array, depth);
    } else if (array_class == kClassChar) {
      array.kind = MatKind::kText;
      read_text(&array);
    } else {
      read_numbers(&array);
    }
    return array;
  }

  void read_dims(MatArray* array) {
    const Element dims = next_of("the dimensions", {kInt32, kUint32});
    const std::size_t n = dims.data.size() / 4;
    if (n < 2 || n > 32 || dims.data.size() % 4 != 0) fail(fmt::format("{} dimensions", n));
    std::size_t elements = 1;
    for (std::size_t i = 0; i < n; ++i) {
      const auto dim = number<std::int32_t>(dims.data, 4 * i);
      if (dim < 0) fail(fmt::format("a dimension of {}", dim));
      array->dims.push_back(static_cast<std::size_t>(dim));
      if (dim != 0 && elements > std::numeric_limits<std::uint32_t>::max() / static_cast<std::size_t>(dim))
        fail("dimensions that no file can fill");
      elements *= static_cast<std::size_t>(dim);
    }
  }

  void read_parts(MatArray* array, std::size_t n, int depth) {
    // Each part takes 8 bytes at the least, so that a lie about their number ends here.
    if (n > (bytes_.size() - at_) / 8)
      fail(fmt::format("{} arrays where {} bytes are left", n, bytes_.size() - at_));
    keep(n * sizeof(MatArray));
    array->parts.reserve(n);
    for (std::size_t i = 0; i < n; ++i) array->parts.push_back(this->array(next(), depth + 1));
  }

  void read_struct(MatArray* array, int depth) {
    const Element width = next_of("the field names' length", {kInt32});
    if (width.data.size() != 4) fail("a field name length of the wrong size");
    const auto length = number<std::int32_t>(width.data, 0);
    const Element names = next_of("the field names", {kInt8, kUint8, kUtf8});
    if (length <= 0 || names.data.size() % static_cast<std::size_t>(length) != 0)
      fail(fmt::format("{} bytes of field names of {} each", names.data.size(), length));
    const std::size_t fields = names.data.size() / static_cast<std::size_t>(length);
    if (fields > kMaxFields) fail(fmt::format("{} fields", fields));
    for (std::size_t i = 0; i < fields; ++i) {
      const std::string_view padded =
          names.data.substr(i * static_cast<std::size_t>(length), static_cast<std::size_t>(length));
      array->field_names.emplace_back(padded.substr(0, padded.find('\0')));
      keep(sizeof(std::string) + padded.size());
    }
    const std::size_t elements = array->elements();
    if (fields != 0) read_parts(array, elements * fields, depth);
  }

  double number_at(const Element& element, std::size_t i) const {
    switch (element.type) {
      case kInt8:
        return static_cast<signed char>(element.data[i]);
      case kUint8:
        return static_cast<unsigned char>(element.data[i]);
      case kInt16:
        return number<std::int16_t>(element.data, 2 * i);
      case kUint16:
        return number<std::uint16_t>(element.data, 2 * i);
      case kInt32:
        return number<std::int32_t>(element.data, 4 * i);
      case kUint32:
        return number<std::uint32_t>(element.data, 4 * i);
      case kSingle:
        return static_cast<double>(number<float>(element.data, 4 * i));
      case kDouble:
        return number<double>(element.data, 8 * i);
      case kInt64:
        return static_cast<double>(number<std::int64_t>(element.data, 8 * i));
      default:
        return static_cast<double>(number<std::uint64_t>(element.data, 8 * i));
    }
  }

  void read_numbers(MatArray* array) {
    const std::size_t elements = array->elements();
    if (elements == 0 && at_end()) return;
    const Element data = next();
    const std::size_t width = data.type >= kUtf8 ? 0 : width_of(data.type);
    if (width == 0) fail(fmt::format("numbers of type {}", data.type));
    if (data.data.size() / width != elements)
      fail(fmt::format("{} numbers in an array of {}", data.data.size() / width, elements));
    keep(elements * sizeof(double));
    array->numbers.resize(elements);
    for (std::size_t i = 0; i < elements; ++i) array->numbers[i] = number_at(data, i);
  }

  // The code points of a text element.
  std::vector<std::uint32_t> code_points(const Element& data) const {
    std::vector<std::uint32_t> codes;
    const std::size_t width = width_of(data.type);
    for (std::size_t i = 0; i < data.data.size() / width; ++i) {
      auto code = width == 1   ? static_cast<std::uint32_t>(static_cast<unsigned char>(data.data[i]))
                  : width == 2 ? std::uint32_t{number<std::uint16_t>(data.data, 2 * i)}
                               : number<std::uint32_t>(data.data, 4 * i);
      const bool high = code >= 0xD800 && code < 0xDC00 && width == 2;
      if (high && i + 1 < data.data.size() / width) {
        const auto low = std::uint32_t{number<std::uint16_t>(data.data, 2 * (i + 1))};
        if (low >= 0xDC00 && low < 0xE000) {
          code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
          ++i;
        }
      }
      codes.push_back(code);
    }
    return codes;
  }

  void read_text(MatArray* array) {
    if (array->elements() == 0 && at_end()) return;
    const Element data = next();
    const std::size_t width = data.type == kSingle ? 0 : width_of(data.type);
    if (width == 0 || width == 8) fail(fmt::format("text of type {}", data.type));
    keep(data.data.size() * 8);  // its code points on the way, and up to 4 bytes of UTF-8 each
    const std::size_t rows = array->rows(), columns = array->columns();
    if (data.type == kUtf8 && rows <= 1) {
      array->text = std::string(data.data);
      return;
    }
    const std::vector<std::uint32_t> codes = code_points(data);
    if (rows <= 1 || codes.size() != array->elements()) {
      for (const std::uint32_t code : codes) append_utf8(array->text, code);
      return;
    }
    for (std::size_t row = 0; row < rows; ++row) {
      if (row > 0) array->text += '\n';
      for (std::size_t column = 0; column < columns; ++column)
        append_utf8(array->text, codes[column * rows + row]);
    }
  }

  std::string_view bytes_;
  std::size_t start_;
  const std::string& where_;
  Context* context_;
  std::size_t at_ = 0;
};

// The inflated bytes of a compressed variable.
std::string inflate_variable(std::string_view bytes, const std::string& where, Context* context) {
  std::string trouble;
  std::string out =
      inflate_bounded(bytes, std::min(context->inflated_left, bytes.size() * kMaxRatio + 64), &trouble);
  if (!trouble.empty()) {
    throw base::Error(base::ExitCode::kRefused, fmt::format("broken MATLAB file: {} is {}", where, trouble),
                      context->file, "fetch the file anew; it is damaged or cut off");
  }
  context->inflated_left -= out.size();
  return out;
}

[[noreturn]] void refuse_kind(const std::string& what, const std::string& file, const std::string& hint) {
  throw base::Error(base::ExitCode::kRefused, what, file, hint);
}

void check_header(std::string_view bytes, const std::string& file) {
  const std::string_view hdf = "\x89HDF";
  if (bytes.starts_with(hdf) || (bytes.size() > 516 && bytes.substr(512, 4) == hdf) ||
      bytes.starts_with("MATLAB 7.3")) {
    refuse_kind("a MATLAB file of version 7.3, which is HDF5 inside", file,
                "save it in MATLAB or Octave with -v7, or fetch the published file, which is of version 5");
  }
  if (!is_mat_file(bytes)) {
    refuse_kind("no MATLAB file of version 5", file,
                bytes.size() < kHeader ? "the file is cut off; fetch it anew"
                                       : "give the published .mat file, or save it in MATLAB with -v7");
  }
}

}  // namespace

std::size_t MatArray::elements() const {
  if (dims.empty()) return 0;
  std::size_t n = 1;
  for (const std::size_t dim : dims) n *= dim;
  return n;
}

const MatArray* MatArray::field(std::size_t element, std::string_view field_name) const {
  const auto found = std::find(field_names.begin(), field_names.end(), field_name);
  if (found == field_names.end()) return nullptr;
  const std::size_t at = element * field_names.size() + static_cast<std::size_t>(found - field_names.begin());
  return at < parts.size() ? &parts[at] : nullptr;
}

bool is_mat_file(std::string_view bytes) {
  if (bytes.size() < kHeader) return false;
  const std::string_view order = bytes.substr(126, 2), version = bytes.substr(124, 2);
  return (order == "IM" && version == std::string_view("\x00\x01", 2)) ||
         (order == "MI" && version == std::string_view("\x01\x00", 2));
}

std::vector<MatArray> read_mat5(std::string_view bytes, const std::string& file, const MatLimits& limits) {
  check_header(bytes, file);
  Context context{file, bytes.substr(126, 2) == "MI", limits.inflated_bytes, limits.kept_bytes};
  const std::string whole = "the file";
  Reader reader(bytes.substr(kHeader), kHeader, whole, &context);
  std::vector<MatArray> variables;
  for (int n = 1; !reader.at_end(); ++n) {
    const Element element = reader.next();
    if (element.type == kMatrix) {
      variables.push_back(reader.array(element, 0));
    } else if (element.type == kCompressed) {
      const std::string where = fmt::format("variable {}, inflated", n);
      const std::string inflated = inflate_variable(element.data, where, &context);
      Reader inner(inflated, 0, where, &context);
      if (inner.at_end()) inner.fail("nothing");
      variables.push_back(inner.array(inner.next(), 0));
    }
    // Other types at this level are not variables.
  }
  return variables;
}

const MatArray* find_variable(const std::vector<MatArray>& variables, std::string_view name) {
  const auto found = std::find_if(variables.begin(), variables.end(),
                                  [&](const MatArray& variable) { return variable.name == name; });
  return found == variables.end() ? nullptr : &*found;
}

}  // namespace maskfit::formats
