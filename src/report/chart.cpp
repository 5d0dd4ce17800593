#include "report/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/html.h"

namespace maskfit::report {
namespace {

// Drawing area in SVG units; the page scales it to the card.
constexpr double kWidth = 480, kHeight = 280;
constexpr double kLeft = 60, kRight = 18, kTop = 10, kBottom = 42;
constexpr std::size_t kMaxPoints = 400;
constexpr int kColours = 8;

bool finite(const Point& point) {
  return std::isfinite(point.x) && std::isfinite(point.y);
}

// Maps values to the drawing area.
struct Axes {
  double x_low = 0, x_high = 1, y_low = 0, y_high = 1;
  bool log_y = false;
  std::vector<double> x_ticks, y_ticks;

  double x(double value) const {
    return kLeft + (value - x_low) / (x_high - x_low) * (kWidth - kLeft - kRight);
  }
  double y(double value) const {
    const double share =
        log_y ? (std::log10(value) - std::log10(y_low)) / (std::log10(y_high) - std::log10(y_low))
              : (value - y_low) / (y_high - y_low);
    return kHeight - kBottom - share * (kHeight - kTop - kBottom);
  }
  // A logarithmic axis cannot show 0.
  bool shows(const Point& point) const { return finite(point) && (!log_y || point.y > 0); }
};

struct Extent {
  double x_low = std::numeric_limits<double>::infinity(), x_high = -x_low;
  double y_low = x_low, y_high = -x_low;
  bool empty() const { return !(x_low <= x_high); }
};

Extent extent_of(const Chart& chart) {
  Extent extent;
  for (const Series& series : chart.series) {
    for (const Point& point : series.points) {
      if (!finite(point)) continue;
      extent.x_low = std::min(extent.x_low, point.x);
      extent.x_high = std::max(extent.x_high, point.x);
      extent.y_low = std::min(extent.y_low, point.y);
      extent.y_high = std::max(extent.y_high, point.y);
    }
  }
  return extent;
}

// Widens an interval that has no length, so that one value still has a place.
void widen(double* low, double* high) {
  if (*low < *high) return;
  const double half = *low == 0 ? 1 : std::abs(*low) * 0.5;
  *low -= half;
  *high += half;
}

Axes axes_of(const Chart& chart, const Extent& extent) {
  Axes axes;
  // From 0 where the values begin near it.
  axes.x_low = chart.square || (extent.x_low > 0 && extent.x_low < 0.25 * extent.x_high) ? 0 : extent.x_low;
  axes.x_high = chart.square ? 1 : extent.x_high;
  widen(&axes.x_low, &axes.x_high);
  axes.x_ticks = nice_ticks(axes.x_low, axes.x_high, 6);
  // The last step of a run lies just before its last epoch: let the axis end at the round number.
  if (axes.x_ticks.size() > 1) {
    const double next = 2 * axes.x_ticks.back() - axes.x_ticks[axes.x_ticks.size() - 2];
    if (next - axes.x_high < 0.01 * (axes.x_high - axes.x_low)) {
      axes.x_ticks.push_back(next);
      axes.x_high = next;
    }
  }
  axes.log_y = chart.may_be_logarithmic && extent.y_low > 0 && extent.y_high > 30 * extent.y_low;
  if (chart.unit_range) {
    axes.y_ticks = nice_ticks(0, 1, 5);
  } else if (axes.log_y) {
    axes.y_low = extent.y_low * 0.9;
    axes.y_high = extent.y_high * 1.1;
    axes.y_ticks = log_ticks(axes.y_low, axes.y_high);
  } else {
    axes.y_low = extent.y_low > 0 && extent.y_low < 0.7 * extent.y_high ? 0 : extent.y_low;
    axes.y_high = extent.y_high;
    widen(&axes.y_low, &axes.y_high);
    axes.y_ticks = nice_ticks(axes.y_low, axes.y_high, 5);
    // Up to the next round number.
    const double step =
        axes.y_ticks.size() > 1 ? axes.y_ticks[1] - axes.y_ticks[0] : axes.y_high - axes.y_low;
    if (axes.y_high > axes.y_ticks.back() + 0.05 * step) axes.y_ticks.push_back(axes.y_ticks.back() + step);
    axes.y_high = std::max(axes.y_high, axes.y_ticks.back());
  }
  return axes;
}

std::string grid_lines(const Chart& chart, const Axes& axes) {
  const double bottom = kHeight - kBottom;
  std::string svg;
  for (const double tick : axes.y_ticks) {
    const double y = axes.y(tick);
    svg += fmt::format(R"(<line class="grid" x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}"/>)", kLeft,
                       kWidth - kRight, y, y);
    svg += fmt::format(R"(<text class="tick" text-anchor="end" x="{:.1f}" y="{:.1f}">{}</text>)", kLeft - 6,
                       y + 4, short_number(tick));
  }
  for (const double tick : axes.x_ticks) {
    const double x = axes.x(tick);
    svg += fmt::format(R"(<line class="mark" x1="{0:.1f}" x2="{0:.1f}" y1="{1:.1f}" y2="{2:.1f}"/>)", x,
                       bottom, bottom + 4);
    svg += fmt::format(R"(<text class="tick" text-anchor="middle" x="{:.1f}" y="{:.1f}">{}</text>)", x,
                       bottom + 17, short_number(tick));
  }
  svg += fmt::format(R"(<line class="axis" x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}"/>)", kLeft,
                     kWidth - kRight, bottom, bottom);
  svg += fmt::format(R"(<text class="label" text-anchor="middle" x="{:.1f}" y="{:.1f}">{}</text>)",
                     (kLeft + kWidth - kRight) / 2, kHeight - 6, escaped(chart.x_label));
  return svg;
}

// One path with gaps, the points themselves when there are few, and the marker.
std::string series_svg(const Series& series, const Axes& axes, int colour) {
  const std::vector<Point> points = averaged(series.points, kMaxPoints);
  std::string path;
  std::string values;
  std::string dots;
  bool pen_down = false;
  for (const Point& point : points) {
    if (!axes.shows(point)) {
      pen_down = false;
      continue;
    }
    const double x = axes.x(point.x), y = axes.y(point.y);
    path += fmt::format("{}{:.1f} {:.1f}", pen_down ? 'L' : 'M', x, y);
    pen_down = true;
    values += fmt::format("{:.6g},{:.6g},{:.1f},{:.1f} ", point.x, point.y, x, y);
    if (points.size() <= 40)
      dots += fmt::format(R"(<circle class="dot" cx="{:.1f}" cy="{:.1f}" r="2.5"/>)", x, y);
  }
  if (series.marker && axes.shows(*series.marker)) {
    dots += fmt::format(R"(<circle class="marker" cx="{:.1f}" cy="{:.1f}" r="5"/>)", axes.x(series.marker->x),
                        axes.y(series.marker->y));
  }
  return fmt::format(R"(<g class="series s{}" data-name="{}" data-values="{}"><path d="{}"/>{}</g>)", colour,
                     escaped(series.name), values, path, dots);
}

std::string legend(const Chart& chart) {
  std::string html = R"(<ul class="legend">)";
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    html += fmt::format(R"(<li class="s{}">{}</li>)", i % kColours, escaped(chart.series[i].name));
  }
  return html + "</ul>";
}

}  // namespace

std::vector<double> nice_ticks(double low, double high, int wanted) {
  if (!(low < high) || !std::isfinite(low) || !std::isfinite(high) || wanted < 1) return {};
  const double rough = (high - low) / wanted;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = power * 10;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (rough <= factor * power * 1.0000001) {
      step = factor * power;
      break;
    }
  }
  std::vector<double> ticks;
  for (double k = std::ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k += 1) {
    ticks.push_back(k == 0 ? 0 : k * step);
  }
  return ticks;
}

std::vector<double> log_ticks(double low, double high) {
  const auto with_factors = [&](std::initializer_list<double> factors) {
    std::vector<double> ticks;
    for (double power = std::floor(std::log10(low)); power <= std::ceil(std::log10(high)); power += 1) {
      for (const double factor : factors) {
        const double tick = factor * std::pow(10, power);
        if (tick >= low * 0.999999 && tick <= high * 1.000001) ticks.push_back(tick);
      }
    }
    return ticks;
  };
  const std::vector<double> powers = with_factors({1});
  return powers.size() >= 3 ? powers : with_factors({1, 2, 5});
}

std::vector<Point> averaged(const std::vector<Point>& points, std::size_t n) {
  if (points.size() <= n) return points;
  std::vector<Point> means;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t begin = i * points.size() / n, end = (i + 1) * points.size() / n;
    Point mean;
    double count = 0;
    for (std::size_t k = begin; k < end; ++k) {
      if (!finite(points[k])) continue;
      mean.x += points[k].x;
      mean.y += points[k].y;
      count += 1;
    }
    // A run without a finite value stays a gap.
    means.push_back(count > 0 ? Point{mean.x / count, mean.y / count}
                              : Point{points[begin].x, std::numeric_limits<double>::quiet_NaN()});
  }
  return means;
}

std::string line_chart(const Chart& chart) {
  std::string html =
      fmt::format(R"(<figure class="chart card"><figcaption>{}</figcaption>)", escaped(chart.title));
  const Extent extent = extent_of(chart);
  if (extent.empty()) return html + R"(<p class="empty">No values yet.</p></figure>)" + "\n";
  const Axes axes = axes_of(chart, extent);
  if (chart.series.size() > 1) html += legend(chart);
  html += fmt::format(R"(<svg viewBox="0 0 {:g} {:g}" role="img" aria-label="{}" data-x="{}" data-y="{}">)",
                      kWidth, kHeight, escaped(chart.title), escaped(chart.x_label), escaped(chart.y_label));
  html += grid_lines(chart, axes);
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    html += series_svg(chart.series[i], axes, static_cast<int>(i % kColours));
  }
  if (axes.log_y) {
    html += fmt::format(R"(<text class="label" text-anchor="end" x="{:.1f}" y="{:.1f}">log scale</text>)",
                        kWidth - kRight, kTop + 8);
  }
  return html + "</svg></figure>\n";
}

}  // namespace maskfit::report
