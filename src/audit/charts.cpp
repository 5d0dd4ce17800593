#include "audit/charts.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "report/chart.h"
#include "report/html.h"

namespace maskfit::audit {
namespace {

constexpr double kWidth = 480, kHeight = 260, kLeft = 54, kRight = 12, kTop = 18, kBottom = 42;

struct Scale {
  double step = 0;  // width of a bin
  double top = 1;   // the count at the upper edge

  double x(double edge) const { return kLeft + edge * step; }
  double y(double count) const { return kHeight - kBottom - count / top * (kHeight - kTop - kBottom); }
};

std::string frame_of(const Histogram& chart, const Scale& scale, const std::vector<double>& ticks) {
  std::string svg;
  for (const double tick : ticks) {
    svg += fmt::format(
        R"(<line class="grid" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/><text class="tick" text-anchor="end" x="{}" y="{:.1f}">{}</text>)",
        kLeft, kWidth - kRight, scale.y(tick), scale.y(tick), kLeft - 6, scale.y(tick) + 4,
        report::grouped(static_cast<long long>(tick)));
  }
  // Labels of about 40 units each must not meet.
  const std::size_t every = std::max<std::size_t>(1, static_cast<std::size_t>(40 / scale.step + 0.999));
  for (std::size_t e = 0; e < chart.edges.size(); e += every) {
    svg +=
        fmt::format(R"(<text class="tick" text-anchor="middle" x="{:.1f}" y="{:.1f}">{}</text>)",
                    scale.x(static_cast<double>(e)), kHeight - kBottom + 17, report::escaped(chart.edges[e]));
  }
  return svg + fmt::format(R"(<text class="label" text-anchor="middle" x="{:.1f}" y="{:.1f}">{}</text>)",
                           (kLeft + kWidth - kRight) / 2, kHeight - 6, report::escaped(chart.x_label));
}

std::string bars_of(const Histogram& chart, const Scale& scale) {
  std::string svg;
  std::vector<double> below(chart.edges.size() - 1, 0);
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    svg += fmt::format("<g class=\"s{} bars\">", s % 8);
    for (std::size_t bin = 0; bin < below.size(); ++bin) {
      const auto count = static_cast<double>(chart.series[s].counts[bin]);
      if (count == 0) continue;
      svg += fmt::format(
          R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"><title>{}, {} to {}: {}</title></rect>)",
          scale.x(static_cast<double>(bin)) + 0.5, scale.y(below[bin] + count), std::max(0.5, scale.step - 1),
          scale.y(below[bin]) - scale.y(below[bin] + count), report::escaped(chart.series[s].name),
          report::escaped(chart.edges[bin]), report::escaped(chart.edges[bin + 1]),
          report::grouped(chart.series[s].counts[bin]));
      below[bin] += count;
    }
    svg += "</g>";
  }
  return svg;
}

std::string legend_of(const Histogram& chart) {
  if (chart.series.size() < 2) return "";
  std::string items;
  for (std::size_t s = 0; s < chart.series.size(); ++s)
    items += fmt::format("<li class=\"s{}\">{}</li>", s % 8, report::escaped(chart.series[s].name));
  return "<ul class=\"legend\">" + items + "</ul>";
}

}  // namespace

std::string histogram(const Histogram& chart) {
  MASKFIT_CHECK(chart.edges.size() >= 2, "edges={}", chart.edges.size());
  const std::size_t bins = chart.edges.size() - 1;
  double most = 0;
  for (std::size_t bin = 0; bin < bins; ++bin) {
    double sum = 0;
    for (const BarSeries& series : chart.series) {
      MASKFIT_CHECK(series.counts.size() == bins, "{} counts, {} bins", series.counts.size(), bins);
      sum += static_cast<double>(series.counts[bin]);
    }
    most = std::max(most, sum);
  }
  const std::vector<double> ticks = report::nice_ticks(0, std::max(most, 1.0), 4);
  const Scale scale{(kWidth - kLeft - kRight) / static_cast<double>(bins),
                    std::max({most, ticks.back(), 1.0})};
  std::string svg = frame_of(chart, scale, ticks) + bars_of(chart, scale);
  if (chart.marked_edge >= 0) {
    const double x = scale.x(chart.marked_edge);
    // On the side of the line that has more room, where bars are lower as a rule.
    const bool left = x - kLeft > 110;
    svg += fmt::format(
        R"(<line class="limit" x1="{0:.1f}" x2="{0:.1f}" y1="{1}" y2="{2}"/><text class="tick" text-anchor="{3}" x="{4:.1f}" y="{5}">{6}</text>)",
        x, kTop - 6, kHeight - kBottom, left ? "end" : "start", left ? x - 5 : x + 5, kTop + 2,
        report::escaped(chart.mark));
  }
  return fmt::format(
      "<figure class=\"chart card\"><figcaption>{}</figcaption>{}<svg viewBox=\"0 0 {} {}\" role=\"img\" "
      "aria-label=\"{}\">{}</svg></figure>\n",
      report::escaped(chart.title), legend_of(chart), kWidth, kHeight, report::escaped(chart.title), svg);
}

std::string heat_map(const HeatMap& map) {
  constexpr double kMapWidth = 320, kMapHeight = 240;
  const std::int64_t most = std::max<std::int64_t>(
      1, map.counts.empty() ? 1 : *std::max_element(map.counts.begin(), map.counts.end()));
  const double width = kMapWidth / map.columns, height = kMapHeight / map.rows;
  std::string svg;
  for (int y = 0; y < map.rows; ++y) {
    for (int x = 0; x < map.columns; ++x) {
      const std::int64_t count = map.counts[static_cast<std::size_t>(y) * map.columns + x];
      if (count == 0) continue;
      // A little overlap, or thin lines show between the cells.
      svg += fmt::format(R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" opacity="{:.2f}"/>)",
                         x * width, y * height, width + 0.4, height + 0.4,
                         static_cast<double>(count) / static_cast<double>(most));
    }
  }
  return fmt::format(
      "<figure class=\"heatmap card\"><figcaption>{}</figcaption><svg viewBox=\"0 0 {} {}\" role=\"img\" "
      "aria-label=\"{}\"><rect class=\"ground\" width=\"{}\" height=\"{}\"/>{}</svg><p "
      "class=\"small\">darkest: {} "
      "boxes</p></figure>\n",
      report::escaped(map.title), kMapWidth, kMapHeight, report::escaped(map.title), kMapWidth, kMapHeight,
      svg, report::grouped(most));
}

}  // namespace maskfit::audit
