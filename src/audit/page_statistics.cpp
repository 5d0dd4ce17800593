#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "audit/charts.h"
#include "audit/page_parts.h"
#include "report/html.h"

namespace maskfit::audit {
namespace {

using report::escaped;

// Calls body(sample, box, class's place) for every object of a known class.
template <typename Body>
void each_object(const dataset::Dataset& data, const Body& body) {
  for (const dataset::Sample& sample : data.samples) {
    for (const dataset::LabeledBox& box : sample.boxes) {
      if (box.ignore) continue;
      const auto found = std::find(data.class_names.begin(), data.class_names.end(), box.class_name);
      if (found != data.class_names.end())
        body(sample, box, static_cast<std::size_t>(found - data.class_names.begin()));
    }
  }
}

// Bins between ascending edges; what lies outside counts in the first or the last.
std::size_t bin_of(double value, const std::vector<double>& edges) {
  const auto above = std::upper_bound(edges.begin(), edges.end(), value);
  const auto bin =
      std::clamp<std::ptrdiff_t>(above - edges.begin() - 1, 0, static_cast<std::ptrdiff_t>(edges.size()) - 2);
  return static_cast<std::size_t>(bin);
}

Histogram by_class(const dataset::Dataset& data, const std::string& title, const std::string& x_label,
                   const std::vector<double>& edges,
                   const std::function<double(const dataset::Sample&, const boxes::Box&)>& value) {
  Histogram chart{title, x_label, {}, {}, -1, ""};
  for (const double edge : edges) chart.edges.push_back(report::short_number(edge));
  for (const std::string& name : data.class_names)
    chart.series.push_back({name, std::vector<std::int64_t>(edges.size() - 1, 0)});
  each_object(data, [&](const dataset::Sample& sample, const dataset::LabeledBox& box, std::size_t c) {
    ++chart.series[c].counts[bin_of(value(sample, box.box_in_image), edges)];
  });
  return chart;
}

std::string box_sizes(const Audit& audit, const dataset::Dataset& data) {
  const NetworkView& network = audit.network;
  const std::vector<double> edges = {2, 4, 6, 8, 11, 16, 23, 32, 45, 64, 91, 128, 181, 256, 362, 512, 724};
  Histogram chart = by_class(
      data,
      fmt::format("Shorter side of boxes on the network's {} x {}", network.input.width,
                  network.input.height),
      "pixels of the network's input", edges, [&](const dataset::Sample& sample, const boxes::Box& box) {
        const auto placement = image::place({sample.width, sample.height}, network.input, network.canvas);
        const boxes::Box b =
            boxes::clip(image::canvas_from_image(box, placement), static_cast<float>(network.input.width),
                        static_cast<float>(network.input.height));
        return std::min(b.width(), b.height());
      });
  const auto at = std::lower_bound(edges.begin(), edges.end(), network.stride);
  if (at != edges.end()) {
    chart.marked_edge = static_cast<int>(at - edges.begin());
    chart.mark = fmt::format("one cell: {} px", network.stride);
  }
  return histogram(chart);
}

std::string box_shapes(const dataset::Dataset& data) {
  std::vector<double> edges;
  for (int i = 0; i <= 20; ++i) edges.push_back(0.4 + 0.1 * i);
  return histogram(by_class(data, "Shape of boxes", "height over width", edges,
                            [](const dataset::Sample&, const boxes::Box& box) {
                              return box.width() > 0 ? static_cast<double>(box.height() / box.width()) : 0.0;
                            }));
}

std::string box_counts(const dataset::Dataset& data) {
  Histogram chart{
      "Boxes on a picture", "boxes", {}, {{"pictures", std::vector<std::int64_t>(21, 0)}}, -1, ""};
  for (int i = 0; i <= 20; ++i) chart.edges.push_back(std::to_string(i));
  chart.edges.push_back("more");
  for (const dataset::Sample& sample : data.samples)
    ++chart.series[0].counts[std::min<std::size_t>(20, sample.boxes.size())];
  return histogram(chart);
}

std::string picture_sizes(const dataset::Dataset& data) {
  const std::vector<double> edges = {0,   128, 192,  256,  320,  384,  448,  512,
                                     640, 768, 1024, 1280, 1920, 2560, 3840, 7680};
  Histogram chart{"Longer side of pictures",
                  "pixels",
                  {},
                  {{"pictures", std::vector<std::int64_t>(edges.size() - 1, 0)}},
                  -1,
                  ""};
  for (const double edge : edges) chart.edges.push_back(report::short_number(edge));
  for (const dataset::Sample& sample : data.samples)
    ++chart.series[0].counts[bin_of(std::max(sample.width, sample.height), edges)];
  return histogram(chart);
}

std::string heat_maps(const dataset::Dataset& data) {
  constexpr int kColumns = 40, kRows = 30;
  std::vector<HeatMap> maps;
  for (const std::string& name : data.class_names)
    maps.push_back(
        {"Where boxes lie: " + name, kColumns, kRows, std::vector<std::int64_t>(kColumns * kRows, 0)});
  each_object(data, [&](const dataset::Sample& sample, const dataset::LabeledBox& box, std::size_t c) {
    const boxes::Box cells =
        boxes::scale(box.box_in_image, static_cast<float>(kColumns) / static_cast<float>(sample.width),
                     static_cast<float>(kRows) / static_cast<float>(sample.height));
    const boxes::Box inside = boxes::clip(cells, kColumns, kRows);
    // A cell counts when its centre lies inside.
    for (int y = static_cast<int>(std::ceil(inside.y1 - 0.5f)); y + 0.5f < inside.y2; ++y) {
      for (int x = static_cast<int>(std::ceil(inside.x1 - 0.5f)); x + 0.5f < inside.x2; ++x)
        ++maps[c].counts[static_cast<std::size_t>(y) * kColumns + x];
    }
  });
  std::string html;
  for (const HeatMap& map : maps) html += heat_map(map);
  return html;
}

// Pictures and boxes of each source in each split.
std::string source_table(const Audit& audit, const dataset::Dataset& data) {
  struct Row {
    std::map<std::string, std::int64_t> pictures, boxes;
  };
  std::vector<Row> rows(audit.sources.names.size());
  for (std::size_t i = 0; i < data.samples.size(); ++i) {
    Row& row = rows[audit.sources.of_sample[i]];
    ++row.pictures[data.samples[i].split];
    for (const dataset::LabeledBox& box : data.samples[i].boxes)
      ++row.boxes[box.ignore ? "" : box.class_name];
  }
  const auto cell = [](const std::map<std::string, std::int64_t>& counts, const std::string& key) {
    const auto found = counts.find(key);
    return fmt::format("<td>{}</td>", found == counts.end() ? "0" : report::grouped(found->second));
  };
  std::string head = "<th>source</th><th>train</th><th>val</th><th>test</th>";
  for (const std::string& name : data.class_names) head += fmt::format("<th>{}</th>", escaped(name));
  head += "<th>ignored</th>";
  std::string body;
  for (std::size_t s = 0; s < rows.size(); ++s) {
    body += fmt::format("<tr><th>{}</th>", escaped(audit.sources.names[s]));
    for (const char* split : {"train", "val", "test"}) body += cell(rows[s].pictures, split);
    for (const std::string& name : data.class_names) body += cell(rows[s].boxes, name);
    body += cell(rows[s].boxes, "") + "</tr>";
  }
  return fmt::format(
      "<div class=\"card scroll\"><table class=\"classes\"><caption>Pictures of each split and boxes of each "
      "class, by "
      "source ({})</caption><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>\n",
      escaped(audit.sources.decision), head, body);
}

}  // namespace

std::string statistics_section(const Audit& audit, const dataset::Dataset& data) {
  return "<section><h2>What is in it</h2>\n" + source_table(audit, data) + "<div class=\"charts spaced\">\n" +
         box_sizes(audit, data) + box_shapes(data) + box_counts(data) + picture_sizes(data) +
         "</div>\n<div class=\"heatmaps spaced\">\n" + heat_maps(data) + "</div></section>\n";
}

}  // namespace maskfit::audit
