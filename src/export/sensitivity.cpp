#include "export/sensitivity.h"

#include <algorithm>
#include <cmath>

#include "export/quantise.h"

namespace maskfit::exporting {
namespace {

constexpr float kObject = 0.1f;

// Cells of one class's plane that say something about objects.
std::vector<std::size_t> cells_that_count(const Grids& grids) {
  std::vector<std::size_t> cells(grids.coverage.size());
  for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = i;
  const auto better = [&](std::size_t a, std::size_t b) { return grids.coverage[a] > grids.coverage[b]; };
  std::stable_sort(cells.begin(), cells.end(), better);
  const auto end =
      std::find_if(cells.begin(), cells.end(), [&](std::size_t i) { return grids.coverage[i] < kObject; });
  const auto objects = static_cast<std::size_t>(end - cells.begin());
  cells.resize(std::max(objects, std::max<std::size_t>(1, cells.size() / 100)));
  return cells;
}

void add_harm(const Grids& real, const Grids& integers, float box_scale, LayerSensitivity& sum) {
  const std::vector<std::size_t> cells = cells_that_count(real);
  const std::size_t plane = static_cast<std::size_t>(real.geometry.cells());
  double px = 0, coverage = 0;
  for (const std::size_t i : cells) {
    coverage += std::fabs(real.coverage[i] - integers.coverage[i]);
    for (std::size_t s = 0; s < 4; ++s) {
      const std::size_t at = (4 * (i / plane) + s) * plane + i % plane;
      px += std::fabs(real.box[at] - integers.box[at]) * box_scale / 4;
    }
  }
  sum.box_px += px / static_cast<double>(cells.size());
  sum.coverage += coverage / static_cast<double>(cells.size());
}

}  // namespace

std::vector<LayerSensitivity> layer_sensitivity(
    const network::Model& folded, const std::map<std::string, float>& scales, const PictureSource& pictures,
    const std::function<void(std::size_t done, std::size_t total)>& progress) {
  std::vector<std::vector<float>> pixels;
  for (std::int64_t i = 0; i < pictures.count; ++i) pixels.push_back(network_pixels(pictures.at(i).canvas));
  const std::vector<std::span<const float>> batch(pixels.begin(), pixels.end());
  ExportedModel exported{.model = folded, .precision = Precision::kFloat32, .quantisation = {}};
  const std::vector<Grids> real = Executor(exported).run(batch);
  exported.precision = Precision::kInt8;
  const std::vector<std::string> layers = convolutions_of(folded.network);
  std::vector<LayerSensitivity> result;
  for (const std::string& layer : layers) {
    std::set<std::string> others(layers.begin(), layers.end());
    others.erase(layer);
    exported.quantisation = place_quantisation(folded.network, scales, others);
    std::erase_if(exported.quantisation.edges, [&](const auto& edge) { return edge.first != layer; });
    const std::vector<Grids> integers = Executor(exported).run(batch);
    LayerSensitivity sum{layer, 0, 0};
    for (std::size_t i = 0; i < real.size(); ++i) add_harm(real[i], integers[i], folded.box_scale, sum);
    sum.box_px /= static_cast<double>(real.size());
    sum.coverage /= static_cast<double>(real.size());
    result.push_back(sum);
    if (progress) progress(result.size(), layers.size());
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const auto& a, const auto& b) { return a.harm() > b.harm(); });
  return result;
}

}  // namespace maskfit::exporting
