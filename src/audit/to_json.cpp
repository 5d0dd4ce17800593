#include "audit/to_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace maskfit::audit {
namespace {

using nlohmann::json;

json json_of(const boxes::Box& box) {
  return {box.x1, box.y1, box.x2, box.y2};
}

json json_of(const Example& example, const dataset::Dataset& data) {
  json entry = {{"text", example.text}};
  json& samples = entry["samples"] = json::array();
  for (const std::uint32_t i : example.samples) samples.push_back(data.samples[i].id);
  for (const std::uint32_t b : example.boxes)
    entry["boxes"].push_back(json_of(data.samples[example.samples[0]].boxes[b].box_in_image));
  for (const boxes::Box& box : example.extra_boxes_in_image) entry["found"].push_back(json_of(box));
  if (example.repair.action != Repair::Action::kNone) entry["fixable"] = true;
  return entry;
}

json json_of(const Issue& issue, const dataset::Dataset& data, std::int64_t limit) {
  const KindInfo& kind = info(issue.kind);
  json examples = json::array();
  const std::int64_t shown = limit < 0 ? issue.count() : std::min(limit, issue.count());
  for (std::int64_t i = 0; i < shown; ++i) examples.push_back(json_of(issue.examples[i], data));
  return {{"kind", kind.name},      {"level", to_string(issue.level)}, {"title", kind.title},
          {"count", issue.count()}, {"consequence", kind.consequence}, {"remedy", kind.remedy},
          {"examples", examples}};
}

}  // namespace

std::string to_json(const Audit& audit, const dataset::Dataset& data, std::int64_t examples) {
  json sources = json::object();
  for (const std::string& name : audit.sources.names) sources[name] = 0;
  for (const int source : audit.sources.of_sample)
    sources[audit.sources.names[source]] = sources[audit.sources.names[source]].get<int>() + 1;
  json issues = json::array();
  for (const Issue& issue : audit.issues) issues.push_back(json_of(issue, data, examples));
  const json all = {{"ready", audit.ready()},
                    {"errors", audit.count(Level::kError)},
                    {"warnings", audit.count(Level::kWarning)},
                    {"notes", audit.count(Level::kNote)},
                    {"pictures", data.samples.size()},
                    {"decoded", audit.decoded},
                    {"from_cache", audit.from_cache},
                    {"sources", sources},
                    {"sources_by", audit.sources.decision},
                    {"similar_pairs", audit.similar.pairs.size()},
                    {"sequences", audit.similar.sequences.size()},
                    {"issues", issues}};
  return all.dump(2, ' ', false, json::error_handler_t::replace);
}

}  // namespace maskfit::audit
