// Reading and writing the manifest, docs/dataset-format.md.

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <unordered_set>

#include "base/error.h"
#include "base/files.h"
#include "base/sha256.h"
#include "base/text.h"
#include "dataset/dataset.h"

namespace maskfit::dataset {
namespace fs = std::filesystem;
using nlohmann::json;
namespace {

constexpr const char* kFormat = "maskfit-dataset";
constexpr int kVersion = 1;
constexpr const char* kHeadFile = "dataset.json";
constexpr const char* kSamplesFile = "samples.jsonl";
constexpr const char* kFindingsFile = "findings.jsonl";
constexpr int kMaxSide = 1'000'000;  // pixels of a picture; no format that is read goes further
constexpr const char* kSplits[] = {"train", "val", "test"};

// The fields of KittiExtras under their names in the manifest.
struct ExtraField {
  const char* name;
  float KittiExtras::*member;
};
constexpr ExtraField kExtras[] = {{"truncation", &KittiExtras::truncation},
                                  {"angle", &KittiExtras::observation_angle},
                                  {"height", &KittiExtras::world_height},
                                  {"width", &KittiExtras::world_width},
                                  {"length", &KittiExtras::world_length},
                                  {"x", &KittiExtras::world_x},
                                  {"y", &KittiExtras::world_y},
                                  {"z", &KittiExtras::world_z},
                                  {"rotation_y", &KittiExtras::world_rotation_y}};
constexpr const char* kOcclusion = "occlusion";

[[noreturn]] void refuse(const std::string& what, const std::string& where, const std::string& hint = "") {
  throw base::Error(base::ExitCode::kRefused, what, where, hint);
}

// ---- writing

std::string quoted(const std::string& text, const fs::path& file) {
  try {
    return json(text).dump();
  } catch (const json::exception&) {
    refuse(fmt::format("'{}' is not UTF-8", text), file.string(), "rename the file or the class");
  }
}

// Numbers are printed in the shortest form that reads back as the same float.
std::string line_of(const LabeledBox& labeled, const fs::path& file) {
  const boxes::Box& b = labeled.box_in_image;
  std::string line = fmt::format(R"({{"class":{},"box":[{},{},{},{}])", quoted(labeled.class_name, file),
                                 b.x1, b.y1, b.x2, b.y2);
  if (labeled.ignore) line += R"(,"ignore":true)";
  std::string extras;
  for (const ExtraField& field : kExtras) {
    const float value = labeled.kitti.*field.member;
    if (value != 0) extras += fmt::format(R"({}"{}":{})", extras.empty() ? "" : ",", field.name, value);
  }
  if (labeled.kitti.occlusion != 0) {
    extras += fmt::format(R"({}"{}":{})", extras.empty() ? "" : ",", kOcclusion, labeled.kitti.occlusion);
  }
  if (!extras.empty()) line += fmt::format(R"(,"kitti":{{{}}})", extras);
  return line + "}";
}

// For the digest without where the picture lies and how its split came about.
enum class Line { kWhole, kForDigest };

std::string line_of(const Sample& sample, const fs::path& file, Line line_kind = Line::kWhole) {
  const bool whole = line_kind == Line::kWhole;
  std::string boxes;
  for (const LabeledBox& box : sample.boxes) boxes += (boxes.empty() ? "" : ",") + line_of(box, file);
  std::string line =
      fmt::format(R"({{"id":{},"image":{},"width":{},"height":{},"split":{})", quoted(sample.id, file),
                  whole ? quoted(sample.image.string(), file) : "\"\"", sample.width, sample.height,
                  quoted(sample.split, file));
  if (whole && !sample.group.empty()) line += fmt::format(R"(,"group":{})", quoted(sample.group, file));
  return line + fmt::format(R"(,"boxes":[{}]}})", boxes);
}

void check_sample(const Sample& sample, const Dataset& dataset, const std::string& where) {
  if (sample.id.empty()) refuse("a sample has no id", where);
  if (sample.width <= 0 || sample.height <= 0 || sample.width > kMaxSide || sample.height > kMaxSide) {
    refuse(fmt::format("sample '{}': {} x {} pixels; sides go from 1 to {}", sample.id, sample.width,
                       sample.height, kMaxSide),
           where);
  }
  if (std::find(std::begin(kSplits), std::end(kSplits), sample.split) == std::end(kSplits)) {
    refuse(fmt::format("sample '{}': split '{}' is none of train, val, test", sample.id, sample.split),
           where);
  }
  const auto& names = dataset.class_names;
  for (const LabeledBox& box : sample.boxes) {
    if (!box.ignore && std::find(names.begin(), names.end(), box.class_name) == names.end()) {
      refuse(fmt::format("sample '{}': class '{}' is not among the dataset's: {}", sample.id, box.class_name,
                         fmt::join(names, ", ")),
             where);
    }
    const boxes::Box& b = box.box_in_image;
    if (!(std::isfinite(b.x1) && std::isfinite(b.y1) && std::isfinite(b.x2) && std::isfinite(b.y2))) {
      refuse(fmt::format("sample '{}': a box is not finite", sample.id), where);
    }
    if (b.x2 < b.x1 || b.y2 < b.y1) {
      refuse(fmt::format("sample '{}': the box [{}, {}, {}, {}] ends before it begins", sample.id, b.x1, b.y1,
                         b.x2, b.y2),
             where, "a box is left, top, right, bottom");
    }
  }
}

void check_classes(const std::vector<std::string>& names, const std::string& where) {
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (name.empty()) refuse("a class has no name", where);
    if (!seen.insert(name).second) refuse(fmt::format("the class '{}' is listed twice", name), where);
  }
}

json counts_json(const Dataset& dataset) {
  json splits = json::object();
  for (const auto& [name, counts] : count_by_split(dataset)) {
    splits[name] = {{"samples", counts.samples},
                    {"without_objects", counts.without_objects},
                    {"ignored", counts.ignored},
                    {"boxes", counts.boxes}};
  }
  return {{"samples", dataset.samples.size()}, {"splits", splits}};
}

constexpr std::pair<base::Severity, const char*> kSeverities[] = {{base::Severity::kRepaired, "repaired"},
                                                                  {base::Severity::kWarning, "warning"},
                                                                  {base::Severity::kRefused, "refused"}};

std::string line_of(const base::Finding& finding) {
  json line = {{"file", finding.file}, {"what", finding.what}};
  for (const auto& [severity, name] : kSeverities) {
    if (severity == finding.severity) line["severity"] = name;
  }
  if (finding.line > 0) line["line"] = finding.line;
  if (!finding.field.empty()) line["field"] = finding.field;
  if (!finding.remedy.empty()) line["remedy"] = finding.remedy;
  // A finding may be about a name that is not UTF-8.
  return line.dump(-1, ' ', false, json::error_handler_t::replace);
}

// ---- reading

// Calls body(json, "file:line") for every line that is not blank.
template <typename Body>
void for_each_line(const fs::path& file, const Body& body) {
  const std::string text = base::read_file(file);
  int line = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view row(text.data() + begin, end - begin);
    begin = end + 1;
    ++line;
    if (row.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const std::string where = fmt::format("{}:{}", file.string(), line);
    try {
      body(json::parse(row), where);
    } catch (const json::exception& error) {
      refuse(fmt::format("not a line of a manifest: {}", error.what()), where, "import the data again");
    }
  }
}

LabeledBox box_from(const json& entry) {
  LabeledBox box;
  box.class_name = entry.at("class").get<std::string>();
  const auto sides = entry.at("box").get<std::vector<float>>();
  if (sides.size() != 4) throw json::other_error::create(501, "a box has four numbers", &entry);
  box.box_in_image = {sides[0], sides[1], sides[2], sides[3]};
  box.ignore = entry.value("ignore", false);
  if (const auto extras = entry.find("kitti"); extras != entry.end()) {
    for (const ExtraField& field : kExtras) box.kitti.*field.member = extras->value(field.name, 0.0f);
    box.kitti.occlusion = extras->value(kOcclusion, 0);
  }
  return box;
}

// A number that no int holds would come back as another one.
int side_from(const json& entry, const char* name) {
  const json& value = entry.at(name);
  if (!value.is_number_integer() || value.get<double>() != static_cast<double>(value.get<int>())) {
    throw json::other_error::create(501, fmt::format("{} is {}, no number of pixels", name, value.dump()),
                                    &entry);
  }
  return value.get<int>();
}

Sample sample_from(const json& entry) {
  Sample sample;
  sample.id = entry.at("id").get<std::string>();
  sample.image = entry.at("image").get<std::string>();
  sample.width = side_from(entry, "width");
  sample.height = side_from(entry, "height");
  sample.split = entry.at("split").get<std::string>();
  sample.group = entry.value("group", "");
  for (const json& box : entry.at("boxes")) sample.boxes.push_back(box_from(box));
  return sample;
}

json read_head(const fs::path& folder) {
  const fs::path file = folder / kHeadFile;
  json head;
  try {
    head = json::parse(base::read_file(file));
    if (head.at("format") != kFormat) refuse("not a maskfit dataset", file.string());
    if (head.at("version") != kVersion) {
      refuse(fmt::format("dataset format version {}, this maskfit reads version {}",
                         head.at("version").dump(), kVersion),
             file.string(), "import the data again with this version");
    }
  } catch (const json::exception& error) {
    refuse(fmt::format("not a dataset's head: {}", error.what()), file.string(), "import the data again");
  }
  return head;
}

}  // namespace

fs::path Dataset::image_path(const Sample& sample) const {
  return sample.image.is_absolute() ? sample.image : root / sample.image;
}

std::vector<const Sample*> Dataset::split(const std::string& name) const {
  std::vector<const Sample*> chosen;
  for (const Sample& sample : samples) {
    if (sample.split == name) chosen.push_back(&sample);
  }
  return chosen;
}

bool is_dataset(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / kHeadFile, ignored) &&
         fs::is_regular_file(folder / kSamplesFile, ignored);
}

void write_dataset(const Dataset& dataset, const base::Findings& findings, const std::string& provenance) {
  const fs::path samples_file = dataset.root / kSamplesFile;
  check_classes(dataset.class_names, (dataset.root / kHeadFile).string());
  std::string samples_text;
  std::unordered_set<std::string_view> ids;
  for (const Sample& sample : dataset.samples) {
    check_sample(sample, dataset, samples_file.string());
    if (!ids.insert(sample.id).second)
      refuse(fmt::format("two samples have the id '{}'", sample.id), samples_file.string());
    samples_text += line_of(sample, samples_file) + "\n";
  }
  std::string findings_text;
  for (const base::Finding& finding : findings) findings_text += line_of(finding) + "\n";
  const json head = {{"format", kFormat},         {"version", kVersion},
                     {"made_by", provenance},     {"classes", dataset.class_names},
                     {"digest", digest(dataset)}, {"counts", counts_json(dataset)}};
  // An older head must not stand beside newer samples, not even for a moment.
  std::error_code ignored;
  fs::remove(dataset.root / kHeadFile, ignored);
  base::write_file(samples_file, samples_text);
  base::write_file(dataset.root / kFindingsFile, findings_text);
  base::write_file(dataset.root / kHeadFile, head.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
}

Dataset read_dataset(const fs::path& folder) {
  const json head = read_head(folder);
  Dataset dataset;
  dataset.root = folder;
  std::size_t expected = 0;
  std::string expected_digest;
  try {
    dataset.class_names = head.at("classes").get<std::vector<std::string>>();
    expected_digest = head.at("digest").get<std::string>();
    expected = head.at("counts").at("samples").get<std::size_t>();
  } catch (const json::exception& error) {
    refuse(fmt::format("not a dataset's head: {}", error.what()), (folder / kHeadFile).string(),
           "import the data again");
  }
  check_classes(dataset.class_names, (folder / kHeadFile).string());
  for_each_line(folder / kSamplesFile, [&](const json& entry, const std::string& where) {
    Sample sample = sample_from(entry);
    check_sample(sample, dataset, where);
    if (!dataset.samples.empty() && !(dataset.samples.back().id < sample.id)) {
      refuse(fmt::format("sample '{}' comes after '{}'", sample.id, dataset.samples.back().id), where,
             "the lines are sorted by id, and no id comes twice");
    }
    dataset.samples.push_back(std::move(sample));
  });
  if (dataset.samples.size() != expected) {
    refuse(fmt::format("{} samples, {} says {}", dataset.samples.size(), kHeadFile, expected),
           (folder / kSamplesFile).string(), "the file is not whole; import the data again");
  }
  if (const std::string found = digest(dataset); found != expected_digest) {
    refuse(fmt::format("classes and samples were changed: their digest is not the one in {}", kHeadFile),
           (folder / kHeadFile).string(),
           fmt::format(
               "import the data again; or, if you changed them on purpose, write \"digest\": \"{}\" there",
               found));
  }
  return dataset;
}

std::string read_provenance(const fs::path& folder) {
  return read_head(folder).value("made_by", "");
}

base::Findings read_findings(const fs::path& folder) {
  base::Findings findings;
  for_each_line(folder / kFindingsFile, [&](const json& entry, const std::string&) {
    base::Finding finding;
    for (const auto& [severity, name] : kSeverities) {
      if (entry.at("severity") == name) finding.severity = severity;
    }
    finding.file = entry.at("file").get<std::string>();
    finding.line = entry.value("line", 0);
    finding.field = entry.value("field", "");
    finding.what = entry.at("what").get<std::string>();
    finding.remedy = entry.value("remedy", "");
    findings.push_back(std::move(finding));
  });
  return findings;
}

std::string digest(const Dataset& dataset) {
  base::Sha256 digest;
  digest.add(fmt::format("{}\n", fmt::join(dataset.class_names, "\t")));
  for (const Sample& sample : dataset.samples) digest.add(line_of(sample, "", Line::kForDigest) + "\n");
  return digest.finish();
}

std::map<std::string, Counts> count_by_split(const Dataset& dataset) {
  std::map<std::string, Counts> splits;
  for (const Sample& sample : dataset.samples) {
    Counts& counts = splits[sample.split];
    ++counts.samples;
    std::int64_t objects = 0;
    for (const LabeledBox& box : sample.boxes) {
      if (box.ignore) {
        ++counts.ignored;
      } else {
        ++counts.boxes[box.class_name];
        ++objects;
      }
    }
    if (objects == 0) ++counts.without_objects;
  }
  return splits;
}

void normalise(Dataset& dataset) {
  std::sort(dataset.samples.begin(), dataset.samples.end(),
            [](const Sample& a, const Sample& b) { return a.id < b.id; });
  if (!dataset.class_names.empty()) return;
  std::set<std::string> names;
  for (const Sample& sample : dataset.samples) {
    for (const LabeledBox& box : sample.boxes) {
      if (!box.ignore) names.insert(box.class_name);
    }
  }
  dataset.class_names.assign(names.begin(), names.end());
}

}  // namespace maskfit::dataset
