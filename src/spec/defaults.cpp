#include "spec/defaults.h"

#include <google/protobuf/descriptor.h>

#include "base/error.h"
#include "spec/experiment.pb.h"
#include "spec/inference.pb.h"
#include "spec/rules.h"
#include "spec/text_parser.h"
#include "spec/value.h"

namespace maskfit::spec {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// The default is text of ours, so a misfit is a mistake of ours.
void set_default(Message* message, const FieldDescriptor& field, const std::string& text) {
  base::Findings findings;
  Source source;
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    parse_text(field.name() + " " + text, message, &source, &findings);
  } else {
    const bool quoted = field.cpp_type() == FieldDescriptor::CPPTYPE_STRING;
    parse_text(field.name() + ": " + (quoted ? "\"" + text + "\"" : text), message, &source, &findings);
  }
  MASKFIT_CHECK(findings.empty(), "default of {}: {}", field.full_name(), base::to_string(findings.front()));
}

void fill(Message* message) {
  const auto& reflection = *message->GetReflection();
  const auto& descriptor = *message->GetDescriptor();
  for (int i = 0; i < descriptor.field_count(); ++i) {
    const FieldDescriptor& field = *descriptor.field(i);
    const std::string& text = rule_of(field).default_();
    if (!text.empty() && !field.is_repeated() && !reflection.HasField(*message, &field)) {
      set_default(message, field, text);
    }
    if (field.is_map()) {
      if (map_value(field).cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
      for (int k = 0; k < reflection.FieldSize(*message, &field); ++k) {
        Message* entry = reflection.MutableRepeatedMessage(message, &field, k);
        fill(entry->GetReflection()->MutableMessage(entry, &map_value(field)));
      }
    } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      if (field.is_repeated()) {
        for (int k = 0; k < reflection.FieldSize(*message, &field); ++k) {
          fill(reflection.MutableRepeatedMessage(message, &field, k));
        }
      } else if (reflection.HasField(*message, &field)) {
        fill(reflection.MutableMessage(message, &field));
      }
    }
  }
}

void move_outdated(Experiment* spec) {
  if (spec->model_config().training_precision().backend_floatx() == ModelConfig::TrainingPrecision::FLOAT16) {
    spec->mutable_training_config()->set_precision(TrainingConfig::FP16);
  }
}

void move_outdated(Inference* inference) {
  for (auto& [name, entry] :
       *inference->mutable_bbox_handler_config()->mutable_classwise_bbox_handler_config()) {
    auto& clustering = *entry.mutable_clustering_config();
    if (clustering.dbscan_confidence_threshold() == 0) {
      clustering.set_dbscan_confidence_threshold(entry.confidence_threshold());
    }
    entry.clear_confidence_threshold();
  }
}

}  // namespace

void apply_defaults(Message* message) {
  if (message->GetDescriptor() == Experiment::descriptor()) {
    if (static_cast<Experiment*>(message)->has_model_config())
      move_outdated(static_cast<Experiment*>(message));
  } else if (message->GetDescriptor() == Inference::descriptor()) {
    if (static_cast<Inference*>(message)->has_bbox_handler_config())
      move_outdated(static_cast<Inference*>(message));
  }
  fill(message);
}

}  // namespace maskfit::spec
