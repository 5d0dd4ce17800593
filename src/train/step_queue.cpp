#include "train/step_queue.h"

#include <ATen/ATen.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "tensor/array.h"

namespace maskfit::train {
namespace {

constexpr std::size_t kNamedPictures = 8;  // in a message about a sick batch
constexpr std::int64_t kFigures = 3;       // task cost, regularisation, gradient norm

StepNumbers unpack(const float* values, std::int64_t count) {
  StepNumbers numbers{values[0], values[1], values[2], {}};
  numbers.parts.assign(values + kFigures, values + count);
  return numbers;
}

}  // namespace

struct StepQueue::Waiting {
  at::Tensor numbers;
  loader::BatchPlan plan;
  double norm_limit;  // as the device was told
};

StepQueue::StepQueue(Session& session, Observer& observer) : s_(session), observer_(observer) {}
StepQueue::~StepQueue() = default;

at::Tensor StepQueue::judge(const at::Tensor& numbers, const loader::BatchPlan& plan) {
  const double limit = s_.monitor.norm_limit();
  const at::Tensor figures = numbers.narrow(0, 0, kFigures);
  const at::Tensor sound = figures.isfinite().all().logical_and(figures[2].le(limit));
  add(numbers, plan, limit);
  return sound.logical_not().to(at::kFloat);
}

void StepQueue::add(const at::Tensor& numbers, const loader::BatchPlan& plan, double norm_limit) {
  waiting_.push_back({numbers, plan, norm_limit});
}

void StepQueue::read() {
  if (waiting_.empty()) return;
  std::vector<at::Tensor> rows;
  for (const Waiting& waiting : waiting_) rows.push_back(waiting.numbers);
  const at::Tensor table = at::stack(rows).to(at::kCPU).contiguous();  // [steps][3 + 2C]
  const std::vector<Waiting> read = std::move(waiting_);
  waiting_.clear();
  for (std::size_t i = 0; i < read.size(); ++i) {
    const StepNumbers numbers =
        unpack(table.data_ptr<float>() + static_cast<std::int64_t>(i) * table.size(1), table.size(1));
    const Verdict verdict = StepMonitor::judge(numbers, read[i].norm_limit);
    if (verdict == Verdict::kSound) {
      s_.monitor.note_sound(numbers);
      continue;
    }
    s_.monitor.note_sick();
    const std::string what =
        verdict == Verdict::kNotFinite
            ? fmt::format("loss {} or gradient norm {} is not finite", numbers.total(), numbers.gradient_norm)
            : fmt::format("gradient norm {:.3g} is over {:.3g}", numbers.gradient_norm, read[i].norm_limit);
    const std::string sentence = fmt::format("step {} of epoch {}: {}; pictures: {}", read[i].plan.step + 1,
                                             read[i].plan.epoch + 1, what, names_of_all_ranks(read[i].plan));
    if (s_.monitor.lost()) {
      throw base::Error(
          base::ExitCode::kFailed, sentence, s_.run.folder.path().string(),
          "the training is lost: look at these pictures and their labels, or lower the learning rate");
    }
    observer_.on_notice(Notice::kWarning, sentence + "; the batch is left out");
  }
}

// A sick number comes from any rank's pictures.
std::string StepQueue::names_of_all_ranks(const loader::BatchPlan& own) const {
  loader::BatchPlan all = own;
  all.plans.clear();
  for (int rank = 0; rank < s_.planner->ranks(); ++rank) {
    const loader::BatchPlan part = s_.planner->plan_of_rank(own.epoch, own.step, rank);
    all.plans.insert(all.plans.end(), part.plans.begin(), part.plans.end());
  }
  return picture_names(all, *s_.train_pictures);
}

std::string picture_names(const loader::BatchPlan& plan, const loader::PictureSet& pictures) {
  std::vector<std::string> names;
  for (const augment::Plan& item : plan.plans) {
    for (const augment::Tile& tile : item.tiles) names.push_back(pictures.id(tile.sample));
  }
  const std::size_t named = std::min(names.size(), kNamedPictures);
  std::string text =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<long>(named), ", "));
  if (names.size() > named) text += fmt::format(" and {} more", names.size() - named);
  return text;
}

}  // namespace maskfit::train
