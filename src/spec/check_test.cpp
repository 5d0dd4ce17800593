#include "spec/check.h"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "spec/load.h"
#include "tests/support/temp_dir.h"

namespace maskfit::spec {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string read(const std::string& name) {
  return base::read_file(support::source_dir() / "src/spec/testdata" / name);
}

// A good train spec with one piece of text exchanged; the test fails when the piece is not there.
std::string bent(const std::string& name, const std::string& from, const std::string& to) {
  std::string text = read(name);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::vector<std::string> refusals(const base::Findings& findings) {
  std::vector<std::string> lines;
  for (const base::Finding& finding : findings) {
    if (finding.severity == base::Severity::kRefused) lines.push_back(base::to_string(finding));
  }
  return lines;
}

std::vector<std::string> train_refusals(const std::string& from, const std::string& to) {
  return refusals(check_loaded(read_experiment(bent("tlt2_train_resnet18.txt", from, to), "train.txt")));
}

std::vector<std::string> train_warnings(const std::string& from, const std::string& to) {
  std::vector<std::string> lines;
  for (const base::Finding& finding :
       check_loaded(read_experiment(bent("tlt2_train_resnet18.txt", from, to), "train.txt"))) {
    EXPECT_EQ(finding.severity, base::Severity::kWarning) << base::to_string(finding);
    lines.push_back(base::to_string(finding));
  }
  return lines;
}

// ---- ranges ----

TEST(CheckFields, OutOfRangeNamesPlaceRangeAndUnit) {
  EXPECT_THAT(
      train_refusals("deadzone_radius: 0.400000154972", "deadzone_radius: 1.5"),
      ElementsAre("train.txt:215:3: bbox_rasterizer_config.deadzone_radius: 1.5 is out of range; allowed: a "
                  "number from 0 to 1 (fraction)"));
  EXPECT_THAT(
      train_refusals("num_epochs: 120", "num_epochs: 0"),
      ElementsAre("train.txt:166:3: training_config.num_epochs: 0 is out of range; allowed: a whole number, "
                  "above 0 (epochs)"));
  EXPECT_THAT(
      train_refusals("output_image_width: 960", "output_image_width: 950"),
      ElementsAre(
          "train.txt:27:5: augmentation_config.preprocessing.output_image_width: 950 is out of range; "
          "allowed: a whole number, above 0, a multiple of 16 (px)"));
}

TEST(CheckFields, OpenEndsOfAnIntervalAreOutside) {
  EXPECT_THAT(train_refusals("soft_start: 0.10000000149", "soft_start: 1"),
              Contains(HasSubstr("soft_start: 1 is out")));
  EXPECT_THAT(train_refusals("coverage_foreground_weight: 0.0500000007451", "coverage_foreground_weight: 1"),
              ElementsAre(HasSubstr("allowed: a number, above 0 and below 1")));
}

TEST(CheckFields, ValuesInMapsAndListsAreChecked) {
  EXPECT_THAT(
      train_refusals("key: \"no-mask\"\n    value: 0.5", "key: \"no-mask\"\n    value: 50"),
      ElementsAre(AllOf(HasSubstr("minimum_detection_ground_truth_overlap[no-mask]: 50 is out of range"),
                        HasSubstr("allowed: a number from 0 to 1 (IoU)"))));
  EXPECT_THAT(train_refusals("arch: \"resnet\"", "arch: \"resnet\" freeze_blocks: [0, 7]"),
              ElementsAre(HasSubstr("model_config.freeze_blocks[1]: 7 is out of range")));
}

TEST(CheckFields, NumbersThatAreNone) {
  EXPECT_THAT(train_refusals("scale: 35.0", "scale: inf"),
              ElementsAre(HasSubstr("scale: inf is out of range")));
  EXPECT_THAT(train_refusals("scale: 35.0", "scale: nan"),
              ElementsAre(HasSubstr("scale: nan is out of range")));
}

TEST(CheckFields, ZeroMeansTheDefaultWhereTheReferenceSaysSo) {
  EXPECT_THAT(train_refusals("num_layers: 18", "num_layers: 0"), IsEmpty());
  EXPECT_THAT(train_refusals("checkpoint_interval: 10", "checkpoint_interval: 0"), IsEmpty());
}

TEST(CheckFields, ZeroIsRefusedWhereItMeansNothing) {
  EXPECT_THAT(train_refusals("zoom_min: 1.0", "zoom_min: 0"),
              ElementsAre(HasSubstr("zoom_min: 0 is out of range")));
  EXPECT_THAT(train_refusals("epsilon: 9.99999993923e-09", "epsilon: 0"),
              ElementsAre(HasSubstr("adam.epsilon: 0 is out of range")));
}

TEST(CheckFields, TextThatIsNotAllowedNamesTheNearestOne) {
  EXPECT_THAT(train_refusals("arch: \"resnet\"", "arch: \"resnett\""),
              ElementsAre(AllOf(
                  HasSubstr("train.txt:93:3: model_config.arch: \"resnett\" is not allowed; allowed: one "
                            "of resnet, vgg, darknet"),
                  HasSubstr("did you mean resnet?"))));
  EXPECT_THAT(train_refusals("output_image_channel: 3", "output_image_channel: 4"),
              ElementsAre(HasSubstr("output_image_channel: 4 is not allowed; allowed: one of 1, 3")));
}

// ---- missing ----

TEST(CheckFields, MissingFieldPointsToItsSection) {
  EXPECT_THAT(
      train_refusals("  num_epochs: 120\n", ""),
      ElementsAre(
          "train.txt:164:1: training_config.num_epochs: num_epochs is missing; set it: a whole number, "
          "above 0 (epochs)"));
  EXPECT_THAT(
      train_refusals("    cov {\n    }\n", ""),
      ElementsAre("train.txt:82:3: model_config.objective_set.cov: cov is missing; set it: a section in "
                  "braces"));
}

TEST(CheckFields, MissingChoiceNamesThem) {
  EXPECT_THAT(train_refusals(
                  "    adam {\n      epsilon: 9.99999993923e-09\n      beta1: 0.899999976158\n      beta2: "
                  "0.999000012875\n    }\n",
                  ""),
              ElementsAre(AllOf(HasSubstr("training_config.optimizer: adam or adamw is missing"),
                                HasSubstr("set one of them"))));
}

TEST(CheckFields, EmptyTextCountsAsMissing) {
  EXPECT_THAT(
      train_refusals("image_directory_path: \"/data/train\"", "image_directory_path: \"\""),
      ElementsAre(
          "train.txt:6:5: dataset_config.data_sources[0].image_directory_path: the text is empty; set "
          "it"));
}

TEST(CheckFields, DataFromTheCommandLineNeedsNoDatasetConfig) {
  std::string text = read("tlt2_train_resnet18.txt");
  const std::size_t begin = text.find("dataset_config"), end = text.find("augmentation_config");
  text.erase(begin, end - begin);
  const auto loaded = read_experiment(text, "t");
  EXPECT_THAT(refusals(check_loaded(loaded)), ElementsAre(HasSubstr("dataset_config is missing")));
  EXPECT_THAT(refusals(check_loaded(loaded, {.data_from_elsewhere = true})), IsEmpty());
}

// ---- not supported yet ----

TEST(CheckSupport, EveryUnsupportedFieldIsRefusedByName) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"model_config.num_layers: 101 is not supported yet; ResNet comes with 10, 18, 34 or 50 layers; "
       "supported: 10, "
       "18, 34, 50",
       "num_layers: 101"},
      {"model_config.use_pooling: true is not supported yet", "num_layers: 18 use_pooling: true"},
      {"model_config.objective_set.bbox.input: \"block_3a\" is not supported yet",
       "num_layers: 18 objective_set { bbox { input: \"block_3a\" scale: 35 } cov { } }"},
  };
  for (const auto& [expected, piece] : cases) {
    std::string text = bent("tlt2_train_resnet18.txt", "num_layers: 18", piece);
    if (piece.find("objective_set") != std::string::npos) {
      const std::size_t old = text.rfind("objective_set {");
      text.erase(old, text.find("training_precision") - old);
    }
    EXPECT_THAT(refusals(check_loaded(read_experiment(text, "t"))), ElementsAre(HasSubstr(expected)));
  }
  EXPECT_THAT(
      train_refusals("arch: \"resnet\"", "arch: \"vgg\""),
      ElementsAre(HasSubstr("model_config.arch: \"vgg\" is not supported yet; the backbone so far is resnet; "
                            "supported: resnet")));
  EXPECT_THAT(train_refusals("random_seed: 42", "loss_mask_label_filter { mask_multiplier: 1 }"),
              ElementsAre("train.txt:2:1: loss_mask_label_filter: not supported yet; loss masks"));
  EXPECT_THAT(train_refusals("random_seed: 42",
                             "dataset_export_config { kitti_config { root_directory_path: \"/d\" "
                             "partition_mode: \"random\" num_partitions: 2 } }"),
              ElementsAre(HasSubstr("dataset_export_config: not supported yet")));
  EXPECT_THAT(train_refusals("checkpoint_interval: 10", "enable_qat: true"),
              ElementsAre(HasSubstr("training_config.enable_qat: true is not supported yet")));
  EXPECT_THAT(train_refusals("checkpoint_interval: 10", "visualizer { wandb_config { enabled: true } }"),
              ElementsAre(HasSubstr("visualizer.wandb_config.enabled: true is not supported yet")));
  EXPECT_THAT(train_refusals("checkpoint_interval: 10", "visualizer { clearml_config { project: \"p\" } }"),
              ElementsAre(HasSubstr("visualizer.clearml_config.project: \"p\" is not supported yet")));
  EXPECT_THAT(
      train_refusals("validation_fold: 0", "validation_fold: 0 dataloader_mode: LEGACY"),
      ElementsAre(HasSubstr("dataloader_mode: LEGACY is not supported yet; only the MULTISOURCE loader is "
                            "implemented; supported: MULTISOURCE")));
}

TEST(CheckSupport, AnUnsupportedFieldMaySayItsDefault) {
  EXPECT_THAT(train_refusals("checkpoint_interval: 10", "enable_qat: false"), IsEmpty());
  EXPECT_THAT(train_refusals("num_layers: 18", "num_layers: 18 use_pooling: false"), IsEmpty());
}

TEST(CheckSupport, FieldsWithoutEffectAreNamed) {
  EXPECT_THAT(
      train_warnings("num_layers: 18", "num_layers: 18 dropout_rate: 0.1"),
      Contains("train.txt:77:18: model_config.dropout_rate: has no effect; the backbones have no dropout"));
}

// Whatever a field's rule says is not supported must be reported when the field is set: no field is passed
// over.
void collect_ruled(const google::protobuf::Descriptor& section,
                   std::set<const google::protobuf::Descriptor*>* seen,
                   std::vector<const google::protobuf::FieldDescriptor*>* fields) {
  if (!seen->insert(&section).second) return;
  for (int i = 0; i < section.field_count(); ++i) {
    const auto& field = *section.field(i);
    const FieldRule& about = field.options().GetExtension(rule);
    if (!about.unsupported().empty() || !about.no_effect().empty() || !about.refused_at_run().empty()) {
      fields->push_back(&field);
    }
    if (field.message_type() != nullptr) collect_ruled(*field.message_type(), seen, fields);
  }
}

TEST(CheckSupport, NoFieldWithSuchARuleIsPassedOver) {
  std::set<const google::protobuf::Descriptor*> seen;
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  collect_ruled(*Experiment::descriptor(), &seen, &fields);
  collect_ruled(*Inference::descriptor(), &seen, &fields);
  EXPECT_GT(fields.size(), 30u);
  for (const auto* field : fields) {
    SCOPED_TRACE(field->full_name());
    std::unique_ptr<google::protobuf::Message> message(
        google::protobuf::MessageFactory::generated_factory()->GetPrototype(field->containing_type())->New());
    const auto& reflection = *message->GetReflection();
    if (field->is_repeated()) {
      if (field->message_type() != nullptr) reflection.AddMessage(message.get(), field);
      if (field->cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_STRING) {
        reflection.AddString(message.get(), field, "x");
      }
    } else {
      switch (field->cpp_type()) {
        case google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE:
          reflection.MutableMessage(message.get(), field);
          break;
        case google::protobuf::FieldDescriptor::CPPTYPE_STRING:
          reflection.SetString(message.get(), field, "vgg");
          break;
        case google::protobuf::FieldDescriptor::CPPTYPE_BOOL:
          reflection.SetBool(message.get(), field, true);
          break;
        case google::protobuf::FieldDescriptor::CPPTYPE_ENUM:
          reflection.SetEnumValue(message.get(), field, 2);
          break;
        case google::protobuf::FieldDescriptor::CPPTYPE_INT32:
          reflection.SetInt32(message.get(), field, 101);
          break;
        case google::protobuf::FieldDescriptor::CPPTYPE_UINT32:
          reflection.SetUInt32(message.get(), field, 101);
          break;
        default:
          reflection.SetFloat(message.get(), field, 0.25f);
          break;
      }
    }
    std::vector<std::string> reported;
    for (const base::Finding& finding : check_fields(*message, Source(), {.incomplete = true})) {
      reported.push_back(finding.field + " " + finding.what);
    }
    EXPECT_THAT(reported,
                Contains(AllOf(testing::StartsWith(field->name()),
                               testing::AnyOf(HasSubstr("not supported yet"), HasSubstr("no effect")))));
  }
}

}  // namespace
}  // namespace maskfit::spec
