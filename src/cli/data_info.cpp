#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/data_report.h"
#include "dataset/dataset.h"

namespace maskfit::cli {
namespace {

using nlohmann::json;

// 5 %, median and 95 % of some values.
struct Spread {
  double low = 0, median = 0, high = 0;
};

Spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto at = [&](double part) {
    return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1) + 0.5)];
  };
  return {at(0.05), at(0.5), at(0.95)};
}

struct Facts {
  Spread picture_width, picture_height, box_side;  // pixels; the shorter side of boxes
};

Facts facts_of(const dataset::Dataset& dataset) {
  std::vector<double> widths, heights, sides;
  for (const dataset::Sample& sample : dataset.samples) {
    widths.push_back(sample.width);
    heights.push_back(sample.height);
    for (const dataset::LabeledBox& box : sample.boxes) {
      if (!box.ignore) sides.push_back(std::min(box.box_in_image.width(), box.box_in_image.height()));
    }
  }
  return {spread_of(widths), spread_of(heights), spread_of(sides)};
}

json json_of(const Spread& spread) {
  return {{"p5", spread.low}, {"median", spread.median}, {"p95", spread.high}};
}

void print_json(const dataset::Dataset& dataset, const Facts& facts, std::size_t findings,
                const std::string& made_by) {
  json splits = json::object();
  for (const auto& [name, counts] : dataset::count_by_split(dataset)) {
    splits[name] = {{"samples", counts.samples},
                    {"without_objects", counts.without_objects},
                    {"ignored", counts.ignored},
                    {"boxes", counts.boxes}};
  }
  const json all = {{"classes", dataset.class_names},
                    {"digest", dataset::digest(dataset)},
                    {"splits", splits},
                    {"picture_width", json_of(facts.picture_width)},
                    {"picture_height", json_of(facts.picture_height)},
                    {"box_shorter_side", json_of(facts.box_side)},
                    {"findings", findings},
                    {"made_by", made_by}};
  std::cout << all.dump(2) << "\n";
}

std::string text_of(const Spread& spread) {
  return fmt::format("{:.0f} (5 %: {:.0f}, 95 %: {:.0f})", spread.median, spread.low, spread.high);
}

int run(const std::string& path, bool as_json) {
  base::Findings findings;
  const dataset::Dataset dataset = dataset::open_data(path, &findings);
  std::string made_by = "opened in place";
  if (dataset::is_dataset(path)) {
    findings = dataset::read_findings(path);
    made_by = dataset::read_provenance(path);
  }
  const Facts facts = facts_of(dataset);
  if (as_json) {
    print_json(dataset, facts, findings.size(), made_by);
    return 0;
  }
  std::cout << fmt::format("classes   {}\ndigest    {}\nmade by   {}\n", fmt::join(dataset.class_names, ", "),
                           dataset::digest(dataset), made_by)
            << fmt::format("pictures  width {}, height {} pixels\n", text_of(facts.picture_width),
                           text_of(facts.picture_height))
            << fmt::format("boxes     shorter side {} pixels\n", text_of(facts.box_side))
            << fmt::format("findings  {}\n\n", findings.size()) << split_table(dataset);
  return 0;
}

}  // namespace

Command data_info_command() {
  return {"data info", "What a dataset holds: classes, splits, sizes, digest",
          [](CLI::App& app) -> std::function<int()> {
            auto path = std::make_shared<std::string>();
            auto as_json = std::make_shared<bool>(false);
            app.add_option("DATASET", *path,
                           "A dataset, a folder of pictures and labels, or 'GLOB@IMAGES' of TFRecords")
                ->required();
            app.add_flag("--json", *as_json, "As JSON");
            return [path, as_json] { return run(*path, *as_json); };
          }};
}

}  // namespace maskfit::cli
