#include "train/run_log.h"

#include <map>

namespace maskfit::train {

RunLog::RunLog(const runs::RunFolder& run)
    : status_(run.status()), metrics_(run.metrics()), events_(run.events()) {}

void RunLog::log(const runs::MetricsRecord& record) {
  metrics_.append(record);
  for (const auto& [name, value] : record.values)
    events_.scalar(name, record.step, static_cast<float>(value));
}

void RunLog::on_step(const StepReport& report) {
  runs::MetricsRecord record{"train", report.at.epoch, report.at.step, {}};
  auto& values = record.values;
  values = {{"total_cost", report.costs.total},
            {"task_cost", report.costs.task},
            {"regularization_cost", report.costs.regularization},
            {"learning_rate", report.learning_rate},
            {"gradient_norm", report.gradient_norm}};
  for (const CostPart& part : report.costs.parts) {
    const std::string suffix = part.class_name + "_" + part.objective;
    values.emplace_back("mean_cost_" + suffix, part.mean_cost);
    values.emplace_back("cost_percentage_" + suffix,
                        report.costs.task > 0 ? 100 * part.weighted() / report.costs.task : 0);
    values.emplace_back("cost_autoweight_" + suffix, part.objective_weight);
  }
  values.emplace_back("images_per_second", report.images_per_second);
  log(record);
}

void RunLog::on_epoch(const EpochReport& report) {
  status_.write_epoch({static_cast<int>(report.at.epoch), static_cast<int>(report.at.epochs), report.seconds,
                       report.eta_seconds, report.mean_loss, report.learning_rate});
}

void RunLog::on_validation(const ValidationReport& report) {
  const evaluate::Evaluation& evaluation = *report.evaluation;
  // Percent, as the name says; the reference writes fractions under it.
  runs::MetricsRecord record{"validation",
                             report.at.epoch,
                             report.at.step,
                             {{"validation_cost", report.validation_cost},
                              {"mean average precision (mAP) (in %)", 100 * evaluation.map}}};
  std::map<std::string, double> ap_by_class;
  for (const evaluate::ClassResult& result : evaluation.classes) {
    record.values.emplace_back(result.name + "_AP (in %)", 100 * result.ap);
    ap_by_class[result.name] = result.ap;
  }
  record.values.emplace_back("mAP50", evaluation.map50);
  record.values.emplace_back("mAP75", evaluation.map75);
  record.values.emplace_back("mAP50_95", evaluation.map50_95);
  log(record);
  status_.write_evaluation(report.validation_cost, evaluation.map, ap_by_class);
}

void RunLog::on_notice(Notice notice, const std::string& sentence) {
  status_.write(runs::Status::kRunning, sentence,
                notice == Notice::kWarning ? runs::Verbosity::kWarning : runs::Verbosity::kInfo);
}

}  // namespace maskfit::train
