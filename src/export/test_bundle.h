#pragma once

// A small bundle with pictures to compare on, for the tests of this folder. Included by tests only.

#include <memory>

#include "export/bundle.h"
#include "export/parity.h"
#include "export/test_model.h"
#include "export/verify.h"

namespace maskfit::exporting {

// Pictures of coloured noise; what the network finds there stands for the truth.
inline PictureSource test_pictures(std::int64_t count) {
  return {count, [](std::int64_t i) {
            Picture picture;
            picture.id = "noise-" + std::to_string(i);
            picture.canvas = {64, 48, 3, {}};
            base::Rng rng(static_cast<std::uint64_t>(100 + i), base::Purpose::kTest);
            // Channels of different brightness, so that swapping them shows.
            for (int p = 0; p < 64 * 48; ++p) {
              for (const int limit : {250, 120, 40}) {
                picture.canvas.pixels.push_back(static_cast<std::uint8_t>(rng.uniform_int(0, limit)));
              }
            }
            picture.content = {64, 48};
            picture.truths_in_network = {{{8, 8, 40, 40}, static_cast<int>(i % 2), false}};
            return picture;
          }};
}

inline BundleRequest test_request(Precision precision = Precision::kFloat32) {
  BundleRequest request;
  request.trained = test_model({.fold = false}).model;
  request.precision = precision;
  request.thresholds = {0.5f, 0.55f};
  request.threshold_source = "a test";
  if (precision == Precision::kInt8) {
    Executor(real_model(request))
        .run(test_pixels(1), 1, [&](const network::Node& node, std::span<const float> values) {
          float largest = 1e-6f;
          for (const float value : values) largest = std::max(largest, value < 0 ? -value : value);
          request.scales[node.name] = largest / 127;
        });
  }
  return request;
}

// The trained network, batch norms and all.
inline Forward test_trained(const network::Model& model) {
  const auto executor =
      std::make_shared<const Executor>(ExportedModel{.model = model, .precision = {}, .quantisation = {}});
  return [executor](const std::vector<std::span<const float>>& pictures) { return executor->run(pictures); };
}

}  // namespace maskfit::exporting
