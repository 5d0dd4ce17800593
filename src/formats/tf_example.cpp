#include "formats/tf_example.h"

#include <limits>

#include "base/error.h"
#include "formats/tf_example.pb.h"

namespace maskfit::formats {
namespace {

void fill(wire::Feature& out, const Feature& feature) {
  if (const auto* texts = std::get_if<BytesList>(&feature)) {
    auto* list = out.mutable_bytes_list();
    for (const std::string& text : *texts) list->add_value(text);
  } else if (const auto* floats = std::get_if<FloatList>(&feature)) {
    out.mutable_float_list()->mutable_value()->Add(floats->begin(), floats->end());
  } else {
    const auto& integers = std::get<Int64List>(feature);
    out.mutable_int64_list()->mutable_value()->Add(integers.begin(), integers.end());
  }
}

template <typename List, typename Values>
List copy_of(const Values& values) {
  return List(values.begin(), values.end());
}

}  // namespace

std::string encode_example(const Example& example) {
  wire::Example message;
  auto* features = message.mutable_features();
  for (const auto& [key, feature] : example) {  // std::map: in ascending order
    wire::Entry* entry = features->add_feature();
    entry->set_key(key);
    fill(*entry->mutable_value(), feature);
  }
  return message.SerializeAsString();
}

Example decode_example(std::string_view bytes, const std::string& name_for_errors) {
  wire::Example message;
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()) ||
      !message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    throw base::Error(base::ExitCode::kRefused,
                      fmt::format("a record of {} bytes is no tf.train.Example", bytes.size()),
                      name_for_errors, "give TFRecord files that a dataset converter has written");
  }
  Example example;
  for (const wire::Entry& entry : message.features().feature()) {
    const std::string& key = entry.key();
    const wire::Feature& feature = entry.value();
    example.erase(key);  // of two equal keys the last counts, whatever its kind
    switch (feature.kind_case()) {
      case wire::Feature::kBytesList:
        example[key] = copy_of<BytesList>(feature.bytes_list().value());
        break;
      case wire::Feature::kFloatList:
        example[key] = copy_of<FloatList>(feature.float_list().value());
        break;
      case wire::Feature::kInt64List:
        example[key] = copy_of<Int64List>(feature.int64_list().value());
        break;
      case wire::Feature::KIND_NOT_SET:
        break;
    }
  }
  return example;
}

}  // namespace maskfit::formats
