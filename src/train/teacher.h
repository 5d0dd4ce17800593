#pragma once

// The network that a training learns from beside the labels: cost_function_config.distillation.

#include <memory>
#include <string>

#include "model/detector.h"
#include "network/network.h"
#include "spec/experiment.pb.h"
#include "tensor/tensor_fwd.h"

namespace maskfit::train {

class Teacher {
 public:
  // Null for a spec without a teacher. `student`: the network in training. Throws base::Error (kRefused) with
  // both values when the teacher's classes, box coding or grid are not the student's.
  static std::unique_ptr<Teacher> open(const spec::Experiment& experiment, const network::Network& student,
                                       const std::string& device);

  // What to add to the task's loss: a scalar with gradient towards `outputs`, which are the student's for the
  // same images. Runs the teacher, without gradient.
  at::Tensor cost(const at::Tensor& images, const model::Outputs& outputs);

 private:
  Teacher(model::Detector detector, double box_scale, spec::CostFunctionConfig::Distillation config);

  model::Detector detector_;
  const double box_scale_;
  const spec::CostFunctionConfig::Distillation config_;
};

}  // namespace maskfit::train
