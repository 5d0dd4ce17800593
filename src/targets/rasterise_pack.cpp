#include "base/error.h"
#include "targets/rasterise.h"
#include "targets/rasterise_cuda.h"

namespace maskfit::targets {

PackedTruths pack_truths(std::span<const boxes::Truths> truths_in_network, int classes) {
  PackedTruths packed;
  packed.plane_begin.push_back(0);
  packed.ignored_begin.push_back(0);
  for (const boxes::Truths& truths : truths_in_network) {
    const std::vector<boxes::Truth> order = drawing_order(truths);
    auto next = order.begin();
    for (int c = 0; c < classes; ++c) {
      for (; next != order.end() && next->class_index == c; ++next) packed.boxes.push_back(next->box);
      packed.plane_begin.push_back(static_cast<std::int32_t>(packed.boxes.size()));
    }
    MASKFIT_CHECK(next == order.end(), "class_index={} classes={}", next->class_index, classes);
    for (const boxes::Truth& truth : truths) {
      if (truth.ignore) packed.ignored.push_back(truth.box);
    }
    packed.ignored_begin.push_back(static_cast<std::int32_t>(packed.ignored.size()));
  }
  return packed;
}

}  // namespace maskfit::targets
