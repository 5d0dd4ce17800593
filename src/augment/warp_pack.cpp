#include "augment/warp_cuda.h"
#include "base/error.h"

namespace maskfit::augment {
namespace {

WarpTile pack_tile(const Tile& tile, std::int64_t sample_count) {
  const Matrix3& m = tile.source_from_output;
  MASKFIT_CHECK(tile.sample >= 0 && tile.sample < sample_count, "sample={} of {}", tile.sample, sample_count);
  MASKFIT_CHECK(m[2] == 0 && m[5] == 0 && m[8] == 1, "third column {} {} {}", m[2], m[5], m[8]);
  const Rect& r = tile.output_rect;
  return {
      static_cast<std::int32_t>(tile.sample), {m[0], m[1], m[3], m[4], m[6], m[7]}, r.x1, r.y1, r.x2, r.y2};
}

}  // namespace

WarpBatch pack_plans(std::span<const Plan> plans, std::int64_t sample_count) {
  WarpBatch batch;
  for (const Plan& plan : plans) {
    WarpItem item;
    item.first_tile = static_cast<std::int32_t>(batch.tiles.size());
    item.tile_count = static_cast<std::int32_t>(plan.tiles.size());
    for (std::size_t row = 0; row < 4; ++row) {
      for (std::size_t c = 0; c < 3; ++c) item.color[row * 3 + c] = plan.color[row * 4 + c];
    }
    item.fill = plan.fill;
    batch.items.push_back(item);
    for (const Tile& tile : plan.tiles) batch.tiles.push_back(pack_tile(tile, sample_count));
  }
  return batch;
}

}  // namespace maskfit::augment
