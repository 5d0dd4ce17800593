#pragma once

// An exponential moving average of weights and moving statistics: what is validated and saved in its stead.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "network/network.h"
#include "tensor/tensor_fwd.h"

namespace maskfit::train {

// a <- d a + (1 - d) w with d = decay (1 - exp(-step / r)), r = 0.1 / (1 - decay): the first steps are
// forgotten quickly, in a tenth of the time that the average spans.
class WeightAverage {
 public:
  static constexpr const char* kPrefix = "average/";
  // names and tensors: parameters and buffers of a detector. Begins as a copy. decay 0: never averages.
  WeightAverage(std::vector<std::string> names, std::vector<at::Tensor> tensors, double decay);
  ~WeightAverage();
  WeightAverage(WeightAverage&&) noexcept;
  WeightAverage& operator=(WeightAverage&&) noexcept;

  bool enabled() const;
  // After the optimiser's step; `step` finished steps.
  void update(std::int64_t step);
  // For an update that somebody else computes: a <- a + weight(step) (w - a), in the order of the
  // constructor's tensors; empty with decay 0.
  double weight(std::int64_t step) const;
  std::vector<at::Tensor> averages() const;

  // While it lives, the detector holds the average (with decay 0: what it held).
  class InUse {
   public:
    explicit InUse(WeightAverage& average) : average_(average) { average_.exchange(); }
    ~InUse() { average_.exchange(); }
    InUse(const InUse&) = delete;
    InUse& operator=(const InUse&) = delete;

   private:
    WeightAverage& average_;
  };

  // For checkpoints: "average/<name>"; empty with decay 0.
  std::map<std::string, at::Tensor> tensors() const;
  // Throws base::Error (kRefused) naming an array that is missing or of another shape.
  void set_state(const std::map<std::string, network::Array>& arrays);

 private:
  void exchange();

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace maskfit::train
