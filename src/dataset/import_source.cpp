#include "dataset/import_source.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "dataset/export_labels.h"
#include "dataset/import_lists.h"
#include "dataset/number_pairs.h"
#include "formats/utf8.h"

namespace maskfit::dataset {
namespace fs = std::filesystem;
namespace {

using base::Severity;

// Of a picture without a label of a format, why.
using Reasons = std::map<std::size_t, std::string>;

class Surveyor {
 public:
  Surveyor(const ImportOptions& options, Source* source) : options_(options), source_(*source) {}

  void run() {
    source_.files = survey(source_.folder);
    source_.contents = identify(source_.folder, source_.files, options_.stop);
    settle_kinds();
    settle_plain_text();
    read_names();
    for (const LabelReader& reader : label_readers()) {
      // Whole-set files are believed before bare KITTI and YOLO lines, and after labels that state their
      // picture.
      if (reader.format == LabelFormat::kKitti) read_indices();
      if (wanted(reader.format)) pair_labels(reader);
    }
    account_labels();
    read_lists(&source_);
    list_classes();
    account_rest();
    source_.decision = decision();
  }

 private:
  bool wanted(LabelFormat format) const {
    return options_.from == LabelFormat::kAuto || options_.from == format;
  }

  static const LabelReader* reader_of(Content content) {
    for (const LabelReader& reader : label_readers()) {
      if (reader.content == content) return &reader;
    }
    return nullptr;
  }

  void find(Severity severity, std::size_t file, const std::string& what, const std::string& remedy) {
    source_.findings.push_back({severity, source_.name(file), 0, "", what, remedy});
  }

  // The content decides; the name only where a picture is damaged beyond recognition.
  void settle_kinds() {
    for (std::size_t i = 0; i < source_.files.size(); ++i) {
      SurveyedFile& file = source_.files[i];
      const Content content = source_.contents[i];
      if (file.kind == FileKind::kPicture && reader_of(content) != nullptr) {
        file.kind = FileKind::kOther;
        misnamed_.insert(i);
      } else if (file.kind == FileKind::kOther && content == Content::kPicture) {
        file.kind = FileKind::kPicture;
        find(Severity::kRepaired, i, "a picture, which its name does not say", "it was read by its content");
      }
    }
  }

  // Empty text files, and ones that are nothing recognisable but lie where labels do, belong to the format of
  // bare lines that is there: an empty one shows no object, and of the other its parser tells the line.
  void settle_plain_text() {
    const auto count = [&](Content content) {
      return std::count(source_.contents.begin(), source_.contents.end(), content);
    };
    const bool kitti = options_.from == LabelFormat::kKitti || count(Content::kKitti) > count(Content::kYolo);
    const bool yolo = options_.from == LabelFormat::kYolo || count(Content::kYolo) > 0;
    if (!kitti && !yolo) return;
    std::set<std::string> stems;
    for (const SurveyedFile& file : source_.files) {
      if (file.kind == FileKind::kPicture) stems.insert(file.path.stem().string());
    }
    for (std::size_t i = 0; i < source_.files.size(); ++i) {
      Content& content = source_.contents[i];
      if (content != Content::kEmpty && content != Content::kText) continue;
      const fs::path& path = source_.files[i].path;
      if (source_.files[i].kind == FileKind::kPicture || base::to_lower(path.extension().string()) != ".txt")
        continue;
      if (stems.contains(path.stem().string())) content = kitti ? Content::kKitti : Content::kYolo;
    }
  }

  std::string read(std::size_t file) const {
    return base::read_file(source_.folder / source_.files[file].path);
  }

  void read_names() {
    for (std::size_t i = 0; i < source_.files.size(); ++i) {
      if (source_.contents[i] != Content::kNames && source_.contents[i] != Content::kYaml) continue;
      std::string text = read(i);
      if (!formats::is_utf8(text)) {
        text = formats::utf8_from_latin1(text);
        find(Severity::kWarning, i, "it is not UTF-8",
             "it was read as Latin-1; look at the names of the classes");
      }
      auto names = source_.contents[i] == Content::kYaml ? formats::parse_yolo_yaml(text)
                                                         : formats::parse_yolo_name_list(text);
      if (!names.empty()) source_.names[i] = std::move(names);
    }
  }

  // The names for a label: from the list in the innermost folder above it (a YAML file first), or the only
  // one that there is.
  const formats::YoloNames* names_for(std::size_t label) {
    const std::string path = source_.files[label].path.parent_path().string() + "/";
    const std::pair<const std::size_t, formats::YoloNames>* best = nullptr;
    std::pair<std::size_t, bool> best_rank;
    for (const auto& entry : source_.names) {
      const fs::path folder = source_.files[entry.first].path.parent_path();
      if (!folder.empty() && !path.starts_with(folder.string() + "/")) continue;
      const std::pair rank(folder.string().size(), source_.contents[entry.first] == Content::kYaml);
      if (best != nullptr && rank <= best_rank) continue;
      best = &entry;
      best_rank = rank;
    }
    if (best == nullptr && source_.names.size() == 1) best = &*source_.names.begin();
    if (best == nullptr) return nullptr;
    source_.helpers[best->first] = "class names";
    return &best->second;
  }

  void pair_labels(const LabelReader& reader) {
    std::vector<SurveyedFile> files = source_.files;
    bool any = false;
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (files[i].kind != FileKind::kPicture && source_.contents[i] == reader.content) {
        files[i].kind = FileKind::kLabel;
        any = true;
      } else if (files[i].kind != FileKind::kPicture) {
        files[i].kind = FileKind::kOther;
      }
    }
    if (!any) return;
    Pairing pairing =
        pair_files(files, [&](std::size_t label) { return reader.stated_picture(read(label)); });
    if (reader.format == LabelFormat::kYolo) check_numbers(&pairing);
    for (const Pair& pair : pairing.pairs) {
      LabelRef ref{pair.label, &reader, nullptr, nullptr, pair.how};
      if (reader.format == LabelFormat::kYolo) ref.names = names_for(pair.label);
      if (misnamed_.contains(pair.label)) {
        ref.how += fmt::format("{}it is a {} although it is named {}", ref.how.empty() ? "" : "; ",
                               content_name(reader.content), files[pair.label].path.extension().string());
      }
      source_.labels[pair.picture].push_back(std::move(ref));
      labels_used_.insert(pair.label);
    }
    for (const auto& [file, reason, alone] : pairing.left) {
      if (files[file].kind == FileKind::kLabel) {
        source_.unneeded.push_back({file, reason, "find its picture, or delete it"});
        labels_used_.insert(file);
      } else if (!alone) {
        reasons_[file] = reason;
      }
    }
  }

  // Pairs that only numbers made must fit the sizes of their pictures.
  void check_numbers(Pairing* pairing) const {
    std::vector<Pair*> pairs;
    for (Pair& pair : pairing->pairs) {
      if (pair.by_number) pairs.push_back(&pair);
    }
    std::sort(pairs.begin(), pairs.end(), [&](const Pair* a, const Pair* b) {
      const auto rank = [&](const Pair* pair) {
        const fs::path& path = source_.files[pair->label].path;
        return std::tuple(path.parent_path(), last_number(path.stem().string()), path);
      };
      return rank(a) < rank(b);
    });
    std::vector<NumberPair> facts;
    std::vector<std::size_t> pictures;
    for (const Pair* pair : pairs) {
      NumberPair fact;
      base::Findings ignored;
      try {
        image::ReadInfo info;
        image::read_image_size(source_.name(pair->picture), &info);
        fact.size = info.stored_size;
        fact.boxes = formats::parse_yolo(read(pair->label), "", &ignored);
      } catch (const base::Error&) {
        fact.boxes.clear();  // no evidence; reading it in earnest says why
      }
      facts.push_back(std::move(fact));
      pictures.push_back(pair->picture);
    }
    settle_numbers(judge_numbers(facts), pictures, pairs, pairing);
  }

  void settle_numbers(const NumberVerdict& verdict, const std::vector<std::size_t>& pictures,
                      const std::vector<Pair*>& pairs, Pairing* pairing) const {
    const auto picture_name = [&](std::size_t picture) {
      return source_.files[picture].path.filename().string();
    };
    for (std::size_t i = 0; verdict.shift != 0 && i < pairs.size(); ++i) {
      pairs[i]->picture = pictures[(i + verdict.shift) % pairs.size()];
      pairs[i]->how = fmt::format(
          "its boxes are whole pixels of {} and not of {}: these {} labels were numbered apart from their "
          "pictures, and shifted against each other all of them fit",
          picture_name(pairs[i]->picture), picture_name(pictures[i]), pairs.size());
    }
    std::set<std::size_t> wrong;
    for (const std::size_t i : verdict.contradicted) {
      const std::string what = fmt::format(
          "by their numbers {} and {} belong together, but the boxes are whole pixels of a picture "
          "of another size",
          source_.files[pairs[i]->label].path.filename().string(), picture_name(pictures[i]));
      pairing->left.push_back({pairs[i]->label, what, false});
      pairing->left.push_back({pictures[i], what, false});
      wrong.insert(pairs[i]->label);
    }
    std::erase_if(pairing->pairs, [&](const Pair& pair) { return wrong.contains(pair.label); });
  }

  void read_indices() {
    const PictureFinder finder(source_.files);
    for (std::size_t i = 0; i < source_.files.size(); ++i) {
      const Content content = source_.contents[i];
      if (!is_index(content) || !wanted(format_of(content))) continue;
      labels_used_.insert(i);
      try {
        IndexFile& index = source_.indices[i];
        index = read_index(content, read(i), source_.name(i), options_, &source_.findings);
        if (!index.class_names.empty()) source_.class_lists.push_back(index.class_names);
      } catch (const base::Error& error) {
        source_.indices.erase(i);
        find(Severity::kRefused, i, error.what(), error.hint());
        continue;
      }
      match_entries(finder, i);
    }
  }

  void match_entries(const PictureFinder& finder, std::size_t file) {
    const IndexFile& index = source_.indices[file];
    for (const IndexEntry& entry : index.entries) {
      std::string reason;
      const auto picture = finder.find(entry.picture, index.format, source_.files[file].path, &reason);
      if (picture) {
        source_.labels[*picture].push_back({file, nullptr, &entry, nullptr, ""});
        continue;
      }
      source_.findings.push_back({Severity::kRefused, source_.name(file), entry.line, "picture", reason,
                                  picture_hint(index.format)});
    }
  }

  // What lists say of the order of classes: ours first, which tells the order that was trained with.
  void list_classes() {
    for (std::size_t i = 0; i < source_.files.size(); ++i) {
      if (source_.contents[i] != Content::kConversion) continue;
      source_.helpers[i] = "order of the classes";
      if (auto classes = converted_classes(read(i)); !classes.empty()) {
        source_.class_lists = {std::move(classes)};
        return;
      }
    }
    for (const auto& [file, names] : source_.names) {
      if (!source_.helpers.contains(file)) continue;
      std::vector<std::string> list;
      for (const auto& [number, name] : names) list.push_back(name);
      source_.class_lists.push_back(std::move(list));
    }
  }

  void account_labels() {
    for (std::size_t i = 0; i < source_.files.size(); ++i) {
      const bool picture = source_.files[i].kind == FileKind::kPicture;
      if (picture && !source_.labels.contains(i)) {
        const auto reason = reasons_.find(i);
        if (reason == reasons_.end()) {
          source_.unlabelled.push_back(i);
        } else {
          source_.unneeded.push_back(
              {i, reason->second, "rename the files so that each label names one picture"});
        }
      }
    }
  }

  void account_rest() {
    for (std::size_t i = 0; i < source_.files.size(); ++i) {
      if (source_.files[i].kind == FileKind::kPicture || labels_used_.contains(i) ||
          source_.helpers.contains(i))
        continue;
      const Content content = source_.contents[i];
      if (reader_of(content) != nullptr || is_index(content)) {
        source_.unneeded.push_back(
            {i, fmt::format("a {}, and another format was asked for", content_name(content)),
             "leave --from out to use it, too"});
      } else if (content == Content::kTfrecord) {
        source_.unneeded.push_back({i, "TFRecords are not read together with other labels",
                                    "import them with --from tfrecord --images FOLDER"});
      } else {
        source_.unneeded.push_back({i,
                                    fmt::format("neither a picture nor a label ({})", content_name(content)),
                                    "nothing needs it"});
      }
    }
  }

  std::string decision() const {
    std::map<std::string, std::int64_t> first, compared;
    for (const auto& [picture, refs] : source_.labels) {
      for (std::size_t i = 0; i < refs.size(); ++i) {
        const std::string name = refs[i].reader != nullptr
                                     ? refs[i].reader->name
                                     : index_format_name(source_.indices.at(refs[i].file).format);
        ++(i == 0 ? first : compared)[name];
      }
    }
    std::string text;
    for (const auto& [name, n] : first)
      text += fmt::format("{}{} labels for {} pictures", text.empty() ? "" : ", ", name, n);
    if (options_.from != LabelFormat::kAuto) text += " (as asked for)";
    for (const auto& [name, n] : compared)
      text += fmt::format("; {} {} labels of the same pictures were compared with them", n, name);
    if (text.empty()) text = "no labels that belong to a picture";
    std::map<std::string, std::vector<std::size_t>> uses;
    for (const auto& [file, use] : source_.helpers) uses[use].push_back(file);
    for (const auto& [use, files] : uses) {
      text += fmt::format("; {} from {}", use, source_.files[files.front()].path.string());
      if (files.size() > 1) text += fmt::format(" and {} more", files.size() - 1);
    }
    return text;
  }

  const ImportOptions& options_;
  Source& source_;
  std::set<std::size_t> misnamed_;     // labels with a picture's ending
  std::set<std::size_t> labels_used_;  // label and index files that are accounted for
  Reasons reasons_;
};

}  // namespace

void survey_source(const ImportOptions& options, Source* source) {
  Surveyor(options, source).run();
}

}  // namespace maskfit::dataset
