#include <ATen/ops/empty.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "tensor/array.h"
#include "tensor/device.h"
#include "tensor/version.h"

namespace maskfit::tensor {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename Body>
base::Error error_of(Body body) {
  try {
    body();
  } catch (const base::Error& error) {
    return error;
  }
  return {base::ExitCode::kDone, "nothing thrown"};
}

TEST(DeviceTest, CpuIsAlwaysThere) {
  EXPECT_TRUE(device_from_name("cpu").is_cpu());
}

TEST(DeviceTest, OtherNamesAreAUsageError) {
  for (const char* name : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda1", "CPU"}) {
    EXPECT_EQ(error_of([&] { device_from_name(name); }).code(), base::ExitCode::kUsage) << name;
  }
}

TEST(DeviceTest, GpuThatIsNotThereIsTheMachinesFault) {
  const std::string beyond = "cuda:" + std::to_string(gpu_count() + 100 > 127 ? 127 : gpu_count() + 100);
  const base::Error error = error_of([&] { device_from_name(beyond); });
  EXPECT_EQ(error.code(), base::ExitCode::kMachine);
  EXPECT_FALSE(error.hint().empty());
}

TEST(DeviceTest, CpuNeedsNoSynchronising) {
  EXPECT_NO_THROW(synchronise(c10::Device(c10::kCPU)));
}

TEST(ArrayTest, ValuesSurviveTheRoundTrip) {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const at::Tensor tensor = from_values(values, {2, 3});
  EXPECT_EQ(to_values(tensor), values);
  EXPECT_THAT(to_values(tensor.t()), ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(to_values(tensor.to(at::kBFloat16)), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(ArrayTest, ChannelsLastGivesItsLogicalOrder) {
  std::vector<float> values(2 * 3 * 2 * 2);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  EXPECT_EQ(to_values(from_values(values, {2, 3, 2, 2}).contiguous(at::MemoryFormat::ChannelsLast)), values);
}

TEST(ArrayTest, TooFewValuesAreOurMistake) {
  const std::vector<float> values = {1, 2, 3};
  EXPECT_THROW(from_values(values, {2, 2}), base::CheckFailed);
}

TEST(ArrayTest, TheTensorIsACopy) {
  std::vector<float> values = {1, 2};
  const at::Tensor tensor = from_values(values, {2});
  values[0] = 9;
  EXPECT_THAT(to_values(tensor), ElementsAre(1, 2));
}

TEST(ArrayTest, NumberIsASingleElement) {
  const std::vector<float> one = {2.5f}, two = {1, 2};
  EXPECT_EQ(to_number(from_values(one, {})), 2.5);
  EXPECT_EQ(to_number(from_values(one, {1, 1})), 2.5);
  EXPECT_THROW(to_number(from_values(two, {2})), base::CheckFailed);
  EXPECT_THROW(to_number(at::Tensor()), base::CheckFailed);
}

TEST(ArrayTest, ShapeCheckNamesTensorAndBothShapes) {
  const std::vector<float> values = {1, 2, 3, 4};
  const at::Tensor tensor = from_values(values, {2, 2});
  EXPECT_NO_THROW(check_shape(tensor, {-1, 2}, "grid"));
  try {
    check_shape(tensor, {2, 3}, "grid");
    FAIL();
  } catch (const base::CheckFailed& error) {
    EXPECT_THAT(error.what(), HasSubstr("grid has the shape [2,2], expected [2,3]"));
  }
  EXPECT_THROW(check_shape(tensor, {2, 2, 1}, "grid"), base::CheckFailed);
  EXPECT_THROW(check_shape(at::Tensor(), {2}, "grid"), base::CheckFailed);
}

TEST(VersionTest, CopyAllConverts) {
  const std::vector<float> a = {1, 2}, b = {3};
  const std::vector<at::Tensor> sources = {from_values(a, {2}), from_values(b, {1})};
  const std::vector<at::Tensor> copies = {at::empty({2}, at::kBFloat16), at::empty({1}, at::kFloat)};
  copy_all(copies, sources);
  EXPECT_EQ(to_values(copies[0]), a);
  EXPECT_EQ(to_values(copies[1]), b);
  EXPECT_THROW(copy_all(copies, {sources[0]}), base::CheckFailed);
  EXPECT_NO_THROW(copy_all({}, {}));
}

TEST(VersionTest, ListOperationsActOnEveryTensor) {
  const std::vector<float> a = {1, 2}, b = {4}, target_a = {3, 2}, target_b = {0};
  const std::vector<at::Tensor> list = {from_values(a, {2}), from_values(b, {1})};
  lerp_all(list, {from_values(target_a, {2}), from_values(target_b, {1})}, 0.5);
  EXPECT_THAT(to_values(list[0]), ElementsAre(2, 2));
  EXPECT_THAT(to_values(list[1]), ElementsAre(2));
  const std::vector<float> half = {0.5f};
  scale_all(list, from_values(half, {}));
  EXPECT_THAT(to_values(list[1]), ElementsAre(1));
  EXPECT_NEAR(to_number(norm_of_all(list)), std::sqrt(3.0), 1e-6);
}

TEST(VersionTest, FiniteCheckSeesEveryTensorAndScalesAll) {
  const std::vector<float> good = {1, 2}, bad = {std::numeric_limits<float>::quiet_NaN(), 4};
  const std::vector<at::Tensor> finite = {from_values(good, {2})};
  EXPECT_TRUE(scale_all_and_check_finite(finite, 2));
  EXPECT_THAT(to_values(finite[0]), ElementsAre(2, 4));
  const std::vector<at::Tensor> infinite = {from_values(bad, {2}), from_values(good, {2})};
  EXPECT_FALSE(scale_all_and_check_finite(infinite, 2));
  EXPECT_EQ(to_values(infinite[0])[1], 8);
  EXPECT_THAT(to_values(infinite[1]), ElementsAre(2, 4));
}

}  // namespace
}  // namespace maskfit::tensor
