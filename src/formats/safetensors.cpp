#include "formats/safetensors.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "formats/little_endian.h"

namespace maskfit::formats {
namespace fs = std::filesystem;
using nlohmann::json;
namespace {

constexpr const char* kMetadata = "__metadata__";
constexpr std::uint64_t kMaxHeader = 100'000'000;  // the format's own limit
constexpr std::int64_t kMaxElements = std::numeric_limits<std::int64_t>::max() / 8;
constexpr std::pair<ElementType, const char*> kTypes[] = {
    {ElementType::kF32, "F32"}, {ElementType::kI64, "I64"}, {ElementType::kU8, "U8"}};

[[noreturn]] void refuse(const std::string& file, const std::string& what) {
  throw base::Error(base::ExitCode::kRefused, "not a valid safetensors file: " + what, file,
                    "the file is damaged or of another kind; take an intact copy, or write it again");
}

std::int64_t element_count(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t side : shape) count *= side;
  return count;
}

template <typename Number>
SafetensorsArray make_array(ElementType type, std::span<const Number> values,
                            std::vector<std::int64_t> shape) {
  MASKFIT_CHECK(static_cast<std::int64_t>(values.size()) == element_count(shape),
                "{} values for a shape of {} elements", values.size(), element_count(shape));
  SafetensorsArray array{type, std::move(shape), std::string(values.size_bytes(), '\0')};
  if (!values.empty()) std::memcpy(array.bytes.data(), values.data(), values.size_bytes());
  return array;
}

const SafetensorsArray& find_array(const Safetensors& file, const std::string& name, ElementType type,
                                   const std::string& name_for_errors) {
  const auto found = file.arrays.find(name);
  if (found == file.arrays.end()) {
    std::vector<std::string> names;
    for (const auto& [key, array] : file.arrays) names.push_back(key);
    const std::string nearest = base::nearest_name(name, names);
    throw base::Error(base::ExitCode::kRefused, fmt::format("the file has no array '{}'", name),
                      name_for_errors,
                      nearest.empty() ? "" : fmt::format("the nearest name in it is '{}'", nearest));
  }
  if (found->second.type != type) {
    throw base::Error(
        base::ExitCode::kRefused,
        fmt::format("array '{}' is {}, expected {}", name, name_of(found->second.type), name_of(type)),
        name_for_errors);
  }
  return found->second;
}

template <typename Number>
std::vector<Number> values_of(const SafetensorsArray& array) {
  std::vector<Number> values(array.bytes.size() / sizeof(Number));
  if (!values.empty()) std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
  return values;
}

// nlohmann::json keeps the last of two equal names; in a header that would hide an array, so it is refused.
// Nothing in a header is nested deeper than file > array > list.
json parse_header(std::string_view text, const std::string& file) {
  constexpr int kMaxDepth = 3;
  std::vector<std::set<std::string>> open_objects;
  const auto watch = [&](int depth, json::parse_event_t event, json& value) {
    if (depth > kMaxDepth) refuse(file, "the header is nested too deeply");
    if (event == json::parse_event_t::object_start) open_objects.emplace_back();
    if (event == json::parse_event_t::object_end) open_objects.pop_back();
    if (event == json::parse_event_t::key && !open_objects.back().insert(value.get<std::string>()).second) {
      refuse(file, fmt::format("the header names '{}' twice", value.get<std::string>()));
    }
    return true;
  };
  try {
    json header = json::parse(text, watch);
    if (!header.is_object()) refuse(file, "the header is not a JSON object");
    return header;
  } catch (const json::exception& error) {
    refuse(file, fmt::format("the header is not JSON ({})", error.what()));
  }
}

std::uint64_t header_size(std::string_view first_bytes, std::uint64_t file_size, const std::string& file) {
  if (first_bytes.size() < 8) refuse(file, fmt::format("{} bytes are too few for one", file_size));
  const auto size = load_le<std::uint64_t>(first_bytes);
  if (size > kMaxHeader || size > file_size - 8) {
    refuse(file, fmt::format("a header of {} bytes does not fit a file of {} bytes", size, file_size));
  }
  return size;
}

std::map<std::string, std::string> take_metadata(json& header, const std::string& file) {
  std::map<std::string, std::string> metadata;
  const auto found = header.find(kMetadata);
  if (found == header.end()) return metadata;
  if (!found->is_object()) refuse(file, "__metadata__ is not an object");
  for (const auto& [key, value] : found->items()) {
    if (!value.is_string()) refuse(file, fmt::format("__metadata__ '{}' is not text", key));
    metadata[key] = value.get<std::string>();
  }
  header.erase(found);
  return metadata;
}

// Where an array lies in the data part, checked against its own shape but not yet against its neighbours.
struct Extent {
  std::string name;
  SafetensorsArray array;
  std::uint64_t begin = 0, end = 0;
};

std::vector<std::uint64_t> unsigned_list(const json& entry, const char* field, const std::string& name,
                                         const std::string& file) {
  const auto found = entry.find(field);
  if (found == entry.end() || !found->is_array())
    refuse(file, fmt::format("array '{}' has no list '{}'", name, field));
  std::vector<std::uint64_t> numbers;
  for (const json& item : *found) {
    if (!item.is_number_unsigned()) {
      refuse(file,
             fmt::format("array '{}': {} holds {}, not a whole number from 0 up", name, field, item.dump()));
    }
    numbers.push_back(item.get<std::uint64_t>());
  }
  return numbers;
}

ElementType element_type(const json& entry, const std::string& name, const std::string& file) {
  const auto found = entry.find("dtype");
  if (found == entry.end() || !found->is_string()) refuse(file, fmt::format("array '{}' has no dtype", name));
  const auto text = found->get<std::string>();
  for (const auto& [type, type_name] : kTypes) {
    if (text == type_name) return type;
  }
  throw base::Error(
      base::ExitCode::kRefused,
      fmt::format("array '{}' has element type '{}'; F32, I64 and U8 are supported", name, text), file,
      "convert the array to F32 before saving it");
}

Extent parse_extent(const std::string& name, const json& entry, const std::string& file) {
  if (!entry.is_object()) refuse(file, fmt::format("'{}' is not described by an object", name));
  if (entry.size() != 3)
    refuse(file, fmt::format("array '{}' has {} fields, expected 3", name, entry.size()));
  Extent extent{name, {element_type(entry, name, file), {}, {}}, 0, 0};
  std::int64_t elements = 1;
  for (const std::uint64_t side : unsigned_list(entry, "shape", name, file)) {
    if (side > static_cast<std::uint64_t>(kMaxElements) ||
        (side != 0 && elements > kMaxElements / static_cast<std::int64_t>(side))) {
      refuse(file, fmt::format("array '{}': the product of its shape overflows", name));
    }
    elements *= static_cast<std::int64_t>(side);
    extent.array.shape.push_back(static_cast<std::int64_t>(side));
  }
  const auto offsets = unsigned_list(entry, "data_offsets", name, file);
  if (offsets.size() != 2 || offsets[1] < offsets[0]) {
    refuse(file, fmt::format("array '{}': data_offsets are not [begin, end]", name));
  }
  extent.begin = offsets[0];
  extent.end = offsets[1];
  const auto expected = static_cast<std::uint64_t>(elements * size_of(extent.array.type));
  if (extent.end - extent.begin != expected) {
    refuse(file, fmt::format("array '{}' takes {} bytes, its shape needs {}", name, extent.end - extent.begin,
                             expected));
  }
  return extent;
}

}  // namespace

const char* name_of(ElementType type) {
  for (const auto& [known, name] : kTypes) {
    if (known == type) return name;
  }
  base::check_failed("known element type", __FILE__, __LINE__,
                     fmt::format("type={}", static_cast<int>(type)));
}

std::int64_t size_of(ElementType type) {
  return type == ElementType::kI64 ? 8 : type == ElementType::kF32 ? 4 : 1;
}

SafetensorsArray array_of(std::span<const float> values, std::vector<std::int64_t> shape) {
  return make_array(ElementType::kF32, values, std::move(shape));
}
SafetensorsArray array_of(std::span<const std::int64_t> values, std::vector<std::int64_t> shape) {
  return make_array(ElementType::kI64, values, std::move(shape));
}
SafetensorsArray array_of(std::span<const std::uint8_t> values, std::vector<std::int64_t> shape) {
  return make_array(ElementType::kU8, values, std::move(shape));
}

std::vector<float> f32_values(const Safetensors& file, const std::string& name,
                              const std::string& name_for_errors) {
  return values_of<float>(find_array(file, name, ElementType::kF32, name_for_errors));
}
std::vector<std::int64_t> i64_values(const Safetensors& file, const std::string& name,
                                     const std::string& name_for_errors) {
  return values_of<std::int64_t>(find_array(file, name, ElementType::kI64, name_for_errors));
}
std::vector<std::uint8_t> u8_values(const Safetensors& file, const std::string& name,
                                    const std::string& name_for_errors) {
  return values_of<std::uint8_t>(find_array(file, name, ElementType::kU8, name_for_errors));
}

std::string encode_safetensors(const Safetensors& file) {
  std::vector<const std::pair<const std::string, SafetensorsArray>*> order;
  for (const auto& entry : file.arrays) order.push_back(&entry);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return size_of(a->second.type) > size_of(b->second.type);
  });

  json header = json::object();
  if (!file.metadata.empty()) header[kMetadata] = file.metadata;
  std::uint64_t offset = 0;
  for (const auto* entry : order) {
    const auto& [name, array] = *entry;
    MASKFIT_CHECK(name != kMetadata, "array name '{}' is reserved", name);
    MASKFIT_CHECK(
        static_cast<std::int64_t>(array.bytes.size()) == element_count(array.shape) * size_of(array.type),
        "array '{}' has {} bytes", name, array.bytes.size());
    const std::uint64_t end = offset + array.bytes.size();
    header[name] = {{"dtype", name_of(array.type)}, {"shape", array.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  // Metadata may hold text from outside (file names) that is not UTF-8; such bytes become U+FFFD.
  std::string text = header.dump(-1, ' ', false, json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');

  std::string bytes;
  bytes.reserve(8 + text.size() + offset);
  append_le(bytes, static_cast<std::uint64_t>(text.size()));
  bytes += text;
  for (const auto* entry : order) bytes += entry->second.bytes;
  return bytes;
}

Safetensors decode_safetensors(std::string_view bytes, const std::string& name_for_errors) {
  const std::uint64_t size = header_size(bytes, bytes.size(), name_for_errors);
  json header = parse_header(bytes.substr(8, size), name_for_errors);
  const std::string_view data = bytes.substr(8 + size);

  Safetensors file;
  file.metadata = take_metadata(header, name_for_errors);
  std::vector<Extent> extents;
  for (const auto& [name, entry] : header.items())
    extents.push_back(parse_extent(name, entry, name_for_errors));
  std::sort(extents.begin(), extents.end(), [](const Extent& a, const Extent& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::uint64_t expected = 0;
  for (Extent& extent : extents) {
    if (extent.begin != expected || extent.end > data.size()) {
      refuse(name_for_errors,
             fmt::format("array '{}' lies at {}..{}; expected it to begin at {} within {} bytes of data",
                         extent.name, extent.begin, extent.end, expected, data.size()));
    }
    extent.array.bytes = data.substr(extent.begin, extent.end - extent.begin);
    expected = extent.end;
    file.arrays.emplace(std::move(extent.name), std::move(extent.array));
  }
  if (expected != data.size()) {
    refuse(name_for_errors, fmt::format("{} bytes at the end belong to no array", data.size() - expected));
  }
  return file;
}

std::map<std::string, std::string> read_safetensors_metadata(const fs::path& path) {
  std::error_code ignored;
  const auto file_size = fs::file_size(path, ignored);
  std::ifstream stream(path, std::ios::binary);
  if (ignored || !stream) base::read_file(path);  // throws with the reason
  std::string text(8, '\0');
  stream.read(text.data(), 8);
  text.resize(static_cast<std::size_t>(stream.gcount()));
  text.resize(header_size(text, file_size, path.string()));
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.gcount() != static_cast<std::streamsize>(text.size()))
    refuse(path.string(), "the header is cut off");
  json header = parse_header(text, path.string());
  return take_metadata(header, path.string());
}

void write_safetensors(const fs::path& path, const Safetensors& file) {
  base::write_file(path, encode_safetensors(file));
}

Safetensors read_safetensors(const fs::path& path) {
  return decode_safetensors(base::read_file(path), path.string());
}

}  // namespace maskfit::formats
