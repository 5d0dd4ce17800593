#include "export/sensitivity.h"

#include <gtest/gtest.h>

#include "export/test_bundle.h"

namespace maskfit::exporting {
namespace {

TEST(LayerSensitivity, TheLayerWithTheCoarsestInputComesFirst) {
  const ExportedModel folded = test_model({.fold = true});
  BundleRequest request = test_request(Precision::kInt8);
  request.scales.at("block_3a_relu_1") *= 40;  // what block_3a_conv_2 reads: a few steps are left of it
  std::size_t calls = 0;
  const auto ranked = layer_sensitivity(folded.model, request.scales, test_pictures(2),
                                        [&](std::size_t, std::size_t) { ++calls; });
  EXPECT_EQ(calls, ranked.size());
  EXPECT_EQ(ranked.front().layer, "block_3a_conv_2");
  for (std::size_t i = 1; i < ranked.size(); ++i) EXPECT_GE(ranked[i - 1].harm(), ranked[i].harm());
}

}  // namespace
}  // namespace maskfit::exporting
