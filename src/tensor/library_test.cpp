#include "tensor/library.h"

#include <gtest/gtest.h>

namespace maskfit::tensor {
namespace {

TEST(ConfigValue, EndsAtCommaOrLine) {
  EXPECT_EQ(
      config_value("a\n  - CPU capability usage: AVX2\n  - USE_CUDA=OFF, X=1", "CPU capability usage: "),
      "AVX2");
  EXPECT_EQ(config_value("USE_CUDA=OFF, X=1", "USE_CUDA="), "OFF");
  EXPECT_EQ(config_value("X=1", "X="), "1");
}

TEST(ConfigValue, MissingKeyIsEmpty) {
  EXPECT_EQ(config_value("USE_CUDA=OFF", "USE_NCCL="), "");
}

// The fields come from the text of at::show_config(): this notices when a LibTorch words it differently.
TEST(LibraryFacts, AreFoundInThisLibrary) {
  const LibraryFacts facts = library_facts();
  EXPECT_TRUE(facts.version.starts_with("1.") || facts.version.starts_with("2.")) << facts.config;
  EXPECT_FALSE(facts.cpu_kernels.empty()) << facts.config;
  EXPECT_GE(facts.threads, 1);
  if (!facts.built_with_cuda) EXPECT_FALSE(facts.cuda_usable);
}

}  // namespace
}  // namespace maskfit::tensor
