#pragma once

// The numbers of steps that were taken but not looked at. Reading a number makes the host wait for the
// device, so on a GPU several steps are read together.

#include <cstdint>
#include <string>
#include <vector>

#include "loader/batch.h"
#include "tensor/tensor_fwd.h"
#include "train/observer.h"
#include "train/session.h"

namespace maskfit::train {

class StepQueue {
 public:
  StepQueue(Session& session, Observer& observer);
  ~StepQueue();

  // numbers: [3 + 2C] on the device: task cost, regularisation, gradient norm, then the mean costs. Returns a
  // scalar tensor, 1 where the step is sick and must not change the weights: a number is not finite, or the
  // gradient norm is over the monitor's limit. Does not wait.
  at::Tensor judge(const at::Tensor& numbers, const loader::BatchPlan& plan);

  // Notes a step that was judged elsewhere, with the norm's limit that it was judged by.
  void add(const at::Tensor& numbers, const loader::BatchPlan& plan, double norm_limit);

  // Waits for the device and notes all steps in the monitor, sick ones with the names of their pictures.
  // Throws base::Error (kFailed) when the training is lost.
  void read();

 private:
  struct Waiting;
  std::string names_of_all_ranks(const loader::BatchPlan& own) const;

  Session& s_;
  Observer& observer_;
  std::vector<Waiting> waiting_;
};

// "a, b, c and 21 more": the pictures of a batch.
std::string picture_names(const loader::BatchPlan& plan, const loader::PictureSet& pictures);

}  // namespace maskfit::train
