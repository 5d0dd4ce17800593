#include "dataset/import.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/error.h"
#include "base/files.h"
#include "base/parallel.h"
#include "base/text.h"
#include "dataset/box_rules.h"
#include "dataset/label_files.h"
#include "dataset/survey.h"
#include "image/image.h"

namespace maskfit::dataset {
namespace fs = std::filesystem;
namespace {

using base::Severity;

constexpr std::size_t kProbedFiles = 50;  // label files looked at to find out the format

// One imported folder: its files, and what becomes of each.
struct Source {
  fs::path folder;
  std::string id_prefix;  // "" or "name/"
  std::vector<SurveyedFile> files;
  std::vector<Outcome> outcomes;

  // As the user would write it.
  std::string name(std::size_t file) const { return (folder / files[file].path).string(); }
};

// A picture, its label if any, and what came of them; filled in parallel.
struct Item {
  Source* source = nullptr;
  std::size_t picture = 0;
  std::optional<std::size_t> label;
  bool case_differs = false;

  std::optional<Sample> sample;
  base::Findings findings;
  bool picture_repaired = false, label_repaired = false;
};

std::string listed_endings(const std::vector<SurveyedFile>& files) {
  std::map<std::string, int> endings;
  for (const SurveyedFile& file : files) ++endings[base::to_lower(file.path.extension().string())];
  std::string text;
  for (const auto& [ending, n] : endings) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", n, ending.empty() ? "without ending" : ending);
  }
  return text.empty() ? "nothing" : text;
}

// Label files of a format among the first few of its ending.
std::size_t recognised(const LabelReader& reader, const fs::path& folder) {
  std::size_t probed = 0, found = 0;
  for (const SurveyedFile& file : survey(folder, reader.ending)) {
    if (file.kind != FileKind::kLabel || probed == kProbedFiles) continue;
    ++probed;
    base::Findings ignored;
    const std::string text = base::read_file(folder / file.path);
    // An empty text file could be a label of anything.
    if (!base::trim(text).empty() && reader.read(text, "", ImportOptions(), &ignored)) ++found;
  }
  return found;
}

const LabelReader& choose_reader(const std::vector<fs::path>& folders, LabelFormat from,
                                 std::string* decision) {
  const LabelReader* best = nullptr;
  std::size_t best_found = 0;
  for (const LabelReader& reader : label_readers()) {
    if (reader.format == from) {
      *decision = fmt::format("{} labels, as asked for", reader.name);
      return reader;
    }
    std::size_t found = 0;
    for (const fs::path& folder : folders) found += recognised(reader, folder);
    if (found > best_found) {
      best = &reader;
      best_found = found;
    }
  }
  if (best == nullptr) {
    throw base::Error(base::ExitCode::kRefused,
                      fmt::format("no Pascal VOC or KITTI labels there; found {}",
                                  listed_endings(survey(folders.front(), ".xml"))),
                      folders.front().string(),
                      "give a folder that holds pictures and .xml (VOC) or 15-field .txt (KITTI) labels");
  }
  *decision = fmt::format("{} labels, recognised in {} {} files", best->name, best_found, best->ending);
  return *best;
}

bool is_utf8(const std::string& text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const int more = lead < 0x80         ? 0
                     : (lead >> 5) == 6  ? 1
                     : (lead >> 4) == 14 ? 2
                     : (lead >> 3) == 30 ? 3
                                         : -1;
    if (more < 0 || i + static_cast<std::size_t>(more) >= text.size()) return false;
    for (int k = 1; k <= more; ++k) {
      if ((static_cast<unsigned char>(text[i + static_cast<std::size_t>(k)]) >> 6) != 2) return false;
    }
    i += static_cast<std::size_t>(more) + 1;
  }
  return true;
}

// Roboflow exports several augmented copies of one picture as NAME.rf.HASH.jpg; they must not part in a
// split.
std::string group_of(const std::string& id) {
  const std::size_t mark = id.rfind(".rf.");
  return mark == std::string::npos ? "" : id.substr(0, mark);
}

// Reads one picture and its label. Only *item is written, so that items can be read in parallel.
class ItemReader {
 public:
  ItemReader(const LabelReader& reader, const ImportOptions& options) : reader_(reader), options_(options) {}

  void read(Item* item) const {
    Sample sample;
    std::vector<DrawnBox> boxes;
    PictureFrame frame;
    const bool good = read_picture(item, &sample, &frame) && read_label(item, frame, &boxes);
    if (!good) return;
    for (DrawnBox& drawn : boxes) sample.boxes.push_back(std::move(drawn.labeled));
    item->sample = std::move(sample);
  }

 private:
  bool read_picture(Item* item, Sample* sample, PictureFrame* frame) const {
    const SurveyedFile& file = item->source->files[item->picture];
    const std::string name = item->source->name(item->picture);
    const auto find = [&](Severity severity, const std::string& what, const std::string& remedy) {
      item->findings.push_back({severity, name, 0, "", what, remedy});
    };
    if (!is_utf8(file.path.string())) {
      find(Severity::kRefused, "its name is not UTF-8", "rename it");
      return false;
    }
    image::ReadInfo info;
    try {
      if (options_.decode_pictures) {
        const image::Image picture = image::read_image(name, &info);
        frame->upright = {picture.width, picture.height};
      } else {
        frame->upright = image::read_image_size(name, &info);
      }
    } catch (const base::Error& error) {
      find(Severity::kRefused, error.what(), error.hint());
      return false;
    }
    for (const std::string& note : info.notes) find(Severity::kRepaired, note, "");
    item->picture_repaired = !info.notes.empty();
    frame->stored = info.stored_size;
    frame->orientation = info.orientation;
    sample->id = item->source->id_prefix + fs::path(file.path).replace_extension().generic_string();
    sample->image = fs::absolute(name).lexically_normal();
    sample->width = frame->upright.width;
    sample->height = frame->upright.height;
    sample->split = options_.into_split.empty() ? file.split : options_.into_split;
    sample->group = group_of(sample->id);
    return true;
  }

  bool read_label(Item* item, const PictureFrame& frame, std::vector<DrawnBox>* boxes) const {
    if (!item->label) return true;
    const std::string name = item->source->name(*item->label);
    const std::size_t findings_before = item->findings.size();
    if (item->case_differs) {
      item->findings.push_back({Severity::kRepaired, name, 0, "",
                                "its name differs from the picture's in upper and lower case",
                                "they were paired"});
    }
    std::optional<ReadLabel> label;
    try {
      label = reader_.read(base::read_file(name), name, options_, &item->findings);
    } catch (const base::Error& error) {
      item->findings.push_back({Severity::kRefused, name, 0, "", error.what(), error.hint()});
    }
    if (!label || !bring_upright(frame, label->stated_size, name, &label->boxes, &item->findings))
      return false;
    const std::size_t drawn = label->boxes.size();
    if (options_.mend_boxes) mend_boxes(frame.upright, name, &label->boxes, &item->findings);
    if (drawn > 0 && label->boxes.empty()) {
      item->findings.push_back({Severity::kRefused, name, 0, "",
                                fmt::format("none of its {} boxes could be used", drawn),
                                "the picture would count as one without a face; draw the boxes again"});
      return false;
    }
    // A warning leaves the label used as it is; a box mended or left out does not.
    item->label_repaired = std::any_of(
        item->findings.begin() + static_cast<std::ptrdiff_t>(findings_before), item->findings.end(),
        [](const base::Finding& f) { return f.severity != Severity::kWarning; });
    *boxes = std::move(label->boxes);
    return true;
  }

  const LabelReader& reader_;
  const ImportOptions& options_;
};

class Importer {
 public:
  Importer(const std::vector<fs::path>& folders, const ImportOptions& options)
      : options_(options), reader_(choose_reader(folders, options.from, &result_.decision)) {
    result_.format = reader_.format;
    std::set<std::string> prefixes;
    for (const fs::path& folder : folders) {
      Source source{folder, "", survey(folder, reader_.ending), {}};
      if (folders.size() > 1) {
        source.id_prefix = fs::absolute(folder / "").parent_path().filename().string() + "/";
        if (!prefixes.insert(source.id_prefix).second) {
          throw base::Error(base::ExitCode::kUsage, "two of the folders have the same name", folder.string(),
                            "import their parent folder");
        }
      }
      source.outcomes.assign(source.files.size(), Outcome::kRefused);
      sources_.push_back(std::move(source));
    }
  }

  ImportResult run() {
    for (Source& source : sources_) pair(source);
    const ItemReader item_reader(reader_, options_);
    base::parallel_for(static_cast<std::int64_t>(items_.size()),
                       [&](std::int64_t i) { item_reader.read(&items_[static_cast<std::size_t>(i)]); });
    for (Item& item : items_) collect(item);
    for (const Source& source : sources_) account(source);
    result_.classes =
        map_classes(result_.dataset.samples, options_.classes, sources_.front().folder.string());
    finish();
    return std::move(result_);
  }

 private:
  void refuse(const Source& source, std::size_t file, const std::string& what, const std::string& remedy) {
    result_.findings.push_back({Severity::kRefused, source.name(file), 0, "", what, remedy});
  }

  void add_item(Source& source, std::size_t picture, std::optional<std::size_t> label, bool case_differs) {
    Item item;
    item.source = &source;
    item.picture = picture;
    item.label = label;
    item.case_differs = case_differs;
    items_.push_back(std::move(item));
  }

  void pair(Source& source) {
    for (std::size_t i = 0; i < source.files.size(); ++i) {
      if (source.files[i].kind == FileKind::kOther) {
        refuse(source, i, fmt::format("neither a picture nor a {} label", reader_.name), "");
      }
    }
    const Pairing pairing = pair_files(source.files);
    for (const Pair& pair : pairing.pairs) add_item(source, pair.picture, pair.label, pair.case_differs);
    for (const auto& [file, reason, alone] : pairing.left) {
      const bool picture = source.files[file].kind == FileKind::kPicture;
      if (picture && alone && options_.unlabelled_as_background) {
        add_item(source, file, std::nullopt, false);
      } else {
        refuse(source, file, reason,
               picture ? "label it, or import with --unlabelled background if it shows no face"
                       : "find its picture, or delete it");
      }
    }
  }

  void collect(Item& item) {
    auto& outcomes = item.source->outcomes;
    result_.findings.insert(result_.findings.end(), item.findings.begin(), item.findings.end());
    if (item.sample) {
      outcomes[item.picture] = item.picture_repaired ? Outcome::kRepaired : Outcome::kUsed;
      if (item.label) outcomes[*item.label] = item.label_repaired ? Outcome::kRepaired : Outcome::kUsed;
      result_.dataset.samples.push_back(std::move(*item.sample));
      return;
    }
    // The one that is at fault has its finding; the other goes with it.
    const auto has_finding = [&](std::size_t file) {
      const std::string name = item.source->name(file);
      return std::any_of(item.findings.begin(), item.findings.end(), [&](const base::Finding& f) {
        return f.file == name && f.severity == Severity::kRefused;
      });
    };
    if (!has_finding(item.picture))
      refuse(*item.source, item.picture, "its label was refused", "mend the label");
    if (item.label && !has_finding(*item.label)) {
      refuse(*item.source, *item.label, "its picture was refused", "replace the picture");
    }
  }

  void account(const Source& source) {
    for (std::size_t i = 0; i < source.files.size(); ++i) {
      result_.files.push_back({source.name(i), source.outcomes[i]});
    }
  }

  void make_ids_unique() {
    std::map<std::string, int> uses;
    for (const Sample& sample : result_.dataset.samples) ++uses[sample.id];
    std::set<std::string> taken;
    for (Sample& sample : result_.dataset.samples) {
      // "a.jpg" and "a.png" side by side keep their endings.
      if (uses[sample.id] > 1) sample.id += sample.image.extension().string();
      while (!taken.insert(sample.id).second) sample.id += "~";
    }
  }

  void finish() {
    Dataset& dataset = result_.dataset;
    std::sort(result_.findings.begin(), result_.findings.end(),
              [](const base::Finding& a, const base::Finding& b) {
                return std::tie(a.file, a.line, a.field, a.what) < std::tie(b.file, b.line, b.field, b.what);
              });
    if (dataset.samples.empty()) {
      throw base::Error(
          base::ExitCode::kRefused,
          fmt::format("none of {} files could be used; the first: {}", result_.files.size(),
                      result_.findings.empty() ? "none" : base::to_string(result_.findings.front())),
          sources_.front().folder.string(), "give the folder that holds the pictures and their labels");
    }
    make_ids_unique();
    normalise(dataset);
    // Folders that part train from test, or nothing, leave validation to be drawn from the training pictures.
    const bool has_val = std::any_of(dataset.samples.begin(), dataset.samples.end(),
                                     [](const Sample& sample) { return sample.split == "val"; });
    if (!has_val && options_.into_split.empty()) {
      for (Sample& sample : dataset.samples) {
        if (sample.split == "train") sample.split.clear();
      }
    }
    assign_splits(dataset.samples, options_.split);
  }

  const ImportOptions& options_;
  ImportResult result_;
  const LabelReader& reader_;
  std::vector<Source> sources_;
  std::vector<Item> items_;
};

}  // namespace

std::int64_t ImportResult::count(Outcome outcome) const {
  return std::count_if(files.begin(), files.end(),
                       [&](const FileRecord& file) { return file.outcome == outcome; });
}

ClassUse map_classes(std::vector<Sample>& samples, const ClassMap& map, const std::string& where) {
  ClassUse use;
  std::map<std::string, std::int64_t> unknown;
  for (Sample& sample : samples) {
    for (LabeledBox& box : sample.boxes) {
      const auto mapped = map.find(box.class_name);
      if (!mapped) {
        ++unknown[box.class_name];
        continue;
      }
      box.ignore = box.ignore || mapped->ignore;
      ++use[box.class_name][box.ignore ? "ignore" : mapped->name];
      box.class_name = mapped->name;
    }
  }
  if (unknown.empty()) return use;
  std::string names;
  for (const auto& [name, boxes] : unknown) {
    names += fmt::format("{}'{}' ({} boxes)", names.empty() ? "" : ", ", name, boxes);
  }
  throw base::Error(
      base::ExitCode::kRefused, "classes that are not mapped: " + names, where,
      suggest_classes_option(unknown) + "   (a=b renames, a=ignore ignores, a alone keeps the name)");
}

ImportResult import_folders(const std::vector<fs::path>& folders, const ImportOptions& options) {
  MASKFIT_CHECK(!folders.empty(), "no folder");
  return Importer(folders, options).run();
}

void copy_pictures(Dataset& dataset, const std::function<void(std::int64_t)>& progress) {
  std::int64_t done = 0;
  for (Sample& sample : dataset.samples) {
    const fs::path target = fs::path("images") / (sample.id + sample.image.extension().string());
    base::write_file(dataset.root / target, base::read_file(dataset.image_path(sample)));
    sample.image = target;
    if (progress) progress(++done);
  }
}

}  // namespace maskfit::dataset
