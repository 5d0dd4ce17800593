#include <glob.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "dataset/box_rules.h"
#include "dataset/folds.h"
#include "dataset/frame_example.h"
#include "dataset/survey.h"
#include "dataset/tfrecords.h"
#include "formats/crc32c.h"
#include "formats/little_endian.h"
#include "formats/tfrecord.h"
#include "image/image.h"

namespace maskfit::dataset {
namespace fs = std::filesystem;
namespace {

using base::Severity;

// A record on its way to a sample; filled in parallel.
struct Entry {
  std::string file;
  int number = 0;  // of the record in its file, from 1
  std::string split;
  Frame frame;
  std::optional<Sample> sample;
  base::Findings findings;
};

// The picture of a frame id, or an empty path.
fs::path find_picture(const TfrecordSource& source, const std::string& id) {
  std::string preferred = source.image_extension;
  if (!preferred.empty() && preferred.front() != '.') preferred.insert(0, ".");
  std::vector<std::string> endings;
  if (!preferred.empty()) endings.push_back(preferred);
  for (const char* ending : {".jpg", ".jpeg", ".png", ".JPG", ".JPEG", ".PNG", ".webp", ".bmp"})
    endings.push_back(ending);
  std::error_code ignored;
  for (const std::string& ending : endings) {
    fs::path path = source.image_directory / (id + ending);
    if (fs::is_regular_file(path, ignored)) return path;
  }
  return {};
}

class EntryReader {
 public:
  EntryReader(const TfrecordSource& source, TfrecordBoxes boxes) : source_(source), boxes_(boxes) {}

  void read(Entry* entry) const {
    const Frame& frame = entry->frame;
    const auto refuse = [&](const std::string& what, const std::string& remedy) {
      entry->findings.push_back({Severity::kRefused, entry->file, entry->number, "frame/id", what, remedy});
    };
    const fs::path path = find_picture(source_, frame.id);
    if (path.empty()) {
      return refuse(fmt::format("there is no picture '{}' with ending .{}",
                                (source_.image_directory / frame.id).string(),
                                source_.image_extension.empty() ? "jpg, png, ..." : source_.image_extension),
                    "check image_directory_path and image_extension");
    }
    image::ReadInfo info;
    PictureFrame picture;
    try {
      picture.upright = image::read_image_size(path, &info);
    } catch (const base::Error& error) {
      return refuse(fmt::format("its picture {} cannot be used: {}", path.string(), error.what()),
                    error.hint());
    }
    picture.stored = info.stored_size;
    picture.orientation = info.orientation;
    std::vector<DrawnBox> drawn;
    for (const LabeledBox& box : frame.boxes) drawn.push_back({box, entry->number});
    if (!bring_upright(picture, {frame.width, frame.height}, entry->file, &drawn, &entry->findings)) return;
    if (boxes_ == TfrecordBoxes::kMended) mend_boxes(picture.upright, entry->file, &drawn, &entry->findings);
    Sample sample;
    sample.id = frame.id;
    sample.image = fs::absolute(path).lexically_normal();
    sample.width = picture.upright.width;
    sample.height = picture.upright.height;
    sample.split = entry->split;
    for (DrawnBox& box : drawn) sample.boxes.push_back(std::move(box.labeled));
    entry->sample = std::move(sample);
  }

 private:
  const TfrecordSource& source_;
  TfrecordBoxes boxes_;
};

void append_frames(const fs::path& file, const std::string& split, std::vector<Entry>* entries,
                   base::Findings* findings) {
  const std::string bytes = base::read_file(file);
  formats::RecordReader reader(bytes, file.string());
  int number = 0;
  for (std::string_view payload; reader.next(&payload);) {
    Entry entry;
    entry.file = file.string();
    entry.number = ++number;
    entry.split = split;
    const std::string name = fmt::format("{}, record {}", entry.file, number);
    try {
      entry.frame = frame_of(formats::decode_example(payload, name), name);
      entries->push_back(std::move(entry));
    } catch (const base::Error& error) {
      findings->push_back({Severity::kRefused, entry.file, number, "", error.what(), error.hint()});
    }
  }
}

// A path as a glob that matches nothing else.
std::string escaped(const std::string& path) {
  std::string glob;
  for (const char c : path) {
    if (c == '*' || c == '?' || c == '[' || c == '\\') glob += '\\';
    glob += c;
  }
  return glob;
}

bool holds_records(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  char head[12] = {};
  stream.read(head, sizeof(head));
  const std::string_view bytes(head, sizeof(head));
  return stream.gcount() == sizeof(head) &&
         formats::mask_crc(formats::crc32c(bytes.substr(0, 8))) == formats::load_le<std::uint32_t>(bytes, 8);
}

bool is_label_name(const fs::path& file) {
  const std::string ending = base::to_lower(file.extension().string());
  return ending == ".xml" || ending == ".txt" || ending == ".csv" || ending == ".mat";
}

// Files of records in a folder, as one glob; those of one conversion lie side by side and begin alike.
std::optional<TfrecordSource> records_in(const fs::path& folder) {
  std::string common;
  bool any = false;
  for (const SurveyedFile& file : survey(folder)) {
    if (is_label_name(file.path)) return std::nullopt;
    std::error_code ignored;
    if (file.kind == FileKind::kPicture || !fs::is_regular_file(folder / file.path, ignored)) continue;
    if (!holds_records(folder / file.path)) continue;
    const std::string name = (folder / file.path).string();
    const auto end = std::mismatch(common.begin(), common.end(), name.begin(), name.end()).first;
    common = any ? std::string(common.begin(), end) : name;
    any = true;
  }
  if (!any) return std::nullopt;
  return TfrecordSource{escaped(common) + "*", folder, ""};
}

}  // namespace

std::optional<TfrecordSource> find_tfrecords(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return records_in(path);
  if (fs::is_regular_file(path, ignored))
    return holds_records(path) ? std::optional(TfrecordSource{escaped(path), {}, ""}) : std::nullopt;
  if (path.find_first_of("*?[") == std::string::npos) return std::nullopt;
  try {
    const TfrecordSource source{path, {}, ""};
    if (holds_records(tfrecord_files(source).front())) return source;
  } catch (const base::Error&) {
    // Matches nothing.
  }
  return std::nullopt;
}

std::vector<fs::path> tfrecord_files(const TfrecordSource& source) {
  glob_t found{};
  const int status = ::glob(source.glob.c_str(), 0, nullptr, &found);  // sorted by name
  std::vector<fs::path> files;
  for (std::size_t i = 0; status == 0 && i < found.gl_pathc; ++i) {
    const fs::path path = found.gl_pathv[i];
    std::error_code ignored;
    // The reference's converter leaves its list of dropped boxes beside the records.
    if (fs::is_regular_file(path, ignored) && !path.string().ends_with("_warning.json"))
      files.push_back(path);
  }
  ::globfree(&found);
  if (files.empty()) {
    throw base::Error(base::ExitCode::kRefused, "no TFRecord file matches", source.glob,
                      "convert the data first: maskfit data convert, or mend tfrecords_path");
  }
  return files;
}

Dataset read_tfrecords(const TfrecordSource& source, std::optional<int> validation_fold,
                       base::Findings* findings, TfrecordBoxes boxes) {
  base::Findings own;
  std::vector<Entry> entries;
  bool fold_seen = false;
  for (const fs::path& file : tfrecord_files(source)) {
    const bool validates =
        validation_fold && file.filename().string().find(fold_mark(*validation_fold)) != std::string::npos;
    fold_seen = fold_seen || validates;
    append_frames(file, validates ? "val" : "train", &entries, &own);
  }
  if (validation_fold && !fold_seen) {
    own.push_back({Severity::kWarning, source.glob, 0, "validation_fold",
                   fmt::format("no file is of fold {} (none has '{}' in its name)", *validation_fold,
                               fold_mark(*validation_fold)),
                   "nothing of this source validates"});
  }
  const EntryReader reader(source, boxes);
  base::parallel_for(static_cast<std::int64_t>(entries.size()),
                     [&](std::int64_t i) { reader.read(&entries[static_cast<std::size_t>(i)]); });
  Dataset dataset;
  std::set<std::string> ids;
  for (Entry& entry : entries) {
    own.insert(own.end(), entry.findings.begin(), entry.findings.end());
    if (!entry.sample) continue;
    // The converter's sample modifier writes a frame several times on purpose; all copies stay on one side.
    entry.sample->group = entry.sample->id;
    while (!ids.insert(entry.sample->id).second) entry.sample->id += "~";
    dataset.samples.push_back(std::move(*entry.sample));
  }
  normalise(dataset);
  if (findings != nullptr) findings->insert(findings->end(), own.begin(), own.end());
  if (dataset.samples.empty()) {
    throw base::Error(base::ExitCode::kRefused,
                      fmt::format("none of {} records could be used{}", entries.size(),
                                  own.empty() ? "" : "; the first: " + base::to_string(own.front())),
                      source.glob);
  }
  return dataset;
}

fs::path resolve_data_path(const fs::path& path, const fs::path& base) {
  if (path.is_absolute()) return path;
  const char* data_base = std::getenv("DATA_BASE_PATH");
  return data_base != nullptr && *data_base != '\0' ? fs::path(data_base) / path : base / path;
}

}  // namespace maskfit::dataset
