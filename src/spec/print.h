#pragma once

// A spec as text that reads back as the same message.

#include <google/protobuf/message.h>

#include <string>

namespace maskfit::spec {

struct PrintOptions {
  bool comments = true;  // behind each field its unit and help
  // Also print fields that hold 0, false or "", so that the reader sees what there is to set; only those that
  // do something. Off: just what differs from an empty message.
  bool all_fields = true;
};

// Fields in the order of the .proto, map entries by key.
std::string to_text(const google::protobuf::Message& message, const PrintOptions& options = {});

// SHA-256 of the text without comments; the same for the same values on every machine. Apply the defaults
// first, so that a field left out and a field set to its default are the same.
std::string digest(const google::protobuf::Message& message);

}  // namespace maskfit::spec
