#include "report/report.h"

#include <fmt/format.h>

#include "base/files.h"
#include "report/html.h"
#include "report/sections.h"

namespace maskfit::report {
namespace {

std::string header(const Report& report) {
  return fmt::format("<header><h1>{}</h1>{}</header>\n", escaped(report.title),
                     report.subtitle.empty() ? "" : fmt::format("<p>{}</p>", escaped(report.subtitle)));
}

std::string galleries(const Report& report) {
  std::vector<std::string> names;
  float threshold = 0;
  if (report.evaluation) {
    threshold = report.evaluation->confusion_threshold;
    for (const auto& result : report.evaluation->classes) names.push_back(result.name);
  }
  const std::string shown = fmt::format("Detections of confidence {} or more.", short_number(threshold));
  return pictures_section(fmt::format("The {} pictures with the most errors", report.worst.size()), shown,
                          report.worst, names, threshold) +
         pictures_section("Examples", shown, report.examples, names, threshold);
}

}  // namespace

std::string render(const Report& report) {
  std::string body =
      header(report) + headline_section(report) + notes_section(report) + curves_section(report);
  if (report.evaluation) body += classes_section(*report.evaluation) + confusion_section(*report.evaluation);
  body += galleries(report) + facts_section(report);
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light "
      "dark\">\n<title>{}</title>\n<style>{}</style></head>\n<body><main>\n{}"
      "<footer>Made by maskfit.</footer>\n</main>\n<script>{}</script></body></html>\n",
      escaped(report.title), kStyle, body, kScript);
}

void write(const std::filesystem::path& path, const Report& report) {
  base::write_file(path, render(report));
}

}  // namespace maskfit::report
