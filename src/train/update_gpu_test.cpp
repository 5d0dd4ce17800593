// The kernels against the CPU functions that define them: more arrays than a launch takes, odd sizes, all
// kinds of gradients.

#include "train/update.h"

#include <gtest/gtest.h>

#ifdef MASKFIT_WITH_CUDA

#include <cuda_bf16.h>

#include <cmath>
#include <cstring>
#include <memory>

#include "base/rng.h"
#include "tests/support/device_array.h"

namespace maskfit::train {
namespace {

using support::DeviceArray;
using support::require;
using Floats = std::vector<float>;
using Small = std::vector<__nv_bfloat16>;

Small encode(const Floats& values) {
  Small small;
  for (const float v : values) small.push_back(__float2bfloat16(v));
  return small;
}
Floats decode(const Small& small) {
  Floats values;
  for (const __nv_bfloat16 v : small) values.push_back(__bfloat162float(v));
  return values;
}

Floats random(std::size_t count, std::uint64_t seed, float low, float high) {
  base::Rng rng(seed, base::Purpose::kTest);
  Floats values(count);
  for (float& v : values) v = rng.uniform(low, high);
  return decode(encode(values));
}

// An array on both sides.
struct Weights {
  Floats p, g, m, v, average, first_copy;
  bool small_gradient;
  DeviceArray<float> d_p, d_g, d_m, d_v, d_average;
  DeviceArray<__nv_bfloat16> d_small, d_copy;
  Weights(std::size_t n, std::uint64_t seed, bool small)
      : p(random(n, 5 * seed, -1, 1)),
        g(random(n, 5 * seed + 1, -0.1f, 0.1f)),
        m(random(n, 5 * seed + 2, -1, 1)),
        v(random(n, 5 * seed + 3, 0, 1)),
        average(random(n, 5 * seed + 4, -1, 1)),
        first_copy(g),
        small_gradient(small),
        d_p(p),
        d_g(g),
        d_m(m),
        d_v(v),
        d_average(average),
        d_small(encode(g)),
        d_copy(encode(g)) {}

  UpdateArray array(bool on_device, std::uint64_t kind) {
    UpdateArray a;
    a.n = static_cast<std::int64_t>(p.size());
    a.regularised = kind % 2 == 0;
    a.decays = kind % 3 == 0;
    const bool moves = kind % 5 != 4;
    a.parameter = on_device ? d_p.data() : p.data();
    a.average = on_device ? d_average.data() : average.data();
    if (!moves) return a;
    a.first = on_device ? d_m.data() : m.data();
    a.second = on_device ? d_v.data() : v.data();
    a.gradient = on_device ? (small_gradient ? static_cast<void*>(d_small.data()) : d_g.data()) : g.data();
    if (!on_device) return a;
    a.gradient_storage = small_gradient ? GradientStorage::kBfloat16 : GradientStorage::kFloat32;
    a.copy = d_copy.data();
    return a;
  }
};

void expect_near(const Floats& actual, const Floats& wanted) {
  ASSERT_EQ(actual.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i)
    ASSERT_NEAR(actual[i], wanted[i], 1e-5 + 1e-5 * std::abs(wanted[i]));
}

void compare(const UpdateRule& rule, float exponent, bool overflow, float norm_limit) {
  std::vector<std::unique_ptr<Weights>> weights;
  for (std::uint64_t i = 0; i < 95; ++i) {
    const std::size_t n = i == 7 ? 100003 : 1 + 131 * i % 9000;
    weights.push_back(std::make_unique<Weights>(n, i, i % 2 == 1));
  }
  if (overflow) {
    weights[3]->g[0] = INFINITY;
    require(cudaMemcpy(weights[3]->d_small.data(), encode({INFINITY}).data(), 2, cudaMemcpyHostToDevice));
  }
  std::vector<UpdateArray> on_host, on_device;
  for (std::uint64_t i = 0; i < weights.size(); ++i) {
    on_host.push_back(weights[i]->array(false, i));
    on_device.push_back(weights[i]->array(true, i));
  }
  UpdateState state;
  state.exponent = exponent;
  const StepScalars scalars{0.01f, 0.02f, 0.7f, 0.25f, norm_limit};
  const DeviceArray<UpdateState> d_state({state});
  const DeviceArray<float> task({1.5f}), numbers({-1, -1, -1});
  const DeviceArray<unsigned char> scratch(std::vector<unsigned char>(update_scratch_bytes(on_device), 0xff));
  ASSERT_EQ(set_step_scalars_cuda(d_state.data(), scalars, nullptr), nullptr);
  ASSERT_EQ(measure_update_cuda(on_device, rule, d_state.data(), task.data(), numbers.data(), scratch.data(),
                                nullptr),
            nullptr);
  ASSERT_EQ(apply_update_cuda(on_device, rule, d_state.data(), nullptr), nullptr);
  require(cudaDeviceSynchronize());

  state.scalars = scalars;
  state.unscale = std::exp2(-exponent);
  const float host_task = 1.5f;
  Floats host_numbers(3);
  measure_update_on_cpu(on_host, rule, &state, &host_task, host_numbers.data());
  apply_update_on_cpu(on_host, rule, state);
  const UpdateState after = d_state.to_host()[0];
  EXPECT_EQ(after.sick, state.sick);
  EXPECT_EQ(after.finite, state.finite);
  EXPECT_EQ(after.bad_steps, state.bad_steps);
  EXPECT_FLOAT_EQ(after.exponent, state.exponent);
  EXPECT_NEAR(after.shrink, state.shrink, 1e-5);
  if (state.sick == 0) expect_near(numbers.to_host(), host_numbers);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    SCOPED_TRACE(i);
    Weights& w = *weights[i];
    expect_near(w.d_p.to_host(), w.p);
    expect_near(w.d_m.to_host(), w.m);
    expect_near(w.d_v.to_host(), w.v);
    expect_near(w.d_average.to_host(), w.average);
    const bool moves = i % 5 != 4 && state.sick == 0;
    EXPECT_EQ(decode(w.d_copy.to_host()), decode(encode(moves ? w.d_p.to_host() : w.first_copy)));
  }
}

TEST(UpdateCuda, EqualsTheCpu) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) GTEST_SKIP() << "no CUDA device";
  UpdateRule rule;
  compare(rule, 0, false, 1e30f);
  compare(rule, 0, true, 1e30f);    // sick: not finite
  compare(rule, 0, false, 0.001f);  // sick: over the limit
  rule.penalty = Penalty::kL1;
  rule.penalty_weight = 0.01f;
  rule.decay = 0.3f;
  rule.max_norm = 0.5f;
  compare(rule, 0, false, 1e30f);
  rule.penalty = Penalty::kL2;
  rule.scaled = true;
  rule.increment = 0.005f;
  rule.decrement = 1;
  compare(rule, 3, false, 1e30f);
  compare(rule, 3, true, 1e30f);
}

}  // namespace
}  // namespace maskfit::train

#else

TEST(UpdateCuda, EqualsTheCpu) {
  GTEST_SKIP() << "built without CUDA (preset gpu has it)";
}

#endif
