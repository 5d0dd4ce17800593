#pragma once

// What a training tells while it runs. The loop itself never prints; the command line draws a bar from these
// reports, the run folder's logs are written by run_log.h.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "evaluate/evaluate.h"

namespace maskfit::train {

// One class's part of the loss in one head.
struct CostPart {
  std::string class_name;
  std::string objective;        // "cov", "bbox"
  double mean_cost = 0;         // mean over the batch and the grid, unweighted
  double class_weight = 0;      // normalised: sums to 1 over the classes
  double objective_weight = 0;  // the share that auto-weighting steers
  double weighted() const { return mean_cost * class_weight * objective_weight; }
};

struct Costs {
  double total = 0;  // task + regularisation
  double task = 0;   // sum of weighted parts
  double regularization = 0;
  std::vector<CostPart> parts;  // class by class, "cov" before "bbox"
};

// Where a run stands. epoch is 1-based, step counts finished optimiser steps since the start of the run.
struct Position {
  std::int64_t epoch = 0, epochs = 0;
  std::int64_t step_in_epoch = 0, steps_per_epoch = 0;
  std::int64_t step = 0;
};

// Means over the steps since the last report.
struct StepReport {
  Position at;
  Costs costs;
  double learning_rate = 0;  // of the last step
  double gradient_norm = 0;  // of the last step, over all weights
  double images_per_second = 0;
  double eta_seconds = 0;  // until the end of the run
};

struct EpochReport {
  Position at;
  double mean_loss = 0;  // total cost, mean over the epoch's steps
  double learning_rate = 0;
  double seconds = 0;
  double eta_seconds = 0;
};

struct ValidationReport {
  Position at;
  const evaluate::Evaluation* evaluation = nullptr;
  double validation_cost = 0;  // task cost, mean over the pictures
  double seconds = 0;
  bool best = false;                   // the best mAP so far
  std::vector<std::string> diagnosis;  // why mAP is 0, when it is
};

enum class Notice { kInfo, kWarning };

// Any function may throw; the run stops then, as it does on any error.
class Observer {
 public:
  virtual ~Observer() = default;
  // As often as numbers are known (every step on a CPU, every few on a GPU), for a bar.
  virtual void on_progress(const StepReport&) {}
  // scalar_logging_frequency times an epoch, the last time at its end, for logs.
  virtual void on_step(const StepReport&) {}
  virtual void on_epoch(const EpochReport&) {}
  virtual void on_validation(const ValidationReport&) {}
  // One sentence: a torn checkpoint, a skipped batch, a checkpoint written.
  virtual void on_notice(Notice, const std::string&) {}
};

// Passes everything on, in order. The observers must outlive it.
class Observers : public Observer {
 public:
  explicit Observers(std::vector<Observer*> list) : list_(std::move(list)) {}
  void on_progress(const StepReport& report) override {
    for (Observer* o : list_) o->on_progress(report);
  }
  void on_step(const StepReport& report) override {
    for (Observer* o : list_) o->on_step(report);
  }
  void on_epoch(const EpochReport& report) override {
    for (Observer* o : list_) o->on_epoch(report);
  }
  void on_validation(const ValidationReport& report) override {
    for (Observer* o : list_) o->on_validation(report);
  }
  void on_notice(Notice notice, const std::string& sentence) override {
    for (Observer* o : list_) o->on_notice(notice, sentence);
  }

 private:
  std::vector<Observer*> list_;
};

}  // namespace maskfit::train
