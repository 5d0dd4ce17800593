// What the network is given: augmented pictures, and the grids that it is to answer with.

#include <algorithm>
#include <cmath>

#include "audit/sheets.h"
#include "base/error.h"
#include "image/draw.h"
#include "image/resize.h"
#include "loader/realise.h"

namespace maskfit::audit {
namespace {

using image::Image;

struct Shown {
  Image picture;  // the network's input
  boxes::Truths truths_in_network;
};

Image picture_of(const loader::PixelBatch& batch, int item) {
  Image picture{batch.width, batch.height, 3, {}};
  const std::size_t plane = static_cast<std::size_t>(batch.width) * batch.height;
  picture.pixels.resize(3 * plane);
  const float* values = batch.values.data() + plane * batch.channels * item;
  for (std::size_t i = 0; i < plane; ++i) {
    for (std::size_t c = 0; c < 3; ++c) {
      const float value = values[(batch.channels == 3 ? c : 0) * plane + i];
      picture.pixels[3 * i + c] = static_cast<std::uint8_t>(std::lround(255 * std::clamp(value, 0.0f, 1.0f)));
    }
  }
  return picture;
}

std::vector<Shown> first_pictures(const TrainingEyes& eyes, int wanted) {
  std::vector<Shown> shown;
  for (std::int64_t step = 0; step < eyes.planner.steps_per_epoch(); ++step) {
    const loader::BatchPlan plan = eyes.planner.plan(0, step);
    const loader::PixelBatch pixels = loader::realise(plan, eyes.pictures);
    for (int item = 0; item < pixels.count; ++item) {
      if (static_cast<int>(shown.size()) == wanted) return shown;
      shown.push_back({picture_of(pixels, item), plan.truths_in_network[item]});
    }
  }
  return shown;
}

Image small(const Image& picture, int side) {
  const double factor = static_cast<double>(side) / std::max(picture.width, picture.height);
  return image::resize_antialias(picture,
                                 {std::max(1, static_cast<int>(std::lround(picture.width * factor))),
                                  std::max(1, static_cast<int>(std::lround(picture.height * factor)))});
}

void draw_truths(const boxes::Truths& truths_in_network, float factor, Image* picture) {
  for (const boxes::Truth& truth : truths_in_network) {
    const image::Color color =
        truth.ignore ? image::Color{150, 150, 150} : image::class_color(truth.class_index);
    image::draw_box(*picture, boxes::scale(truth.box, factor, factor), color, truth.ignore ? 1 : 2);
  }
}

// Cells of the coverage grids laid over the picture, as strong as they are covered.
void lay_over(const targets::TargetGrids& grids, Image* picture) {
  constexpr float kGround = 0.35f;  // of the picture's light that is left, so that colours show
  const boxes::GridGeometry& g = grids.geometry;
  for (int y = 0; y < picture->height; ++y) {
    for (int x = 0; x < picture->width; ++x) {
      std::uint8_t* rgb = picture->row(y) + 3 * x;
      const float grey = kGround * (0.299f * rgb[0] + 0.587f * rgb[1] + 0.114f * rgb[2]);
      float color[3] = {grey, grey, grey};
      const int column = x * g.grid_width / picture->width, row = y * g.grid_height / picture->height;
      for (int c = 0; c < grids.classes; ++c) {
        const float covered =
            grids.coverage[static_cast<std::size_t>(c) * g.cells() + row * g.grid_width + column];
        const image::Color of_class = image::class_color(c);
        for (int k = 0; k < 3; ++k) color[k] += covered * 0.75f * of_class[k];
      }
      for (int k = 0; k < 3; ++k) rgb[k] = static_cast<std::uint8_t>(std::min(255.0f, color[k]));
    }
  }
}

Sheet laid_out(const std::string& name, const std::vector<Image>& tiles, const SheetOptions& options,
               image::Size input) {
  MASKFIT_CHECK(!tiles.empty(), "no picture for {}", name);
  const int columns = std::max(1, std::min(options.columns, static_cast<int>(tiles.size())));
  const image::Size tile =
      input.width >= input.height
          ? image::Size{options.tile_side, options.tile_side * input.height / input.width}
          : image::Size{options.tile_side * input.width / input.height, options.tile_side};
  return {name, image::contact_sheet(tiles, columns, tile)};
}

}  // namespace

Sheet sheet_of_augmented(const TrainingEyes& eyes, const SheetOptions& options) {
  std::vector<Image> tiles;
  for (const Shown& shown : first_pictures(eyes, options.tiles)) {
    Image tile = small(shown.picture, options.tile_side);
    draw_truths(shown.truths_in_network,
                static_cast<float>(tile.width) / static_cast<float>(shown.picture.width), &tile);
    tiles.push_back(std::move(tile));
  }
  return laid_out("augmented", tiles, options, eyes.pictures.canvas_size());
}

Sheet sheet_of_targets(const TrainingEyes& eyes, const SheetOptions& options) {
  std::vector<Image> tiles;
  for (const Shown& shown : first_pictures(eyes, options.tiles)) {
    boxes::Truths objects = shown.truths_in_network;
    std::erase_if(objects, [](const boxes::Truth& truth) { return truth.ignore; });
    Image tile = small(shown.picture, options.tile_side);
    lay_over(targets::rasterise(objects, eyes.shapes, eyes.geometry, eyes.coding), &tile);
    draw_truths(shown.truths_in_network,
                static_cast<float>(tile.width) / static_cast<float>(shown.picture.width), &tile);
    tiles.push_back(std::move(tile));
  }
  return laid_out("targets", tiles, options, eyes.pictures.canvas_size());
}

}  // namespace maskfit::audit
