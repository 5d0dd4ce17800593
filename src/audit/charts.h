#pragma once

// Histograms and heat maps as inline SVG, in the colours of the page's style.

#include <cstdint>
#include <string>
#include <vector>

namespace maskfit::audit {

struct BarSeries {
  std::string name;
  std::vector<std::int64_t> counts;  // one a bin
};

// Stacked bars over bins whose edges are labelled: edges.size() = bins + 1.
struct Histogram {
  std::string title;
  std::string x_label;
  std::vector<std::string> edges;
  std::vector<BarSeries> series;
  // A line between two bins with a word beside it; -1: none.
  int marked_edge = -1;
  std::string mark;
};
std::string histogram(const Histogram& chart);

// How often each cell of a picture lies inside a box: counts [rows][columns], drawn on 4:3.
struct HeatMap {
  std::string title;
  int columns = 0, rows = 0;
  std::vector<std::int64_t> counts;
};
std::string heat_map(const HeatMap& map);

}  // namespace maskfit::audit
