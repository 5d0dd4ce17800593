#include "loader/realise.h"

#include "augment/apply.h"

namespace maskfit::loader {

PixelBatch realise(const BatchPlan& batch, const PictureSet& pictures) {
  const image::Size size = pictures.canvas_size();
  PixelBatch pixels{.count = static_cast<int>(batch.plans.size()),
                    .channels = pictures.channels(),
                    .height = size.height,
                    .width = size.width,
                    .values = {}};
  const std::size_t picture_floats = static_cast<std::size_t>(pixels.channels) * size.width * size.height;
  pixels.values.resize(picture_floats * batch.plans.size());
  for (std::size_t i = 0; i < batch.plans.size(); ++i) {
    std::vector<std::shared_ptr<const image::Image>> canvases;  // holds decoded pictures while they are read
    std::vector<const image::Image*> sources;
    for (const augment::Tile& tile : batch.plans[i].tiles) {
      canvases.push_back(pictures.canvas(tile.sample));
      sources.push_back(canvases.back().get());
    }
    augment::apply(batch.plans[i], sources, size, pixels.values.data() + i * picture_floats);
  }
  return pixels;
}

}  // namespace maskfit::loader
