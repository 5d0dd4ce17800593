#pragma once

// The safetensors container: named arrays and a text dictionary in one file.
//
//   u64 LE header size | header: JSON, padded with blanks to a multiple of 8 | array data
//
// The header maps each name to {"dtype", "shape", "data_offsets": [begin, end]}, offsets counted from the
// first data byte; "__metadata__" maps text to text. Ours are byte-for-byte reproducible: names sorted, wider
// elements first so that every array is aligned, no gaps. A reader of the format never runs code and never
// trusts an offset.

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace maskfit::formats {

enum class ElementType { kF32, kI64, kU8 };

// "F32", "I64", "U8".
const char* name_of(ElementType type);
// Bytes of one element.
std::int64_t size_of(ElementType type);

// One array, row-major, little-endian.
struct SafetensorsArray {
  ElementType type = ElementType::kF32;
  std::vector<std::int64_t> shape;  // empty: a scalar
  std::string bytes;                // product(shape) * size_of(type)
};

struct Safetensors {
  std::map<std::string, std::string> metadata;
  std::map<std::string, SafetensorsArray> arrays;
};

// REQUIRES: values.size() == product(shape).
SafetensorsArray array_of(std::span<const float> values, std::vector<std::int64_t> shape);
SafetensorsArray array_of(std::span<const std::int64_t> values, std::vector<std::int64_t> shape);
SafetensorsArray array_of(std::span<const std::uint8_t> values, std::vector<std::int64_t> shape);

// The array called `name`, which must have this element type; throws base::Error (kRefused) naming `file`,
// the name, the type found and, for an unknown name, the nearest one.
std::vector<float> f32_values(const Safetensors& file, const std::string& name,
                              const std::string& name_for_errors);
std::vector<std::int64_t> i64_values(const Safetensors& file, const std::string& name,
                                     const std::string& name_for_errors);
std::vector<std::uint8_t> u8_values(const Safetensors& file, const std::string& name,
                                    const std::string& name_for_errors);

std::string encode_safetensors(const Safetensors& file);

// Accepts exactly the well-formed files: a header that fits, JSON without duplicate names, known element
// types, sizes that agree with shapes, data without gap or overlap that ends with the file. Anything else
// throws base::Error (kRefused) that names the file, the array and the values.
Safetensors decode_safetensors(std::string_view bytes, const std::string& name_for_errors);

// The metadata alone: reads only the header, whatever the size of the file.
std::map<std::string, std::string> read_safetensors_metadata(const std::filesystem::path& path);

// Atomic, see base::write_file.
void write_safetensors(const std::filesystem::path& path, const Safetensors& file);
Safetensors read_safetensors(const std::filesystem::path& path);

}  // namespace maskfit::formats
