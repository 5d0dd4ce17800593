// Writes files for other programs to judge, and judges files of other programs. Called by the judge_*.py
// beside it:
//   format_samples write FOLDER           ours.safetensors, events/, records-fold-*, records.json
//   format_samples coco FOLDER            coco/ (a COCO folder), coco.json (split -> picture -> boxes)
//   format_samples compare FILE JSON      the TFRecord file holds exactly the examples of the JSON list
//   format_samples safetensors FILE       prints names, types, shapes, values and metadata as JSON
// An example in JSON is {"feature": {"type": "bytes"|"float"|"int64", "values": [...]}}; bytes are
// hexadecimal.

#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "dataset/export_labels.h"
#include "dataset/tfrecords.h"
#include "formats/safetensors.h"
#include "formats/tb_events.h"
#include "formats/tf_example.h"
#include "formats/tfrecord.h"
#include "image/image.h"

namespace maskfit {
namespace {
namespace fs = std::filesystem;
using nlohmann::json;

std::string hex(const std::string& bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

json json_of(const formats::Example& example) {
  json features = json::object();
  for (const auto& [key, feature] : example) {
    json& entry = features[key];
    if (const auto* texts = std::get_if<formats::BytesList>(&feature)) {
      entry = {{"type", "bytes"}, {"values", json::array()}};
      for (const std::string& text : *texts) entry["values"].push_back(hex(text));
    } else if (const auto* floats = std::get_if<formats::FloatList>(&feature)) {
      entry = {{"type", "float"}, {"values", *floats}};
    } else {
      entry = {{"type", "int64"}, {"values", std::get<formats::Int64List>(feature)}};
    }
  }
  return features;
}

dataset::Dataset sample_dataset(const fs::path& folder) {
  dataset::Dataset dataset;
  dataset.root = folder;
  for (int i = 0; i < 7; ++i) {
    dataset::Sample sample;
    sample.id = fmt::format("images/{}\xC3\xA9", i);
    sample.image = sample.id + ".png";
    sample.width = 64;
    sample.height = 48;
    sample.split = i % 3 == 0 ? "val" : "train";
    for (int k = 0; k < i % 4; ++k) {
      const auto x = static_cast<float>(k) + 0.37f;
      sample.boxes.push_back({{x, 2, 30.125f, 40},
                              k % 2 == 0 ? "Mask" : "no-mask",
                              k == 2,
                              {0.5f, -1, -1.57f, 1, 2, 3, 4, 5, 6, 7}});
    }
    image::write_image(folder / sample.image, {64, 48, 3, std::vector<std::uint8_t>(64 * 48 * 3, 50)});
    dataset.samples.push_back(std::move(sample));
  }
  dataset::normalise(dataset);
  return dataset;
}

void write_records(const fs::path& folder) {
  dataset::TfrecordExportOptions options;
  options.prefix = (folder / "records").string();
  options.num_shards = 2;
  json expected = json::object();
  for (const auto& fold : dataset::export_tfrecords(sample_dataset(folder), options).folds) {
    for (const fs::path& file : fold.files) {
      json& examples = expected[file.filename().string()] = json::array();
      for (const std::string& record : formats::read_records(file)) {
        examples.push_back(json_of(formats::decode_example(record, file.string())));
      }
    }
  }
  base::write_file(folder / "records.json", expected.dump());
}

void write_coco(const fs::path& folder) {
  dataset::Dataset dataset = sample_dataset(folder / "set");
  dataset.class_names = {"no-mask", "Mask"};
  dataset::ExportOptions options;
  options.folder = folder / "coco";
  options.format = dataset::ExportFormat::kCoco;
  dataset::export_labels(dataset, options);
  json expected = json::object();
  for (const dataset::Sample& sample : dataset.samples) {
    json& boxes = expected[sample.split][sample.image.filename().string()] = json::array();
    for (const dataset::LabeledBox& labeled : sample.boxes) {
      const boxes::Box& b = labeled.box_in_image;
      boxes.push_back(
          {{"box", {b.x1, b.y1, b.x2, b.y2}}, {"class", labeled.class_name}, {"ignore", labeled.ignore}});
    }
  }
  base::write_file(folder / "coco.json", expected.dump());
}

void write_all(const fs::path& folder) {
  formats::Safetensors file;
  file.metadata = {{"classes", "mask\nno-mask"}, {"name", "caf\xC3\xA9"}};
  file.arrays["conv1/kernel"] = formats::array_of(std::vector<float>{1.5f, -2, 3.25f, 0, 1e-30f, 7}, {2, 3});
  file.arrays["empty"] = formats::array_of(std::vector<float>{}, {0, 4});
  file.arrays["step"] = formats::array_of(std::vector<std::int64_t>{-7}, {});
  file.arrays["bytes"] = formats::array_of(std::vector<std::uint8_t>{1, 2, 255}, {3});
  formats::write_safetensors(folder / "ours.safetensors", file);

  formats::TbEventWriter events(folder / "events");
  for (int step = 1; step <= 5; ++step) {
    events.scalar("loss/total", step, 1.0f / static_cast<float>(step));
    events.scalar("learning_rate", step, 5e-4f);
  }
  events.text("spec", 0, "**batch** 24");
  events.image("samples", 5, 4, 2, image::encode_png({4, 2, 3, std::vector<std::uint8_t>(24, 200)}));

  write_records(folder);
}

int compare(const fs::path& file, const fs::path& expected_file) {
  const json expected = json::parse(base::read_file(expected_file));
  json found = json::array();
  for (const std::string& record : formats::read_records(file)) {
    found.push_back(json_of(formats::decode_example(record, file.string())));
  }
  if (found == expected) return 0;
  std::cerr << "expected " << expected.dump(1) << "\nfound " << found.dump(1) << "\n";
  return 1;
}

void print_safetensors(const fs::path& path) {
  const formats::Safetensors file = formats::read_safetensors(path);
  json arrays = json::object();
  for (const auto& [name, array] : file.arrays) {
    json& entry = arrays[name] = {{"type", formats::name_of(array.type)}, {"shape", array.shape}};
    const std::string where = path.string();
    if (array.type == formats::ElementType::kF32) entry["values"] = formats::f32_values(file, name, where);
    if (array.type == formats::ElementType::kI64) entry["values"] = formats::i64_values(file, name, where);
    if (array.type == formats::ElementType::kU8) entry["values"] = formats::u8_values(file, name, where);
  }
  std::cout << json{{"metadata", file.metadata}, {"arrays", arrays}}.dump() << "\n";
}

int run(const std::vector<std::string>& words) {
  if (words.size() == 2 && words[0] == "write") return write_all(words[1]), 0;
  if (words.size() == 2 && words[0] == "coco") return write_coco(words[1]), 0;
  if (words.size() == 3 && words[0] == "compare") return compare(words[1], words[2]);
  if (words.size() == 2 && words[0] == "safetensors") return print_safetensors(words[1]), 0;
  std::cerr << "format_samples write FOLDER | coco FOLDER | compare FILE JSON | safetensors FILE\n";
  return 2;
}

}  // namespace
}  // namespace maskfit

int main(int argc, char** argv) {
  try {
    return maskfit::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
