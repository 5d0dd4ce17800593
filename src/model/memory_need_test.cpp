#include "model/memory_need.h"

#include <gtest/gtest.h>

#include "network/backbones.h"

namespace maskfit::model {
namespace {

// conv 3 -> 4, batch norm, ReLU, and two heads, on 8 x 8 pixels: small enough to count by hand.
network::Network small_network() {
  network::Network net;
  net.name = "small";
  net.input = {3, 8, 8};
  const auto conv = [](std::string name, std::string input, int channels) {
    return network::Node{.name = std::move(name),
                         .op = network::Op::kConv,
                         .inputs = {std::move(input)},
                         .out_channels = channels,
                         .kernel = 1};
  };
  net.nodes = {{.name = "in", .op = network::Op::kInput},
               conv("conv", "in", 4),
               {.name = "bn", .op = network::Op::kBatchNorm, .inputs = {"conv"}},
               {.name = "relu", .op = network::Op::kRelu, .inputs = {"bn"}},
               conv("bbox", "relu", 4),
               conv("cov", "relu", 1),
               {.name = "cov/Sigmoid", .op = network::Op::kSigmoid, .inputs = {"cov"}}};
  net.outputs = {"bbox", "cov/Sigmoid"};
  return net;
}

TEST(MemoryNeed, TrainingKeepsWhatTheBackwardPassReads) {
  const MemoryNeed need = training_memory(small_network(), Precision::kFloat32);
  // The input, the convolution's value (the batch norm reads it) and the ReLU's, and one gradient of 4 x 64.
  EXPECT_EQ(need.per_picture, 4.0 * 64 * (3 + 4 + 4 + 4));
  // 3 x 4 + 4, 4 x 4, 4 x 4 + 4, 4 + 1 numbers; three times.
  EXPECT_EQ(need.fixed, 3.0 * 4 * (16 + 16 + 20 + 5));
}

TEST(MemoryNeed, HalfPrecisionHalvesAllButTheInput) {
  EXPECT_EQ(training_memory(small_network(), Precision::kBfloat16).per_picture,
            64.0 * (4 * 3 + 2 * (4 + 4 + 4)));
}

TEST(MemoryNeed, InferenceKeepsOnlyWhatIsStillRead) {
  // Input and convolution at first: 7 channels; ReLU and both heads at the end: 4 + 4 + 1.
  const double per_picture = inference_memory(small_network(), Precision::kFloat32).per_picture;
  EXPECT_GE(per_picture, 4.0 * 64 * 9);
  EXPECT_LE(per_picture, 4.0 * 64 * 10);
}

TEST(MemoryNeed, GrowsWithThePixelsAndNeverOverflows) {
  network::BackboneOptions options;
  options.backbone = "resnet10";
  options.input = {3, 64, 64};
  const double small = training_memory(network::make_detectnet(options), Precision::kFloat32).per_picture;
  options.input = {3, 16384, 16384};
  const double large = training_memory(network::make_detectnet(options), Precision::kFloat32).per_picture;
  EXPECT_NEAR(large / small, 256.0 * 256.0, 0.02 * 256 * 256);
}

TEST(MemoryNeed, LargestBatch) {
  const MemoryNeed need{100, 10};
  EXPECT_EQ(largest_batch(need, 135), 3);
  EXPECT_EQ(largest_batch(need, 109), 0);
  EXPECT_EQ(largest_batch(need, 50), 0);
}

}  // namespace
}  // namespace maskfit::model
