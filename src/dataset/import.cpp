#include "dataset/import.h"

#include <algorithm>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "base/error.h"
#include "base/files.h"
#include "base/parallel.h"
#include "base/text.h"
#include "dataset/import_classes.h"
#include "dataset/import_item.h"
#include "dataset/import_source.h"

namespace maskfit::dataset {
namespace fs = std::filesystem;
namespace {

using base::Severity;

std::string listed_endings(const Source& source) {
  std::map<std::string, int> endings;
  for (const SurveyedFile& file : source.files) ++endings[base::to_lower(file.path.extension().string())];
  std::string text;
  for (const auto& [ending, n] : endings) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", n, ending.empty() ? "without ending" : ending);
  }
  return text.empty() ? "nothing" : text;
}

// The bookkeeping of one folder: what becomes of each file.
struct Account {
  std::vector<Outcome> outcomes;
  std::vector<std::string> as;
};

class Importer {
 public:
  Importer(const std::vector<fs::path>& folders, const ImportOptions& options)
      : options_(options), cache_(options.cache) {
    std::set<std::string> prefixes;
    sources_.resize(folders.size());  // pointed to from now on
    for (std::size_t i = 0; i < folders.size(); ++i) {
      sources_[i].folder = folders[i];
      if (folders.size() == 1) continue;
      sources_[i].id_prefix = fs::absolute(folders[i] / "").parent_path().filename().string() + "/";
      if (!prefixes.insert(sources_[i].id_prefix).second) {
        throw base::Error(base::ExitCode::kUsage, "two of the folders have the same name",
                          folders[i].string(), "import their parent folder");
      }
    }
    for (Source& source : sources_) {
      survey_source(options_, &source);
      add_items(source);
    }
    check_labels();
  }

  ImportResult run() {
    check_classes_early(items_, options_, sources_.front().folder.string());
    read_items();
    for (std::size_t i = 0; i < items_.size(); ++i) collect(items_[i]);
    for (std::size_t i = 0; i < sources_.size(); ++i) account(sources_[i], &accounts_[i]);
    sort_findings();
    if (result_.dataset.samples.empty()) refuse_all();
    result_.classes =
        map_classes(result_.dataset.samples, options_.classes, sources_.front().folder.string());
    finish();
    return std::move(result_);
  }

 private:
  void add_items(Source& source) {
    Account account;
    account.outcomes.assign(source.files.size(), Outcome::kRefused);
    account.as.resize(source.files.size());
    for (std::size_t i = 0; i < source.files.size(); ++i) {
      account.as[i] =
          source.files[i].kind == FileKind::kPicture ? "picture" : content_name(source.contents[i]);
    }
    accounts_.push_back(std::move(account));
    result_.findings.insert(result_.findings.end(), source.findings.begin(), source.findings.end());
    result_.decision +=
        fmt::format("{}{}{}", result_.decision.empty() ? "" : "\n",
                    sources_.size() > 1 ? source.folder.string() + ": " : "", source.decision);
    for (auto& [picture, labels] : source.labels) add_item(source, picture, labels);
    for (const std::size_t picture : source.unlabelled) {
      if (options_.unlabelled_as_background) {
        add_item(source, picture, {});
      } else {
        refuse(source, picture, "there is no label of this name",
               "label it, or import with --unlabelled background if it shows no face");
      }
    }
    for (const Unneeded& unneeded : source.unneeded)
      refuse(source, unneeded.file, unneeded.reason, unneeded.remedy);
  }

  void add_item(Source& source, std::size_t picture, const std::vector<LabelRef>& labels) {
    Item item;
    item.source = &source;
    item.picture = picture;
    item.labels = labels;
    items_.push_back(std::move(item));
  }

  void refuse(const Source& source, std::size_t file, const std::string& what, const std::string& remedy) {
    result_.findings.push_back({Severity::kRefused, source.name(file), 0, "", what, remedy});
  }

  bool any_label_file() const {
    for (const Source& source : sources_) {
      for (const Content content : source.contents) {
        const bool label = is_index(content) ||
                           std::any_of(label_readers().begin(), label_readers().end(),
                                       [&](const LabelReader& reader) { return reader.content == content; });
        if (label) return true;
      }
    }
    return false;
  }

  // Nothing to read at all is a mistake in the command rather than in the data.
  void check_labels() const {
    if (any_label_file()) return;
    const Source& first = sources_.front();
    const bool records =
        std::find(first.contents.begin(), first.contents.end(), Content::kTfrecord) != first.contents.end();
    throw base::Error(
        base::ExitCode::kRefused,
        fmt::format("no labels of a known format there; found {}", listed_endings(first)),
        first.folder.string(),
        records ? "TFRecords are imported alone: give their folder, and that of their pictures with --images"
                : "give a folder that holds pictures and their labels: Pascal VOC, YOLO, COCO, CSV, KITTI, "
                  "LabelMe, MAFA, FDDB or WIDER FACE");
  }

  void read_items() {
    const ItemReader reader(options_, &cache_);
    std::mutex mutex;
    std::int64_t done = 0;
    const auto total = static_cast<std::int64_t>(items_.size());
    try {
      base::parallel_for(total, [&](std::int64_t i) {
        options_.stop.throw_if_requested();
        reader.read(&items_[static_cast<std::size_t>(i)]);
        const std::lock_guard lock(mutex);
        ++done;
        if (options_.progress) options_.progress(done, total);
      });
    } catch (const base::Error&) {
      cache_.save(PictureCache::Keep::kAll);  // the next attempt begins where this one was stopped
      throw;
    }
    cache_.save(PictureCache::Keep::kSeen);
    result_.decoded = cache_.decoded();
  }

  Account& account_of(const Source& source) {
    return accounts_[static_cast<std::size_t>(&source - sources_.data())];
  }

  void collect(Item& item) {
    Account& account = account_of(*item.source);
    result_.findings.insert(result_.findings.end(), item.findings.begin(), item.findings.end());
    for (const auto& [reason, n] : item.ignored) result_.ignored[reason] += n;
    if (item.sample) {
      account.outcomes[item.picture] = repaired(item) ? Outcome::kRepaired : Outcome::kUsed;
      result_.dataset.samples.push_back(std::move(*item.sample));
    } else if (!has_refusal(item, item.picture)) {
      refuse(*item.source, item.picture, "its label was refused", "mend the label");
    }
    for (std::size_t i = 0; i < item.labels.size(); ++i) collect_label(item, i, &account);
  }

  // A picture found under a wrong name was repaired when the folder was surveyed.
  bool repaired(const Item& item) const {
    const std::string name = item.source->name(item.picture);
    return item.picture_repaired ||
           std::any_of(item.source->findings.begin(), item.source->findings.end(),
                       [&](const base::Finding& finding) { return finding.file == name; });
  }

  void collect_label(const Item& item, std::size_t i, Account* account) {
    const LabelRef& ref = item.labels[i];
    if (ref.entry != nullptr) {
      // An index is used as soon as one of its entries is; see account().
      if (item.fates[i] != LabelFate::kRefused) account->outcomes[ref.file] = Outcome::kUsed;
      return;
    }
    if (item.fates[i] == LabelFate::kRefused) {
      if (!has_refusal(item, ref.file))
        refuse(*item.source, ref.file, "its picture was refused", "replace the picture");
      return;
    }
    account->outcomes[ref.file] = item.fates[i] == LabelFate::kRepaired ? Outcome::kRepaired : Outcome::kUsed;
    if (item.fates[i] == LabelFate::kCompared) account->as[ref.file] += ", compared";
  }

  // The one that is at fault has its finding; the other goes with it.
  static bool has_refusal(const Item& item, std::size_t file) {
    const std::string name = item.source->name(file);
    return std::any_of(item.findings.begin(), item.findings.end(), [&](const base::Finding& f) {
      return f.file == name && f.severity == Severity::kRefused;
    });
  }

  void account(const Source& source, Account* account) {
    for (const auto& [file, use] : source.helpers) {
      account->outcomes[file] = Outcome::kUsed;
      account->as[file] = use;
    }
    for (const auto& [file, index] : source.indices) {
      for (const auto& [reason, n] : index.ignored) result_.ignored[reason] += n;
      const std::string name = source.name(file);
      const bool told = std::any_of(
          result_.findings.begin(), result_.findings.end(),
          [&](const base::Finding& f) { return f.file == name && f.severity != Severity::kWarning; });
      if (account->outcomes[file] == Outcome::kUsed && told) account->outcomes[file] = Outcome::kRepaired;
      if (account->outcomes[file] == Outcome::kRefused && !told)
        refuse(source, file, "nothing in it could be used", "the findings of its pictures say why");
    }
    for (std::size_t i = 0; i < source.files.size(); ++i) {
      result_.files.push_back({source.name(i), account->outcomes[i], account->as[i]});
    }
  }

  void sort_findings() {
    std::sort(result_.findings.begin(), result_.findings.end(),
              [](const base::Finding& a, const base::Finding& b) {
                return std::tie(a.file, a.line, a.field, a.what) < std::tie(b.file, b.line, b.field, b.what);
              });
  }

  // Annotations without any of their pictures are one fault and not thousands.
  [[noreturn]] void refuse_all() const {
    for (const Source& source : sources_) {
      std::size_t named = 0;
      std::string example;
      LabelFormat format = LabelFormat::kCoco;
      for (const auto& [file, index] : source.indices) {
        named += index.entries.size();
        format = index.format;
        if (example.empty() && !index.entries.empty()) example = index.entries.front().picture;
      }
      const bool pictures =
          std::any_of(source.files.begin(), source.files.end(),
                      [](const SurveyedFile& file) { return file.kind == FileKind::kPicture; });
      if (named == 0 || pictures) continue;
      throw base::Error(
          base::ExitCode::kRefused,
          fmt::format("{} annotations of {} pictures in {} files, and not one of the pictures is there; "
                      "the first would be {}",
                      index_format_name(format), named, source.indices.size(), example),
          source.folder.string(), picture_hint(format));
    }
    throw base::Error(
        base::ExitCode::kRefused,
        fmt::format("none of {} files could be used; the first: {}", result_.files.size(),
                    result_.findings.empty() ? "none" : base::to_string(result_.findings.front())),
        sources_.front().folder.string(), "give the folder that holds the pictures and their labels");
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
    make_ids_unique();
    dataset.class_names = class_order(sources_, options_.classes, dataset.samples);
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
  PictureCache cache_;
  ImportResult result_;
  std::vector<Source> sources_;
  std::vector<Account> accounts_;
  std::vector<Item> items_;
};

}  // namespace

std::int64_t ImportResult::count(Outcome outcome) const {
  return std::count_if(files.begin(), files.end(),
                       [&](const FileRecord& file) { return file.outcome == outcome; });
}

ImportResult import_folders(const std::vector<fs::path>& folders, const ImportOptions& options) {
  MASKFIT_CHECK(!folders.empty(), "no folder");
  return Importer(folders, options).run();
}

void write_file_records(const std::vector<FileRecord>& files, const fs::path& path) {
  std::string text;
  for (const FileRecord& record : files) {
    const char* outcome = record.outcome == Outcome::kUsed       ? "used"
                          : record.outcome == Outcome::kRepaired ? "repaired"
                                                                 : "refused";
    text += nlohmann::json({{"file", record.file}, {"outcome", outcome}, {"as", record.as}})
                .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) +
            "\n";
  }
  base::write_file(path, text);
}

void copy_pictures(Dataset& dataset, const std::function<void(std::int64_t)>& progress) {
  std::int64_t done = 0;
  for (Sample& sample : dataset.samples) {
    const std::string ending = sample.image.extension().string();
    // An id that tells "a.jpg" from "a.png" has its ending already.
    const fs::path target =
        fs::path("images") / (sample.id.ends_with(ending) ? sample.id : sample.id + ending);
    base::write_file(dataset.root / target, base::read_file(dataset.image_path(sample)));
    sample.image = target;
    if (progress) progress(++done);
  }
}

}  // namespace maskfit::dataset
