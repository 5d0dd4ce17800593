#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <iostream>
#include <memory>

#include "base/interrupt.h"
#include "cli/command.h"
#include "spec/print.h"
#include "train/evaluate_model.h"
#include "train/run_report.h"

namespace maskfit::cli {
namespace {

constexpr int kWorstPictures = 20, kExamplePictures = 12;

struct Arguments {
  std::string model, data, split, spec, html;
  std::string device = "cpu", precision = "fp32";
  bool json = false, reference_exact = false;
};

void write_html(const std::string& path, const Arguments& a, const train::EvaluatedModel& evaluated) {
  report::Report page;
  page.title = fmt::format("Evaluation of {}", a.model);
  page.subtitle = fmt::format("{} ({})", a.data, evaluated.split);
  page.notes = evaluated.validation.diagnosis;
  page.spec_text = spec::to_text(evaluated.experiment);
  train::add_evaluation(evaluated.validation.evaluation, evaluated.validation.detected.pictures,
                        *evaluated.pictures, kWorstPictures, kExamplePictures, &page);
  report::write(path, page);
  spdlog::info("report written to {}", path);
}

int evaluate(const Arguments& a) {
  train::EvaluateRequest request{.model = a.model,
                                 .data = a.data,
                                 .split = a.split,
                                 .spec_file = {},
                                 .device = a.device,
                                 .precision = a.precision,
                                 .reference_exact = a.reference_exact,
                                 .stop = base::interrupt_token(),
                                 .progress = {}};
  if (!a.spec.empty()) request.spec_file = a.spec;
  const train::EvaluatedModel evaluated = train::evaluate_model(request);
  const train::Validation& validation = evaluated.validation;
  spdlog::info("{} pictures ({}), {:.1f} s, median {:.1f} ms a picture", validation.evaluation.pictures,
               evaluated.split, validation.seconds, 1000 * validation.detected.median_seconds_per_picture);
  for (const std::string& sentence : validation.diagnosis) spdlog::warn("{}", sentence);
  std::cout << (a.json ? train::evaluation_json(validation) : train::evaluation_table(validation.evaluation))
            << '\n';
  if (!a.html.empty()) write_html(a.html, a, evaluated);
  return 0;
}

std::function<int()> declare(CLI::App& app) {
  const auto a = std::make_shared<Arguments>();
  app.add_option("model", a->model, "Model file (*.safetensors)")->required();
  app.add_option("data", a->data, "Dataset, KITTI or VOC folder, or TFRecords as GLOB@IMAGE_FOLDER")
      ->required();
  app.add_option("--split", a->split,
                 "train, val, test or all; default: val where the data has one, else all");
  app.add_flag("--json", a->json, "Print one JSON object instead of a table");
  app.add_option("--html", a->html, "Also write a report with curves and the worst pictures");
  app.add_option("--spec", a->spec,
                 "Take postprocessing and evaluation from this spec file, not from the model");
  app.add_option("--device", a->device, "cpu, cuda or cuda:N")->capture_default_str();
  app.add_option("--precision", a->precision, "fp32, bf16 or fp16")->capture_default_str();
  app.add_flag("--reference-exact", a->reference_exact,
               "The reference's AP mode and matching, quirks included");
  return [a] { return evaluate(*a); };
}

}  // namespace

Command evaluate_command() {
  return {"evaluate", "Average precision of a model on a dataset", declare};
}

}  // namespace maskfit::cli
