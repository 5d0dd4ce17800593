#pragma once

// What the .proto files say about a field (options.proto), and that in words.

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <optional>
#include <string>
#include <vector>

#include "spec/options.pb.h"

namespace maskfit::spec {

const FieldRule& rule_of(const google::protobuf::FieldDescriptor& field);
const OneofRule& rule_of(const google::protobuf::OneofDescriptor& oneof);
// The section's help, or "".
const std::string& section_help(const google::protobuf::Descriptor& message);

// "section", "list of sections", "whole number", "number", "true or false", "text", "name", "map to number",
// ...
std::string type_text(const google::protobuf::FieldDescriptor& field);

// What may be written, without the unit: "a whole number above 0, a multiple of 16", "0 to 1",
// "one of DBSCAN, NMS, HYBRID". For a list or map it speaks of one entry.
std::string allowed_text(const google::protobuf::FieldDescriptor& field);

// What an unset field means, as one would write it: "18", "resnet", "MULTISOURCE", "false"; "" where nothing.
std::string default_text(const google::protobuf::FieldDescriptor& field);

// The names of an enum, without those that the rule of `field` leaves out.
std::vector<std::string> enum_names(const google::protobuf::FieldDescriptor& field);

// A scalar as one writes it in a spec: 0.4, "text", DBSCAN, true. `index` < 0 for a singular field. Numbers
// are the shortest that read back the same.
std::string scalar_text(const google::protobuf::Message& message,
                        const google::protobuf::FieldDescriptor& field, int index = -1);
// As scalar_text, but text without its quotes: what one_of, supported and default are compared with.
std::string plain_text(const google::protobuf::Message& message,
                       const google::protobuf::FieldDescriptor& field, int index = -1);
// The number of a numeric scalar.
double number(const google::protobuf::Message& message, const google::protobuf::FieldDescriptor& field,
              int index = -1);

bool is_number(const google::protobuf::FieldDescriptor& field);
// The value of a map entry, whose descriptor is that of the map's entry message.
const google::protobuf::FieldDescriptor& map_value(const google::protobuf::FieldDescriptor& map_field);
// The key of a map entry as text.
std::string map_key(const google::protobuf::Message& entry);

// How to mend an unknown field: the nearest name of `section`, or the section of `root` that does have the
// name, or the list of names.
std::string unknown_field_remedy(const std::string& name, const google::protobuf::Descriptor& section,
                                 const google::protobuf::Descriptor& root);

}  // namespace maskfit::spec
