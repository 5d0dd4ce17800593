#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/rng.h"
#include "base/text.h"
#include "dataset/folds.h"
#include "dataset/frame_example.h"
#include "dataset/tfrecords.h"
#include "formats/tfrecord.h"

namespace maskfit::dataset {
namespace fs = std::filesystem;
using nlohmann::ordered_json;
namespace {

using base::Severity;

// The deepest folder above all pictures. When all lie in one folder, its parent: the reference's ids begin
// with the name of the picture folder ("images/0001").
fs::path common_folder(const Dataset& dataset) {
  std::vector<fs::path> common;
  bool first = true, one_folder = true;
  fs::path last;
  for (const Sample& sample : dataset.samples) {
    const fs::path folder = fs::absolute(dataset.image_path(sample)).lexically_normal().parent_path();
    const std::vector<fs::path> parts(folder.begin(), folder.end());
    if (first) {
      common = parts;
    } else {
      const auto differs = std::mismatch(common.begin(), common.end(), parts.begin(), parts.end()).first;
      common.erase(differs, common.end());
      one_folder = one_folder && folder == last;
    }
    first = false;
    last = folder;
  }
  fs::path folder;
  for (const fs::path& part : common) folder /= part;
  return one_folder && folder.has_relative_path() ? folder.parent_path() : folder;
}

// The ending that most pictures have. Trainers of this format take one for all.
std::string usual_ending(const Dataset& dataset, base::Findings* findings) {
  std::map<std::string, std::int64_t> endings;
  for (const Sample& sample : dataset.samples) ++endings[sample.image.extension().string()];
  const auto most = std::max_element(endings.begin(), endings.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  const std::string ending = most->first.empty() ? "" : most->first.substr(1);
  const auto others = static_cast<std::int64_t>(dataset.samples.size()) - most->second;
  if (others > 0) {
    findings->push_back(
        {Severity::kWarning, dataset.root.string(), 0, "image_extension",
         fmt::format("{} of {} pictures do not end in .{}", others, dataset.samples.size(), ending),
         "maskfit finds them, but a trainer that takes one ending for all does not; convert them first"});
  }
  return ending;
}

std::vector<std::pair<std::string, Fold>> read_sequences(const fs::path& file) {
  std::vector<std::pair<std::string, Fold>> sequences;
  try {
    const auto json = ordered_json::parse(base::read_file(file));  // num_folds 1 keeps the file's order
    if (!json.is_object()) throw base::Error(base::ExitCode::kRefused, "not a JSON object", file.string());
    for (const auto& [name, frames] : json.items()) sequences.emplace_back(name, frames.get<Fold>());
  } catch (const ordered_json::exception& error) {
    throw base::Error(base::ExitCode::kRefused, fmt::format("not a list of sequences: {}", error.what()),
                      file.string(), R"(write it as {"sequence": ["frame", "frame"], ...})");
  }
  return sequences;
}

class Exporter {
 public:
  Exporter(const Dataset& dataset, const TfrecordExportOptions& options)
      : dataset_(dataset), options_(options) {
    if (dataset.samples.empty())
      throw base::Error(base::ExitCode::kRefused, "the dataset is empty", dataset.root.string());
    const fs::path prefix(options.prefix);
    folder_ = prefix.has_parent_path() ? prefix.parent_path() : fs::path(".");
    stem_ = prefix.filename().string();
    if (stem_.empty()) {
      throw base::Error(base::ExitCode::kUsage, "the prefix ends in a folder", options.prefix,
                        "give the beginning of the file names, too: " + (prefix / "kitti_trainval").string());
    }
    if (options.modifier) options.modifier->check();
    result_.image_directory = options.image_directory.empty()
                                  ? common_folder(dataset)
                                  : fs::absolute(options.image_directory).lexically_normal();
    result_.image_extension = usual_ending(dataset, &result_.findings);
    for (const Sample& sample : dataset.samples) {
      const fs::path picture = fs::absolute(dataset.image_path(sample)).lexically_normal();
      const std::string id =
          picture.lexically_relative(result_.image_directory).replace_extension().generic_string();
      if (!frames_.emplace(id, &sample).second) {
        throw base::Error(base::ExitCode::kRefused, fmt::format("two pictures have the frame id '{}'", id),
                          picture.string(),
                          "they differ in their ending only, which records do not hold; rename one");
      }
    }
  }

  TfrecordExport run() {
    const std::vector<fs::path> stale = stale_files();
    const std::vector<Fold> folds = make_folds();
    note_merged_classes();
    const fs::path temporary = folder_ / fmt::format(".{}.tmp{}", stem_, ::getpid());
    std::error_code ignored;
    fs::remove_all(temporary, ignored);
    try {
      for (std::size_t i = 0; i < folds.size(); ++i) write_fold(static_cast<int>(i), folds, temporary);
      write_warnings(temporary);
      for (const fs::path& file : stale) fs::remove(file);
      for (auto& fold : result_.folds) {
        for (const fs::path& file : fold.files) fs::rename(temporary / file.filename(), file);
      }
      if (result_.dropped_objects > 0) fs::rename(temporary / warning_file().filename(), warning_file());
      fs::remove_all(temporary);
    } catch (const fs::filesystem_error& error) {
      fs::remove_all(temporary, ignored);
      throw base::Error(base::ExitCode::kFailed, error.what(), options_.prefix);
    } catch (...) {
      fs::remove_all(temporary, ignored);
      throw;
    }
    return std::move(result_);
  }

 private:
  fs::path warning_file() const { return folder_ / (stem_ + "_warning.json"); }

  std::vector<fs::path> stale_files() const {
    std::vector<fs::path> stale;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder_, ignored)) {
      const std::string name = entry.path().filename().string();
      if (!name.starts_with(stem_)) continue;
      const std::string rest = name.substr(stem_.size());
      if (rest.empty() || rest.starts_with("-fold-") || rest.starts_with("-shard-") ||
          rest == "_warning.json") {
        stale.push_back(entry.path());
      }
    }
    if (!stale.empty() && options_.overwrite == base::Overwrite::kRefuse) {
      throw base::Error(base::ExitCode::kFailed,
                        fmt::format("{} files of an earlier conversion have this prefix", stale.size()),
                        options_.prefix, "give another prefix, or --force to replace them");
    }
    return stale;
  }

  std::vector<Fold> make_folds() {
    std::vector<std::string> names;
    for (const auto& [id, sample] : frames_) names.push_back(id);
    std::vector<Fold> folds;
    switch (options_.folds) {
      case TfrecordExportOptions::Folds::kSplits:
        folds = split_folds();
        break;
      case TfrecordExportOptions::Folds::kReferenceRandom:
        folds = reference_random_folds(names, options_.val_percent);
        break;
      case TfrecordExportOptions::Folds::kSequences:
        folds = sequence_folds(named_sequences(), options_.num_folds);
        reference_shuffle(folds);
        break;
      case TfrecordExportOptions::Folds::kGiven:
        folds = options_.given_folds;
        break;
    }
    std::int64_t taken = 0;
    for (const Fold& fold : folds) taken += static_cast<std::int64_t>(fold.size());
    result_.left_out = static_cast<std::int64_t>(frames_.size()) - taken;
    if (taken == 0) {
      throw base::Error(base::ExitCode::kRefused,
                        "no sample is in the splits train and val, so there is nothing to write",
                        dataset_.root.string(), "import the data with another split");
    }
    return folds;
  }

  std::vector<Fold> split_folds() const {
    std::vector<Fold> folds;
    for (const char* split : {"val", "train"}) {
      std::vector<std::string> names;
      for (const auto& [id, sample] : frames_) {
        if (sample->split == split) names.push_back(id);
      }
      Fold fold;
      base::Rng rng(options_.seed, base::Purpose::kShuffle, 0, folds.size());
      for (const std::int64_t i : rng.permutation(static_cast<std::int64_t>(names.size()))) {
        fold.push_back(names[static_cast<std::size_t>(i)]);
      }
      folds.push_back(std::move(fold));
    }
    return folds;
  }

  // Frames of a sequence file are called as in the picture folder.
  std::vector<std::pair<std::string, Fold>> named_sequences() const {
    std::map<std::string, std::string> ids;
    for (const auto& [id, sample] : frames_) {
      ids.emplace(id, id);
      ids.emplace(fs::path(id).filename().string(), id);
    }
    auto sequences = read_sequences(options_.sequences_file);
    std::set<std::string> seen;
    for (auto& [name, frames] : sequences) {
      for (std::string& frame : frames) {
        const auto found = ids.find(frame);
        if (found == ids.end() || !seen.insert(found->second).second) {
          throw base::Error(base::ExitCode::kRefused,
                            fmt::format("frame '{}' of sequence '{}' {}", frame, name,
                                        found == ids.end() ? "is not in the data" : "comes twice"),
                            options_.sequences_file.string(), "list every picture once, without its ending");
        }
        frame = found->second;
      }
    }
    return sequences;
  }

  void note_merged_classes() {
    std::map<std::string, std::set<std::string>> spellings;
    for (const Sample& sample : dataset_.samples) {
      for (const LabeledBox& box : sample.boxes) {
        if (!box.ignore) spellings[base::to_lower(box.class_name)].insert(box.class_name);
      }
    }
    for (const auto& [lower, names] : spellings) {
      if (names.size() < 2) continue;
      result_.findings.push_back({Severity::kWarning, dataset_.root.string(), 0, "class",
                                  fmt::format("{} become one class, '{}'", fmt::join(names, ", "), lower),
                                  "records hold classes in lower case"});
    }
  }

  // The frames of a fold as the sample modifier leaves them, copies right behind their first.
  Fold modified(const Fold& fold, int num_folds, TfrecordExport::WrittenFold* written) const {
    if (!options_.modifier || options_.validation_fold == written->index) return fold;
    const auto cap = options_.modifier->cap(num_folds, options_.validation_fold.has_value());
    Fold out;
    for (const std::string& id : fold) {
      std::vector<std::string> classes;
      for (const LabeledBox& box : frames_.at(id)->boxes) {
        if (!box.ignore && survives_truncation(box.box_in_image)) classes.push_back(box.class_name);
      }
      const int copies = options_.modifier->copies(classes);
      const bool full = cap && static_cast<std::int64_t>(out.size()) >= *cap;
      if (copies == 0 || full) ++written->filtered;
      for (int i = 0; i < copies && !(cap && static_cast<std::int64_t>(out.size()) >= *cap); ++i) {
        out.push_back(id);
        written->copies += i > 0 ? 1 : 0;
      }
    }
    return out;
  }

  void write_fold(int index, const std::vector<Fold>& folds, const fs::path& temporary) {
    TfrecordExport::WrittenFold written;
    written.index = index;
    const Fold fold =
        modified(folds[static_cast<std::size_t>(index)], static_cast<int>(folds.size()), &written);
    // The number of an empty one stays unused, so that validation_fold means the same in every set.
    if (fold.empty()) return;
    const auto frames = static_cast<std::int64_t>(fold.size());
    written.frames = frames;
    int shards = options_.fold_shards.empty() ? options_.num_shards
                                              : options_.fold_shards.at(static_cast<std::size_t>(index));
    if (shards > frames) {
      result_.findings.push_back({Severity::kWarning, options_.prefix, 0, "",
                                  fmt::format("fold {} has {} frames for {} shards", index, frames, shards),
                                  fmt::format("{} shards were written, none of them empty", frames)});
      shards = static_cast<int>(frames);
    }
    const int num_folds = folds.size() > 1 ? static_cast<int>(folds.size()) : options_.num_folds == 0 ? 0 : 1;
    std::size_t next = 0;
    int shard = 0;
    for (const std::int64_t size : shard_sizes(frames, shards)) {
      std::string bytes;
      for (std::int64_t i = 0; i < size; ++i)
        formats::append_record(bytes, record(fold[next++], &written.objects));
      const std::string name = shard_name(stem_, index, num_folds, shard++, shards);
      base::write_file(temporary / name, bytes);
      written.files.push_back(folder_ / name);
    }
    result_.folds.push_back(std::move(written));
  }

  std::string record(const std::string& id, std::map<std::string, std::int64_t>* objects) {
    const Sample& sample = *frames_.at(id);
    std::vector<std::size_t> dropped;
    const formats::Example example = frame_example(sample, id, &dropped);
    for (const std::string& name : std::get<formats::BytesList>(example.at("target/object_class")))
      ++(*objects)[name];
    for (const std::size_t i : dropped) {
      const boxes::Box& box = sample.boxes[i].box_in_image;
      ordered_json corners = ordered_json::array();
      for (const float side : {box.x1, box.y1, box.x2, box.y2})
        corners.push_back(static_cast<std::int64_t>(side));
      warnings_[fmt::format("{}_{}", id, i)] = std::move(corners);
      ++result_.dropped_objects;
    }
    return formats::encode_example(example);
  }

  void write_warnings(const fs::path& temporary) const {
    if (result_.dropped_objects == 0) return;
    base::write_file(temporary / warning_file().filename(),
                     warnings_.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n");
  }

  const Dataset& dataset_;
  const TfrecordExportOptions& options_;
  fs::path folder_;
  std::string stem_;
  std::map<std::string, const Sample*> frames_;  // by frame id, in byte order
  ordered_json warnings_ = ordered_json::object();
  TfrecordExport result_;
};

}  // namespace

TfrecordExport export_tfrecords(const Dataset& dataset, const TfrecordExportOptions& options) {
  return Exporter(dataset, options).run();
}

}  // namespace maskfit::dataset
