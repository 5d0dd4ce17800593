// How pictures and boxes fit the network that is about to be trained.

#include <fmt/format.h>

#include <algorithm>

#include "audit/study.h"

namespace maskfit::audit {
namespace {

constexpr double kStretched = 1.5;       // change of the ratio of width to height
constexpr double kManyStretched = 0.05;  // share of the pictures from which on it is said
constexpr double kManyBelow = 0.02;      // share of the boxes

}  // namespace

void check_network(const Study& study, Issues* issues) {
  const NetworkView& network = study.options.network;
  std::vector<Example> small, stretched;
  std::size_t boxes = 0;
  for (std::uint32_t i = 0; i < study.size(); ++i) {
    const dataset::Sample& sample = study.sample(i);
    const image::Placement placement =
        image::place({sample.width, sample.height}, network.input, network.canvas);
    Example example;
    example.samples = {i};
    for (std::uint32_t b = 0; b < sample.boxes.size(); ++b) {
      if (sample.boxes[b].ignore) continue;
      ++boxes;
      const boxes::Box box_in_network = image::canvas_from_image(sample.boxes[b].box_in_image, placement);
      const float side = std::min(box_in_network.width(), box_in_network.height());
      if (side >= static_cast<float>(network.stride) || side <= 0) continue;
      example.boxes.push_back(b);
      example.rank = std::max(example.rank, 1.0 / side);
      example.text = fmt::format("{} under {} pixels on the network's {} x {}", example.boxes.size(),
                                 network.stride, network.input.width, network.input.height);
    }
    if (!example.boxes.empty()) small.push_back(example);
    const double change =
        std::max(placement.scale_x / placement.scale_y, placement.scale_y / placement.scale_x);
    if (change >= kStretched) {
      Example distorted;
      distorted.samples = {i};
      distorted.text = fmt::format("{} x {}, stretched {:.2f} to 1", sample.width, sample.height, change);
      distorted.rank = change;
      stretched.push_back(std::move(distorted));
    }
  }
  std::size_t below = 0;
  for (const Example& example : small) below += example.boxes.size();
  if (static_cast<double>(below) > kManyBelow * static_cast<double>(boxes)) {
    for (Example& example : small) issues->add(Kind::kBoxBelowStride, std::move(example));
  }
  if (static_cast<double>(stretched.size()) > kManyStretched * study.size()) {
    for (Example& example : stretched) issues->add(Kind::kAspectStretched, std::move(example));
  }
}

}  // namespace maskfit::audit
