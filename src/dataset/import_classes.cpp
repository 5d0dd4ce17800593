#include "dataset/import_classes.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/files.h"

namespace maskfit::dataset {
namespace {

constexpr std::size_t kSpread = 256;  // labels that are looked into first

struct LabelClasses {
  std::map<std::string, std::int64_t> unknown;  // class -> boxes
  NumberedClasses numbered;
};

// Of the label that is believed; faults are for the import in earnest to find.
void count_classes(const Item& item, const ImportOptions& options, LabelClasses* classes) {
  if (item.labels.empty()) return;
  const LabelRef& ref = item.labels.front();
  std::vector<DrawnBox> boxes;
  const std::string name = item.source->name(ref.file);
  if (ref.entry != nullptr) {
    boxes = ref.entry->boxes;
  } else {
    try {
      base::Findings ignored;
      // The size does not matter to names.
      const LabelContext context{&options, ref.names, {1, 1}};
      if (auto label = ref.reader->read(base::read_file(name), name, context, &ignored))
        boxes = std::move(label->boxes);
    } catch (const base::Error&) {
      return;
    }
  }
  for (const DrawnBox& drawn : boxes) {
    const std::string& class_name = drawn.labeled.class_name;
    if (options.classes.find(class_name)) continue;
    ++classes->unknown[class_name];
    if (ref.reader != nullptr && ref.reader->format == LabelFormat::kYolo && ref.names == nullptr)
      classes->numbered.emplace(std::pair(class_name, item.source->folder.string()),
                                fmt::format("{}:{}", name, drawn.line));
  }
}

}  // namespace

void refuse_classes(const std::map<std::string, std::int64_t>& unknown, const std::string& where,
                    const NumberedClasses& numbered) {
  std::string names, examples;
  for (const auto& [name, boxes] : unknown) {
    names += fmt::format("{}'{}' ({} box{})", names.empty() ? "" : ", ", name, boxes, boxes == 1 ? "" : "es");
  }
  std::string hint =
      suggest_classes_option(unknown) + "   (a=b renames, a=ignore ignores, a alone keeps the name)";
  std::set<std::string> folders;
  for (const auto& [key, example] : numbered) {
    examples += fmt::format("{}{} is drawn in {}", examples.empty() ? "" : ", ", key.first, example);
    folders.insert(key.second);
  }
  if (!examples.empty()) {
    hint += fmt::format(
        "\n      the numbers are YOLO's, and no list of names (data.yaml, classes.txt, obj.names) is there; "
        "{}",
        examples);
    if (folders.size() > 1) {
      hint += fmt::format(
          "\n      {} folders number their classes; import them one by one unless they mean the same",
          folders.size());
    }
  }
  throw base::Error(base::ExitCode::kRefused, "classes that are not mapped: " + names, where, hint);
}

void check_classes_early(const std::vector<Item>& items, const ImportOptions& options,
                         const std::string& where) {
  LabelClasses found;
  const std::size_t step = std::max<std::size_t>(1, items.size() / kSpread);
  for (std::size_t i = 0; i < items.size(); i += step) {
    options.stop.throw_if_requested();
    count_classes(items[i], options, &found);
  }
  if (found.unknown.empty()) return;
  found = {};
  for (const Item& item : items) {
    options.stop.throw_if_requested();
    count_classes(item, options, &found);
  }
  refuse_classes(found.unknown, where, found.numbered);
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
  if (!unknown.empty()) refuse_classes(unknown, where, {});
  return use;
}

std::vector<std::string> class_order(const std::vector<Source>& sources, const ClassMap& map,
                                     const std::vector<Sample>& samples) {
  std::set<std::string> occurring;
  for (const Sample& sample : samples) {
    for (const LabeledBox& box : sample.boxes) {
      if (!box.ignore) occurring.insert(box.class_name);
    }
  }
  std::vector<std::string> order;
  for (const Source& source : sources) {
    for (const std::vector<std::string>& list : source.class_lists) {
      std::vector<std::string> mapped;
      for (const std::string& name : list) {
        const auto target = map.find(name);
        if (!target || target->ignore || !occurring.contains(target->name)) continue;
        if (std::find(mapped.begin(), mapped.end(), target->name) == mapped.end())
          mapped.push_back(target->name);
      }
      if (mapped.empty()) continue;
      if (!order.empty() && mapped != order) return {};
      order = std::move(mapped);
    }
  }
  if (order.empty()) return {};
  for (const std::string& name : occurring) {
    if (std::find(order.begin(), order.end(), name) == order.end()) order.push_back(name);
  }
  return order;
}

}  // namespace maskfit::dataset
