#include "train/evaluate_model.h"

#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "dataset/dataset.h"
#include "spec/defaults.h"
#include "spec/load.h"
#include "train/finished_model.h"
#include "train/run_request.h"
#include "train/training_data.h"

namespace maskfit::train {
namespace {

using Json = nlohmann::ordered_json;
using base::Error;
using base::ExitCode;

spec::Experiment experiment_for(const EvaluateRequest& request, const network::Model& model) {
  if (!request.spec_file) return experiment_of(model, request.model.string());
  spec::Loaded<spec::Experiment> loaded = spec::load_experiment(*request.spec_file, model.class_names);
  spec::throw_if_refused(
      spec::check_loaded(loaded, {.purpose = spec::Purpose::kRun, .data_from_elsewhere = true}));
  spec::apply_defaults(&loaded.spec);
  if (class_names_of(loaded.spec) != model.class_names) {
    throw Error(ExitCode::kRefused,
                fmt::format("the spec's classes are {}, the model's {}",
                            fmt::join(class_names_of(loaded.spec), ", "), fmt::join(model.class_names, ", ")),
                request.spec_file->string(), "list the model's classes in their order in target_classes");
  }
  take_network_facts(model, &loaded.spec);
  return std::move(loaded.spec);
}

std::string chosen_split(const std::string& wanted, const dataset::Dataset& data, const std::string& where) {
  if (wanted == "all") return "";
  if (wanted.empty()) return loader::pictures_of(data, "val").empty() ? "" : "val";
  if (loader::pictures_of(data, wanted).empty()) {
    throw Error(ExitCode::kRefused, fmt::format("the data has no pictures in the split '{}'", wanted), where,
                "use --split all, or another split");
  }
  return wanted;
}

std::vector<loader::LabeledPicture> evenly_spread(std::vector<loader::LabeledPicture> pictures,
                                                  std::int64_t wanted) {
  const auto all = static_cast<std::int64_t>(pictures.size());
  if (wanted <= 0 || wanted >= all) return pictures;
  std::vector<loader::LabeledPicture> chosen;
  for (std::int64_t i = 0; i < wanted; ++i) {
    chosen.push_back(std::move(pictures[static_cast<std::size_t>(i * all / wanted)]));
  }
  return chosen;
}

// The pictures meet the network as they did in training, whatever the spec says about sizes.
loader::PictureSetOptions options_for(const spec::Experiment& experiment, const network::Model& model) {
  loader::PictureSetOptions options = picture_options(experiment);
  options.canvas = {model.network.input.width, model.network.input.height};
  options.channels = model.network.input.channels;
  options.mode = image::canvas_mode_from_name(model.canvas);
  return options;
}

double mean_of(const evaluate::Evaluation& evaluation, double evaluate::ClassResult::*figure) {
  double sum = 0;
  int classes = 0;
  for (const evaluate::ClassResult& result : evaluation.classes) {
    if (result.truths == 0 && !evaluation.options.reference_matching) continue;
    sum += result.*figure;
    ++classes;
  }
  return classes > 0 ? sum / classes : 0;
}

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json class_json(const evaluate::ClassResult& r) {
  return {{"name", r.name},
          {"truths", r.truths},
          {"detections", r.detections},
          {"overlap", r.overlap},
          {"AP", number(r.ap)},
          {"AP_all_point", number(r.ap_all_point)},
          {"AP_sample", number(r.ap_sample)},
          {"AP_integrate", number(r.ap_integrate)},
          {"AP50", number(r.ap50)},
          {"AP75", number(r.ap75)},
          {"AP50_95", number(r.ap50_95)},
          {"precision", number(r.precision)},
          {"recall", number(r.recall)},
          {"f1", number(r.f1)}};
}

}  // namespace

Evaluator::Evaluator(EvaluateRequest request, const network::Model& model) : request_(std::move(request)) {
  data_.experiment = experiment_for(request_, model);
  base::Findings findings;
  const dataset::Dataset data = dataset::open_data(request_.data, &findings);
  data_.split = chosen_split(request_.split, data, request_.data.string());
  const std::vector<loader::LabeledPicture> pictures =
      evenly_spread(loader::pictures_of(data, data_.split), request_.max_pictures);
  const loader::ClassMapping classes = class_mapping(data_.experiment, pictures);
  data_.pictures =
      std::make_unique<loader::PictureSet>(pictures, classes, options_for(data_.experiment, model));
  unmapped_labels_ = unmapped_labels(pictures, classes);
  if (!request_.reference_exact) {
    data_.experiment.mutable_evaluation_config()->set_average_precision_mode(
        spec::EvaluationConfig::ALL_POINT);
  }
  if (data_.split.empty()) data_.split = "all";
}

Evaluator::~Evaluator() = default;

std::int64_t Evaluator::pictures() const {
  return static_cast<std::int64_t>(data_.pictures->size());
}

Validation Evaluator::evaluate(network::Network network) const {
  model::Detector detector(std::move(network), request_.device,
                           model::precision_from_name(request_.precision));
  detector.fold_for_inference();
  Validation validation = validate(detector, *data_.pictures, data_.experiment,
                                   {.reference_exact = request_.reference_exact,
                                    .stop = request_.stop,
                                    .unmapped_labels = unmapped_labels_,
                                    .cost = {},
                                    .progress = request_.progress});
  if (!validation.detected.non_finite_picture.empty()) {
    throw Error(ExitCode::kRefused, non_finite_sentence(validation), request_.model.string(),
                request_.precision == "fp32"
                    ? "the model's numbers are damaged or extreme; take another model"
                    : "try --precision fp32; if it says the same, take another model");
  }
  return validation;
}

EvaluatedModel evaluate_model(const EvaluateRequest& request) {
  network::Model model = network::read_model(request.model);
  Evaluator evaluator(request, model);
  Validation validation = evaluator.evaluate(std::move(model.network));
  EvaluatedModel result = std::move(evaluator.data_);
  result.validation = std::move(validation);
  return result;
}

std::string evaluation_json(const Validation& validation) {
  const evaluate::Evaluation& e = validation.evaluation;
  Json json = {{"pictures", e.pictures},
               {"mode", evaluate::mode_name(e.options.mode)},
               {"mAP", number(e.map)},
               {"mAP_all_point", number(mean_of(e, &evaluate::ClassResult::ap_all_point))},
               {"mAP_sample", number(mean_of(e, &evaluate::ClassResult::ap_sample))},
               {"mAP_integrate", number(mean_of(e, &evaluate::ClassResult::ap_integrate))},
               {"mAP50", number(e.map50)},
               {"mAP75", number(e.map75)},
               {"mAP50_95", number(e.map50_95)},
               {"classes", Json::array()}};
  Json names = Json::array();
  for (const evaluate::ClassResult& result : e.classes) {
    json["classes"].push_back(class_json(result));
    names.push_back(result.name);
  }
  names.push_back("nothing");
  json["confusion"] = {{"threshold", e.confusion_threshold}, {"names", names}, {"counts", e.confusion}};
  json["diagnosis"] = validation.diagnosis;
  json["median_seconds_per_picture"] = validation.detected.median_seconds_per_picture;
  json["seconds"] = validation.seconds;
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string evaluation_table(const evaluate::Evaluation& e) {
  std::string text = fmt::format("{:<20} {:>8} {:>8} {:>8} {:>8} {:>8} {:>9} {:>8}\n", "class", "boxes", "AP",
                                 "AP50", "AP75", "AP50:95", "precision", "recall");
  const auto row = [&](const std::string& name, std::int64_t boxes, double ap, double ap50, double ap75,
                       double coco) {
    return fmt::format("{:<20} {:>8} {:>8.4f} {:>8.4f} {:>8.4f} {:>8.4f}", name, boxes, ap, ap50, ap75, coco);
  };
  std::int64_t boxes = 0;
  for (const evaluate::ClassResult& r : e.classes) {
    text += row(r.name, r.truths, r.ap, r.ap50, r.ap75, r.ap50_95) +
            fmt::format(" {:>9.4f} {:>8.4f}\n", r.precision, r.recall);
    boxes += r.truths;
  }
  text += row("mean", boxes, e.map, e.map50, e.map75, e.map50_95);
  return text + fmt::format("\nAP: {} at the spec's overlap; precision and recall at confidence {:.3f}",
                            evaluate::mode_name(e.options.mode), e.confusion_threshold);
}

}  // namespace maskfit::train
