#include "train/run_report.h"

#include <algorithm>
#include <set>

#include "image/canvas.h"

namespace maskfit::train {
namespace {

// One value of all records of a kind, over epochs.
report::Series series(const std::vector<runs::MetricsRecord>& records, const std::string& kind,
                      const std::string& value, const std::string& title, double factor,
                      std::int64_t steps_per_epoch) {
  report::Series line{title, {}, std::nullopt};
  for (const runs::MetricsRecord& record : records) {
    if (record.kind != kind) continue;
    const double epoch = static_cast<double>(record.step) / static_cast<double>(steps_per_epoch);
    line.points.push_back({epoch, factor * record.value(value)});
  }
  return line;
}

report::Picture picture(const evaluate::PictureResult& result, const loader::PictureSet& pictures,
                        std::int64_t index) {
  const image::Placement& placement = pictures.placement(index);
  report::Picture shown{result.id, image::read_image(pictures.path(index)), result.truths, result.detections};
  for (boxes::Truth& truth : shown.truths) truth.box = image::image_from_canvas(truth.box, placement);
  for (boxes::Detection& found : shown.detections) found.box = image::image_from_canvas(found.box, placement);
  return shown;
}

}  // namespace

void add_curves(const std::vector<runs::MetricsRecord>& records, const std::vector<std::string>& class_names,
                std::int64_t steps_per_epoch, report::Report* report) {
  const auto training = [&](const std::string& value, const std::string& title) {
    return series(records, "train", value, title, 1, steps_per_epoch);
  };
  report->losses.push_back(training("total_cost", "total"));
  for (const std::string& name : class_names) {
    for (const char* objective : {"cov", "bbox"}) {
      report->losses.push_back(training("mean_cost_" + name + "_" + objective, name + " " + objective));
    }
  }
  report->learning_rate = training("learning_rate", "learning rate");
  const auto validation = [&](const std::string& value, const std::string& title, double factor) {
    return series(records, "validation", value, title, factor, steps_per_epoch);
  };
  report->losses.push_back(validation("validation_cost", "validation", 1));
  report->ap.push_back(validation("mean average precision (mAP) (in %)", "mean", 0.01));
  for (const std::string& name : class_names)
    report->ap.push_back(validation(name + "_AP (in %)", name, 0.01));
}

void add_evaluation(const evaluate::Evaluation& evaluation,
                    const std::vector<evaluate::PictureResult>& results, const loader::PictureSet& pictures,
                    int worst, int examples, report::Report* report) {
  report->evaluation = evaluation;
  std::set<std::size_t> shown;
  for (const evaluate::Evaluation::PictureErrors& errors : evaluation.worst) {
    if (static_cast<int>(report->worst.size()) == worst || errors.total() == 0) break;
    report->worst.push_back(
        picture(results[errors.index], pictures, static_cast<std::int64_t>(errors.index)));
    shown.insert(errors.index);
  }
  const std::size_t stride = std::max<std::size_t>(1, results.size() / std::max(1, examples));
  for (std::size_t i = stride / 2; i < results.size() && static_cast<int>(report->examples.size()) < examples;
       i += stride) {
    if (!shown.contains(i))
      report->examples.push_back(picture(results[i], pictures, static_cast<std::int64_t>(i)));
  }
}

}  // namespace maskfit::train
