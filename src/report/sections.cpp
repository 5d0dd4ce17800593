#include "report/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "evaluate/to_json.h"
#include "report/html.h"

namespace maskfit::report {
namespace {

std::string tile(const std::string& value, const std::string& name, const std::string& help = "") {
  return fmt::format(R"(<div class="tile"{}><b>{}</b><span>{}</span></div>)",
                     help.empty() ? "" : fmt::format(R"( title="{}")", escaped(help)), escaped(value),
                     escaped(name));
}

// A number with a bar behind it.
std::string bar_cell(double share) {
  return fmt::format(R"(<td class="bar" style="--share:{:.1f}%">{}</td>)",
                     std::isfinite(share) ? 100 * std::clamp(share, 0.0, 1.0) : 0, percent(share));
}

std::string class_row(const evaluate::ClassResult& result) {
  std::string html =
      fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td>", escaped(result.name), grouped(result.truths));
  if (result.truths == 0) return html + R"(<td class="none" colspan="7">no objects to find</td></tr>)";
  for (const double share : {result.ap, result.ap50, result.ap75, result.ap50_95}) html += bar_cell(share);
  for (const double share : {result.precision, result.recall, result.f1}) {
    html += fmt::format("<td>{}</td>", percent(share));
  }
  return html + "</tr>\n";
}

const char* mode_text(evaluate::ApMode mode) {
  switch (mode) {
    case evaluate::ApMode::kSample:
      return "11-point (SAMPLE)";
    case evaluate::ApMode::kIntegrate:
      return "the reference's INTEGRATE";
    default:
      return "all-point";
  }
}

// The operating point of a class on its curve.
std::optional<Point> operating_point(const evaluate::ClassResult& result) {
  if (result.recall <= 0) return std::nullopt;
  return Point{result.recall, result.precision};
}

}  // namespace

std::string headline_section(const Report& report) {
  std::string tiles;
  if (report.evaluation) {
    const auto& e = *report.evaluation;
    tiles += tile(percent(e.map), "mAP", "mean of the classes' average precision at the spec's overlap");
    tiles += tile(percent(e.map50), "mAP50", "COCO's mean average precision at IoU 0.5");
    tiles += tile(percent(e.map75), "mAP75", "COCO's mean average precision at IoU 0.75");
    tiles += tile(percent(e.map50_95), "mAP50:95", "COCO's mean over IoU 0.5 to 0.95");
  }
  for (const Fact& fact : report.headline) tiles += tile(fact.value, fact.name);
  return tiles.empty() ? "" : fmt::format("<section class=\"tiles\">{}</section>\n", tiles);
}

std::string notes_section(const Report& report) {
  if (report.notes.empty()) return "";
  std::string items;
  for (const std::string& note : report.notes) items += fmt::format("<li>{}</li>", escaped(note));
  return fmt::format("<section class=\"notes\" role=\"note\"><h2>Read this first</h2><ul>{}</ul></section>\n",
                     items);
}

std::string curves_section(const Report& report) {
  std::string charts;
  if (!report.losses.empty()) {
    charts += line_chart({"Loss", "epoch", "loss", report.losses, false, false, true});
  }
  if (!report.ap.empty()) {
    charts += line_chart(
        {"Average precision on the validation pictures", "epoch", "AP", report.ap, true, false, false});
  }
  if (report.learning_rate) {
    charts +=
        line_chart({"Learning rate", "epoch", "learning rate", {*report.learning_rate}, false, false, true});
  }
  if (report.evaluation) charts += precision_recall_chart(*report.evaluation);
  return charts.empty() ? ""
                        : "<section><h2>Curves</h2><div class=\"charts\">\n" + charts + "</div></section>\n";
}

std::string precision_recall_chart(const evaluate::Evaluation& evaluation) {
  Chart chart{"Precision over recall", "recall", "precision", {}, true, true, false};
  for (const auto& result : evaluation.classes) {
    if (result.truths == 0) continue;
    Series series;
    series.name = fmt::format("{} (AP {})", result.name, percent(result.ap));
    for (const auto& point : evaluate::thinned(result.curve, 300)) {
      series.points.push_back({point.recall, point.precision});
    }
    series.marker = operating_point(result);
    chart.series.push_back(std::move(series));
  }
  return chart.series.empty() ? "" : line_chart(chart);
}

std::string classes_section(const evaluate::Evaluation& evaluation) {
  if (evaluation.classes.empty()) return "";
  std::string rows;
  for (const auto& result : evaluation.classes) rows += class_row(result);
  return fmt::format(
      "<section><h2>Classes</h2><div class=\"scroll card\"><table class=\"classes\"><thead><tr><th "
      "scope=\"col\">class</th>"
      "<th scope=\"col\">objects</th><th scope=\"col\">AP</th><th scope=\"col\">AP50</th><th "
      "scope=\"col\">AP75</th>"
      "<th scope=\"col\">AP50:95</th><th scope=\"col\">precision</th><th scope=\"col\">recall</th>"
      "<th scope=\"col\">F1</th></tr></thead><tbody>\n{}</tbody></table></div>"
      "<p class=\"small\">AP: {}, {} matching, at the overlap that the spec asks for. Precision, recall and "
      "F1 count detections of confidence {} or "
      "more "
      "(the rings in the chart).</p></section>\n",
      rows, mode_text(evaluation.options.mode),
      evaluation.options.reference_matching ? "the reference's" : "COCO's",
      short_number(evaluation.confusion_threshold));
}

std::string confusion_section(const evaluate::Evaluation& evaluation) {
  const std::size_t n = evaluation.confusion.size();
  if (n < 2) return "";
  const auto name = [&](std::size_t i) {
    return i + 1 < n ? escaped(evaluation.classes[i].name) : std::string("<i>nothing</i>");
  };
  std::string head = "<tr><th></th>";
  for (std::size_t c = 0; c < n; ++c) head += fmt::format("<th scope=\"col\">{}</th>", name(c));
  head += "</tr>";
  std::string rows;
  for (std::size_t r = 0; r < n; ++r) {
    const auto& counts = evaluation.confusion[r];
    const std::int64_t sum = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    rows += fmt::format("<tr><th scope=\"row\">{}</th>", name(r));
    for (std::size_t c = 0; c < n; ++c) {
      if (r + 1 == n && c + 1 == n) {
        rows += "<td></td>";
        continue;
      }
      const double share = sum > 0 ? static_cast<double>(counts[c]) / static_cast<double>(sum) : 0;
      rows += fmt::format("<td class=\"{}\" style=\"--share:{:.0f}%\"><b>{}</b><span>{}</span></td>",
                          r == c ? "heat right" : "heat wrong", 100 * share, grouped(counts[c]),
                          sum > 0 ? percent(share) : "");
    }
    rows += "</tr>\n";
  }
  return fmt::format(
      "<section><h2>What was taken for what</h2><div class=\"scroll card\"><table class=\"confusion\">"
      "<caption>rows: what is there &middot; columns: what was "
      "found</caption><thead>{}</thead><tbody>\n{}</tbody></table>"
      "</div><p class=\"small\">IoU 0.5 or more, confidence {} or more; shares are of the row. The last "
      "column counts missed "
      "objects, the last row false alarms.</p></section>\n",
      head, rows, short_number(evaluation.confusion_threshold));
}

std::string facts_section(const Report& report) {
  std::string groups;
  for (const FactGroup& group : report.facts) {
    std::string items;
    for (const Fact& fact : group.facts) {
      items += fmt::format("<dt>{}</dt><dd>{}</dd>", escaped(fact.name), escaped(fact.value));
    }
    groups += fmt::format("<div class=\"card\"><h3>{}</h3><dl>{}</dl></div>\n", escaped(group.title), items);
  }
  std::string html;
  if (!groups.empty())
    html += "<section><h2>Facts</h2><div class=\"facts\">\n" + groups + "</div></section>\n";
  if (!report.spec_text.empty()) {
    html += fmt::format(
        "<section><details class=\"card\"><summary>The effective "
        "spec</summary><pre>{}</pre></details></section>\n",
        escaped(report.spec_text));
  }
  return html;
}

}  // namespace maskfit::report
