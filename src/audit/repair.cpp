#include "audit/repair.h"

#include <fmt/chrono.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/files.h"

namespace maskfit::audit {
namespace fs = std::filesystem;
namespace {

using nlohmann::json;
using Action = Repair::Action;

// The head comes last: a folder without it is no dataset, see docs/dataset-format.md.
constexpr const char* kFiles[] = {"samples.jsonl", "findings.jsonl", "dataset.json"};
constexpr const char* kChangeFile = "change.json";

std::string user_name() {
  const passwd* entry = ::getpwuid(::getuid());
  return entry != nullptr ? entry->pw_name : std::to_string(::getuid());
}

// "0001", "0002", ... in ascending order.
std::vector<fs::path> history_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder / "history", ignored)) {
    if (fs::exists(entry.path() / kChangeFile, ignored)) entries.push_back(entry.path());
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

struct Planned {
  std::set<std::uint32_t> samples;                                 // to drop
  std::map<std::uint32_t, std::map<std::uint32_t, Action>> boxes;  // by sample and box
};

// A dropped box needs no other repair; one that is a copy of a dropped one stays.
Planned plan(const Audit& audit) {
  Planned planned;
  for (const Issue& issue : audit.issues) {
    for (const Example& example : issue.examples) {
      const Repair& repair = example.repair;
      if (repair.action == Action::kNone) continue;
      if (repair.action == Action::kDropSample) {
        planned.samples.insert(repair.sample);
        continue;
      }
      Action& action = planned.boxes[repair.sample][repair.box];
      if (action != Action::kDropBox) action = repair.action;
    }
  }
  return planned;
}

base::Finding record(const std::string& id, const std::string& what, const std::string& done) {
  return {base::Severity::kRepaired, id, 0, "", what, done};
}

void mend_boxes(const std::map<std::uint32_t, Action>& actions, dataset::Sample* sample,
                RepairSummary* summary) {
  std::vector<dataset::LabeledBox> kept;
  for (std::uint32_t b = 0; b < sample->boxes.size(); ++b) {
    dataset::LabeledBox box = sample->boxes[b];
    const auto found = actions.find(b);
    const Action action = found == actions.end() ? Action::kNone : found->second;
    const boxes::Box& at = box.box_in_image;
    const std::string what =
        fmt::format("{} box [{}, {}, {}, {}]", box.class_name, at.x1, at.y1, at.x2, at.y2);
    if (action == Action::kDropBox) {
      ++summary->dropped_boxes;
      summary->findings.push_back(record(sample->id, what, "left out by the audit"));
      continue;
    }
    if (action == Action::kClipBox) {
      box.box_in_image =
          boxes::clip(at, static_cast<float>(sample->width), static_cast<float>(sample->height));
      ++summary->clipped_boxes;
      summary->findings.push_back(record(sample->id, what, "cut to the picture by the audit"));
    } else if (action == Action::kIgnoreBox) {
      box.ignore = true;
      ++summary->ignored_boxes;
      summary->findings.push_back(record(sample->id, what, "made a region to ignore by the audit"));
    }
    kept.push_back(std::move(box));
  }
  sample->boxes = std::move(kept);
}

}  // namespace

RepairSummary apply_repairs(const Audit& audit, dataset::Dataset* data) {
  const Planned planned = plan(audit);
  RepairSummary summary;
  std::vector<dataset::Sample> kept;
  for (std::uint32_t i = 0; i < data->samples.size(); ++i) {
    dataset::Sample& sample = data->samples[i];
    if (planned.samples.count(i) > 0) {
      ++summary.dropped_samples;
      summary.findings.push_back(
          record(sample.id, "picture " + sample.image.string(), "left out by the audit"));
      continue;
    }
    const auto boxes = planned.boxes.find(i);
    if (boxes != planned.boxes.end()) mend_boxes(boxes->second, &sample, &summary);
    kept.push_back(std::move(sample));
  }
  data->samples = std::move(kept);
  return summary;
}

bool ready_after_repairs(const Audit& audit) {
  return std::all_of(audit.issues.begin(), audit.issues.end(), [](const Issue& issue) {
    return issue.level != Level::kError ||
           std::all_of(issue.examples.begin(), issue.examples.end(),
                       [](const Example& example) { return example.repair.action != Action::kNone; });
  });
}

fs::path keep_manifest(const fs::path& folder, const std::string& why,
                       const std::vector<std::string>& changes) {
  const std::vector<fs::path> history = history_of(folder);
  long long number = 1;
  if (!history.empty()) number = std::strtoll(history.back().filename().c_str(), nullptr, 10) + 1;
  const fs::path kept = folder / "history" / fmt::format("{:04d}", number);
  for (const char* file : kFiles) base::write_file(kept / file, base::read_file(folder / file));
  const json change = {{"when", fmt::format("{:%FT%TZ}", fmt::gmtime(std::time(nullptr)))},
                       {"who", user_name()},
                       {"why", why},
                       {"what", changes}};
  base::write_file(kept / kChangeFile, change.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
  return kept;
}

std::string undo(const fs::path& folder) {
  const std::vector<fs::path> history = history_of(folder);
  if (history.empty()) {
    throw base::Error(base::ExitCode::kFailed, "nothing to take back: the dataset has no history",
                      (folder / "history").string());
  }
  const fs::path latest = history.back();
  json change;
  try {
    change = json::parse(base::read_file(latest / kChangeFile));
  } catch (const json::exception& error) {
    throw base::Error(base::ExitCode::kRefused, fmt::format("not a record of a change: {}", error.what()),
                      (latest / kChangeFile).string(), "remove that folder to go on");
  }
  std::vector<std::string> contents;
  for (const char* file : kFiles) contents.push_back(base::read_file(latest / file));
  std::error_code ignored;
  fs::remove(folder / kFiles[2], ignored);
  for (std::size_t i = 0; i < contents.size(); ++i) base::write_file(folder / kFiles[i], contents[i]);
  fs::remove_all(latest, ignored);
  fs::remove(folder / "history", ignored);  // only when it is empty
  return fmt::format("{} by {} on {}: {} changes", change.value("why", "?"), change.value("who", "?"),
                     change.value("when", "?"), change.value("what", json::array()).size());
}

}  // namespace maskfit::audit
