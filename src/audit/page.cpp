#include "audit/page.h"

#include <fmt/format.h>

#include <algorithm>

#include "audit/page_parts.h"
#include "base/files.h"
#include "report/html.h"
#include "report/sections.h"

namespace maskfit::audit {
namespace {

using report::escaped;
using report::grouped;

std::string tile(const std::string& value, const std::string& name) {
  return fmt::format("<div class=\"tile\"><b>{}</b><span>{}</span></div>", escaped(value), escaped(name));
}

std::string tiles(const Audit& audit, const dataset::Dataset& data) {
  std::map<std::string, std::int64_t> boxes;
  for (const dataset::Sample& sample : data.samples) {
    for (const dataset::LabeledBox& box : sample.boxes) {
      if (!box.ignore) ++boxes[box.class_name];
    }
  }
  std::string html = tile(grouped(static_cast<long long>(data.samples.size())), "pictures");
  for (const std::string& name : data.class_names) html += tile(grouped(boxes[name]), "boxes " + name);
  html += tile(std::to_string(audit.sources.names.size()), "sources");
  html += tile(fmt::format("{} / {} / {}", audit.count(Level::kError), audit.count(Level::kWarning),
                           audit.count(Level::kNote)),
               "kinds of errors, warnings, notes");
  return "<section class=\"tiles\">" + html + "</section>\n";
}

std::string verdict(const Audit& audit) {
  if (audit.ready()) {
    return "<p class=\"verdict ready card\"><b>Training can go ahead.</b> " +
           std::string(audit.count(Level::kWarning) > 0 ? "Look at the warnings first."
                                                        : "Nothing stands in its way.") +
           "</p>\n";
  }
  return "<p class=\"verdict wait card\"><b>Training should wait.</b> The errors below would spoil it, or "
         "its "
         "figures.</p>\n";
}

std::string contents(const Audit& audit) {
  if (audit.issues.empty()) return "";
  std::string rows;
  for (const Issue& issue : audit.issues) {
    const KindInfo& kind = info(issue.kind);
    rows += fmt::format(
        "<tr><td><span class=\"level {0}\">{0}</span></td><th><a "
        "href=\"#{1}\">{2}</a></th><td>{3}</td></tr>\n",
        to_string(issue.level), kind.name, escaped(kind.title), grouped(issue.count()));
  }
  return "<section><h2>Findings</h2><div class=\"card scroll\"><table class=\"findings\"><tbody>" + rows +
         "</tbody></table></div></section>\n";
}

// A sample of what is in it: the colours of the classes.
std::string key(const dataset::Dataset& data) {
  std::string items;
  for (const std::string& name : data.class_names)
    items += fmt::format("<span class=\"{}\">{}</span>", color_class(data, name), escaped(name));
  return "<div class=\"key\">" + items +
         "<span class=\"ignored\">ignored</span><span class=\"found\">found by the model</span><i>thick: the "
         "box that "
         "is meant; a ring where it is tiny</i></div>\n";
}

}  // namespace

const char kAuditStyle[] = R"css(
.level { display: inline-block; border-radius: 5px; padding: 0 8px; font-size: .78rem; line-height: 1.6; color: var(--page);
  vertical-align: 2px; font-weight: 600; }
.level.error { background: var(--bad); } .level.warning { background: var(--warn); } .level.note { background: var(--soft); }
.count { color: var(--soft); font-weight: 400; }
.verdict { padding: 12px 18px; border-left: 4px solid var(--good); margin: 20px 0 0; }
.verdict.wait { border-left-color: var(--bad); }
.findings { width: 100%; } .findings td:first-child { text-align: left; width: 1%; } .findings th { white-space: normal; font-weight: 500; }
.findings a { color: var(--accent); text-decoration: none; }
.findings a:hover { text-decoration: underline; }
.issue p { margin: 0 0 14px; max-width: 78ch; }
.issue h2 { scroll-margin-top: 12px; }
.spaced { margin-top: 16px; }
.bars rect { fill: currentColor; }
.chart .limit { stroke: var(--bad); stroke-dasharray: 4 3; }
.heatmaps { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 260px), 1fr)); gap: 16px; }
.heatmap { padding: 14px; } .heatmap figcaption { font-weight: 600; font-size: .95rem; margin-bottom: 8px; }
.heatmap svg { display: block; width: 100%; height: auto; border-radius: 6px; } .heatmap rect { fill: var(--accent); }
.heatmap .ground { fill: var(--page); } .heatmap p { margin: 6px 0 0; }
.side { display: grid; gap: 2px; align-items: start; } .pair .side { grid-template-columns: 1fr 1fr; }
.strip .side { grid-template-columns: repeat(6, 1fr); } .strip { grid-column: 1 / -1; }
.pair { grid-column: span 2; }
.side .frame { margin: 0 auto; width: 100%; }
.gone { padding: 40px 12px; text-align: center; color: var(--soft); }
.k0 { --box: #3aa0ff; } .k1 { --box: #ff9326; } .k2 { --box: #35d07f; } .k3 { --box: #ff4dd8; }
.k4 { --box: #ffd63a; } .k5 { --box: #3fe0ee; } .k6 { --box: #ff5a6b; } .k7 { --box: #d6dbe2; }
.found { --box: #ff4dd8; } .frame rect { stroke-width: 1.6px; }
.frame rect[class], .frame circle { stroke: var(--box); } .frame circle { fill: none; stroke-width: 2px; vector-effect: non-scaling-stroke; } .frame rect.meant { stroke-width: 4px; } .frame rect.found { stroke-width: 3px; stroke-dasharray: 7 4; }
.frame rect.ignored { stroke-dasharray: 3 4; }
.texts { margin: 0; padding: 4px 20px 14px 34px; font-size: .9rem; overflow-wrap: anywhere; }
@media (max-width: 760px) { .pair { grid-column: 1 / -1; } .strip .side { grid-template-columns: repeat(3, 1fr); } }
)css";

std::string color_class(const dataset::Dataset& data, const std::string& class_name) {
  const auto found = std::find(data.class_names.begin(), data.class_names.end(), class_name);
  return fmt::format("k{}", found == data.class_names.end() ? 7 : (found - data.class_names.begin()) % 8);
}

std::string render_page(const Audit& audit, const dataset::Dataset& data, const std::string& title,
                        const PageOptions& options) {
  const std::string body = verdict(audit) + tiles(audit, data) + contents(audit) +
                           statistics_section(audit, data) + "<h2>The findings one by one</h2>\n" +
                           key(data) + issue_sections(audit, data, options);
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>Audit of "
      "{0}</title>\n<style>{1}{2}</style></head>\n"
      "<body><main>\n<header><h1>Audit of {0}</h1></header>\n{3}<footer>Made by maskfit.</footer>\n</main>\n"
      "<script>{4}</script></body></html>\n",
      escaped(title), report::kStyle, kAuditStyle, body, report::kScript);
}

void write_page(const std::filesystem::path& folder, const Audit& audit, const dataset::Dataset& data,
                const std::string& title, const PageOptions& options) {
  base::write_file(folder / "index.html", render_page(audit, data, title, options));
}

}  // namespace maskfit::audit
