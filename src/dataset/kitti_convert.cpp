#include "dataset/kitti_convert.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/parallel.h"
#include "base/text.h"
#include "dataset/export_names.h"
#include "dataset/export_staging.h"
#include "dataset/kitti_picture.h"

namespace maskfit::dataset {
namespace fs = std::filesystem;
namespace {

using base::Severity;

constexpr KittiSet kOrder[] = {KittiSet::kKaggle, KittiSet::kMafa, KittiSet::kFddb, KittiSet::kWider};
constexpr std::size_t kChunk = 64;      // pictures in memory at a time
constexpr std::size_t kHashDigits = 8;  // before each name, so that any part of them is of all sets
constexpr int kMaxSide = 16384;

std::vector<KittiSet> sets_of(const KittiOptions& options) {
  std::vector<KittiSet> sets;
  for (const KittiSet set : kOrder) {
    const bool has_part =
        options.part == KittiPart::kTrain || set == KittiSet::kMafa || set == KittiSet::kWider;
    if (has_part && options.roots.contains(set)) sets.push_back(set);
  }
  return sets;
}

void check_request(const KittiOptions& options, const fs::path& folder) {
  const image::Size size = options.selection.output;
  if (size.width < 1 || size.height < 1 || size.width > kMaxSide || size.height > kMaxSide) {
    throw base::Error(base::ExitCode::kUsage, fmt::format("an output of {} x {}", size.width, size.height),
                      "--tlt-input-dims_width", fmt::format("give sides from 1 to {}", kMaxSide));
  }
  if (options.base.empty())
    throw base::Error(base::ExitCode::kUsage, "no output folder", "--kitti-base-path", "give one");
  if (sets_of(options).empty()) {
    throw base::Error(
        base::ExitCode::kUsage,
        options.part == KittiPart::kTrain ? "no data set is given" : "validation needs MAFA or WIDER FACE",
        "--mafa-dataset-path", "give the path of at least one set");
  }
  std::string missing;
  for (const KittiSet set : sets_of(options)) {
    // Below a set it does no harm: the sets are read by their layouts.
    if (lies_inside(options.roots.at(set), folder)) {
      throw base::Error(
          base::ExitCode::kUsage,
          fmt::format("the data set {} lies in the output folder", options.roots.at(set).string()),
          folder.string(), "give another --kitti-base-path");
    }
    for (const fs::path& part : missing_parts(set, options.part, options.roots.at(set)))
      missing += fmt::format("{}{}", missing.empty() ? "" : ", ", part.string());
  }
  if (!missing.empty()) {
    throw base::Error(base::ExitCode::kRefused, "parts of the data sets are not there: " + missing, "",
                      "docs/converting.md shows the layouts; maskfit data organise puts downloads into them");
  }
}

// Empties the two folders of an earlier conversion, or refuses to.
void prepare_folder(const fs::path& folder, bool overwrite) {
  std::vector<fs::path> old;
  for (const auto& [name, ending] : {std::pair{"images", ".jpg"}, std::pair{"labels", ".txt"}}) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder / name, ignored)) {
      if (!entry.is_regular_file() || entry.path().extension() != ending) {
        throw base::Error(base::ExitCode::kFailed, "the output folder holds something else",
                          entry.path().string(), "give another --kitti-base-path");
      }
      old.push_back(entry.path());
    }
  }
  if (!old.empty() && !overwrite) {
    throw base::Error(base::ExitCode::kFailed,
                      fmt::format("the output folder holds {} files of an earlier conversion", old.size()),
                      folder.string(), "give another --kitti-base-path, or --overwrite to replace them");
  }
  std::error_code error;
  for (const fs::path& file : old) fs::remove(file, error);
  fs::remove(folder / "pictures.jsonl", error);
  for (const char* name : {"images", "labels"}) {
    fs::create_directories(folder / name, error);
    if (error) throw base::Error(base::ExitCode::kFailed, error.message(), (folder / name).string());
  }
}

// Converts one set after the other into one folder.
class Converter {
 public:
  Converter(const KittiOptions& options, const KittiObserver& observer)
      : options_(options), observer_(observer) {
    report_.folder = options.base / (options.part == KittiPart::kTrain ? "train" : options.val_folder);
  }

  KittiReport run() {
    check_request(options_, report_.folder);
    std::vector<std::pair<KittiSet, KittiSource>>
        sources;  // all label files are read before anything is written
    for (const KittiSet set : sets_of(options_)) {
      sources.emplace_back(
          set, read_kitti_source(set, options_.part, options_.roots.at(set), options_.selection.rules));
    }
    prepare_folder(report_.folder, options_.overwrite);
    for (const auto& [set, source] : sources) convert(set, source);
    base::write_file(report_.folder / "pictures.jsonl", pictures_);
    return std::move(report_);
  }

 private:
  // A picture on its way.
  struct Item {
    const KittiCandidate* candidate = nullptr;
    KittiPicture picture;
    PictureDecision decision;
    std::string name;
  };

  void convert(KittiSet set, const KittiSource& source) {
    KittiSetReport report;
    report.set = set;
    report.note = source.note;
    for (const base::Finding& finding : source.findings)
      report.failed += finding.severity == Severity::kRefused ? 1 : 0;
    report_.findings.insert(report_.findings.end(), source.findings.begin(), source.findings.end());
    const FaceCounts before = report_.total();
    const FaceCounts limit{options_.limit - before.mask, options_.limit - before.no_mask};
    const std::size_t total = source.candidates.size();
    for (std::size_t begin = 0; begin < total; begin += kChunk) {
      options_.stop.throw_if_requested();
      const std::size_t end = std::min(begin + kChunk, total);
      std::vector<Item> items(end - begin);
      for (std::size_t i = begin; i < end; ++i) items[i - begin].candidate = &source.candidates[i];
      convert_chunk(items, limit, &report);
      if (observer_.progress)
        observer_.progress(set, static_cast<std::int64_t>(end), static_cast<std::int64_t>(total));
    }
    report_.sets.push_back(report);
    if (observer_.set_done) observer_.set_done(report);
  }

  PictureDecision decide(const Item& item, const KittiSetReport& report, const FaceCounts& taken,
                         const FaceCounts& limit) const {
    return decide_picture(report.set, options_.part, item.candidate->faces, item.picture.stored, taken, limit,
                          options_.selection);
  }

  void convert_chunk(std::vector<Item>& items, const FaceCounts& limit, KittiSetReport* report) {
    // Pictures that may be written at all are prepared in parallel, then the limit is applied in order, to
    // those that turned out readable.
    const FaceCounts taken = report->counts;
    const auto n = static_cast<std::int64_t>(items.size());
    base::parallel_for(n, [&](std::int64_t i) {
      if (options_.stop.stop_requested()) return;
      Item& item = items[static_cast<std::size_t>(i)];
      item.picture = look_at_picture(item.candidate->picture);
      if (item.picture.error.empty() && decide(item, *report, taken, limit).write)
        encode_picture(item.candidate->picture, options_.selection, &item.picture);
    });
    options_.stop.throw_if_requested();
    for (Item& item : items) settle(&item, limit, report);
    base::parallel_for(
        n,
        [&](std::int64_t i) {
          const Item& item = items[static_cast<std::size_t>(i)];
          if (item.name.empty()) return;
          base::write_file(report_.folder / "images" / (item.name + ".jpg"), item.picture.jpeg);
          base::write_file(report_.folder / "labels" / (item.name + ".txt"),
                           label_text(report->set, item.decision, item.picture.stored, options_));
        },
        options_.selection.rules == KittiRules::kReference ? 1 : 0);  // equal names: the last one stays
  }

  // Applies the limit and gives the picture its name, or says why it is left out.
  void settle(Item* item, const FaceCounts& limit, KittiSetReport* report) {
    const std::string file = item->candidate->picture.string();
    if (!item->picture.error.empty()) {
      ++report->failed;
      report_.findings.push_back({Severity::kRefused, file, 0, "", item->picture.error, item->picture.hint});
      return;
    }
    item->decision = decide(*item, *report, report->counts, limit);
    const PictureDecision& decision = item->decision;
    report->counts.mask += decision.counts.mask;
    report->counts.no_mask += decision.counts.no_mask;
    report->dropped += decision.dropped;
    if (!decision.write) {
      ++report->skipped[decision.why_not];
      return;
    }
    MASKFIT_CHECK(!item->picture.jpeg.empty(), "'{}' was not prepared", file);
    item->name = name_of(*item->candidate, report);
    ++report->pictures;
    for (const KittiFace& face : decision.labels) {
      report->written.mask += face.use == FaceUse::kMask ? 1 : 0;
      report->written.no_mask += face.use == FaceUse::kNoMask ? 1 : 0;
      report->dont_care += face.use == FaceUse::kExcluded ? 1 : 0;
    }
    note(*item, file);
    if (observer_.picture_kept) {
      observer_.picture_kept(report->set, static_cast<std::int64_t>(decision.labels.size()),
                             item->candidate->picture.filename().string());
    }
  }

  std::string name_of(const KittiCandidate& candidate, KittiSetReport* report) {
    if (options_.selection.rules == KittiRules::kReference) {
      if (!names_.insert(candidate.stem).second) ++report->overwritten;
      return candidate.stem;
    }
    std::string name = flat_name(base::sha256(candidate.key).substr(0, kHashDigits) + "_" +
                                 fs::path(candidate.key).replace_extension().generic_string());
    while (!names_.insert(base::to_lower(name)).second) name += "_";
    return name;
  }

  void note(const Item& item, const std::string& file) {
    const SelectionOptions& selection = options_.selection;
    const auto scale = output_scale(item.picture.stored, selection);
    const nlohmann::ordered_json line = {{"name", item.name},
                                         {"source", file},
                                         {"width", item.picture.stored.width},
                                         {"height", item.picture.stored.height},
                                         {"resize", selection.letterbox ? "letterbox" : "stretch"},
                                         {"scale_x", scale[0]},
                                         {"scale_y", scale[1]}};
    pictures_ += line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    for (const std::string& what : item.picture.notes) {
      const bool turned = item.picture.orientation != 1 && what.find("EXIF") != std::string::npos;
      report_.findings.push_back({Severity::kRepaired, file, 0, "", what,
                                  turned ? "taken as stored, as the labels were drawn" : "it was used"});
    }
  }

  const KittiOptions& options_;
  const KittiObserver& observer_;
  KittiReport report_;
  std::set<std::string> names_;
  std::string pictures_;
};

}  // namespace

FaceCounts KittiReport::total() const {
  FaceCounts total;
  for (const KittiSetReport& set : sets) {
    total.mask += set.counts.mask;
    total.no_mask += set.counts.no_mask;
  }
  return total;
}

std::int64_t KittiReport::failed() const {
  std::int64_t n = 0;
  for (const KittiSetReport& set : sets) n += set.failed;
  return n;
}

KittiReport convert_to_kitti(const KittiOptions& options, const KittiObserver& observer) {
  return Converter(options, observer).run();
}

}  // namespace maskfit::dataset
