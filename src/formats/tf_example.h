#pragma once

// tensorflow.Example, the payload of the reference's TFRecords: a dictionary of typed lists
// (docs/tfrecord-format.md).

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace maskfit::formats {

using BytesList = std::vector<std::string>;
using FloatList = std::vector<float>;
using Int64List = std::vector<std::int64_t>;
// An empty list still has its kind, and the kind is written.
using Feature = std::variant<BytesList, FloatList, Int64List>;
using Example = std::map<std::string, Feature>;

// Keys in ascending byte order, so that equal examples are equal bytes.
std::string encode_example(const Example& example);

// Accepts any order of keys, a key twice (the last wins), packed and unpacked numbers, unknown fields; a
// feature without a kind counts as absent. Throws base::Error (kRefused) for bytes that are no Example.
Example decode_example(std::string_view bytes, const std::string& name_for_errors);

}  // namespace maskfit::formats
