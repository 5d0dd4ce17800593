#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <iostream>
#include <memory>

#include "base/error.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/export_int8.h"
#include "cli/exported_pictures.h"
#include "cli/verify_run.h"
#include "export/bundle.h"
#include "export/parity.h"
#include "network/model_file.h"
#include "postprocess/postprocess.h"
#include "spec/experiment.pb.h"
#include "train/finished_model.h"

namespace maskfit::cli {
namespace {

constexpr float kUnknownThreshold = 0.3f;  // for a class that was never measured

struct Arguments {
  std::string model, out, data;
  std::string precision = "fp32", batch = "dynamic", calibration = "entropy", calibration_data;
  std::string float_layers = "auto", tensorrt = "8.5.3", device = "cpu";
  int opset = 0;
  std::int64_t pictures = 0, calibration_pictures = 128;
  exporting::Tolerances tolerances;
  bool keep_batch_norm = false, force = false, no_deepstream = false, dbscan = false;
};

int batch_of(const std::string& text) {
  long long batch = 0;
  if (text == "dynamic") return 0;
  if (base::parse_int(text, &batch) && batch > 0 && batch <= 4096) return static_cast<int>(batch);
  throw base::Error(base::ExitCode::kUsage, fmt::format("'{}' is no batch", text), "--batch",
                    "give a number of pictures, or dynamic");
}

// Overlap and reach of the model's own clustering, as far as nvinfer has them.
void take_clustering(exporting::BundleRequest& request) {
  const spec::Experiment experiment = train::experiment_of(request.trained, request.trained.network.name);
  const auto clustering =
      postprocess::clustering_from_spec(experiment.postprocessing_config(), request.trained.class_names, {});
  if (clustering.front().algorithm == postprocess::Algorithm::kNms && clustering.front().nms_iou > 0) {
    request.nms_iou = clustering.front().nms_iou;
  }
  if (clustering.front().eps > 0) request.eps = clustering.front().eps;
}

// NMS overlap and thresholds with the best F1 on the pictures. The model's own overlap need not suit nvinfer:
// box voting, say, wants more boxes to stay than plain NMS does.
void measure_rules(const Arguments& a, const exporting::PictureSource& validation,
                   exporting::BundleRequest& request) {
  const exporting::Forward forward =
      exporting::remembered(trained_forward(request.trained, a.device), validation.count);
  std::vector<float> overlaps = {request.nms_iou};
  if (!request.dbscan) overlaps.insert(overlaps.end(), {0.3f, 0.4f, 0.5f, 0.6f});
  double best = -1;
  exporting::BundleRequest chosen = request;
  for (const float overlap : overlaps) {
    request.nms_iou = overlap;
    const exporting::Variant trained = exporting::run_variant(
        "trained", forward, validation, exporting::nvinfer_config(request), request.trained.class_names);
    const double f1 = exporting::best_f1(trained.evaluation);
    if (!(f1 > best)) continue;
    best = f1;
    chosen.nms_iou = overlap;
    chosen.thresholds = exporting::best_thresholds(trained.evaluation, kUnknownThreshold);
  }
  request = chosen;
  request.threshold_source = fmt::format(
      "the best F1 of each class on {} validation pictures, decoded and clustered as nvinfer does",
      validation.count);
  spdlog::info("NMS overlap {}, thresholds {:.3f}: mean F1 {:.4f}", request.nms_iou,
               fmt::join(request.thresholds, ", "), best);
}

// From the precision-recall curve on the pictures, else what the model file says of its validation.
void choose_thresholds(const Arguments& a, const exporting::PictureSource& validation,
                       exporting::BundleRequest& request) {
  request.thresholds.assign(request.trained.class_names.size(), kUnknownThreshold);
  if (validation.count > 0) {
    measure_rules(a, validation, request);
    return;
  }
  request.threshold_source = "the best F1 of each class in the model's own validation";
  for (std::size_t c = 0; c < request.thresholds.size(); ++c) {
    const auto found =
        request.trained.provenance.find(network::confidence_threshold_key(request.trained.class_names[c]));
    if (found != request.trained.provenance.end() && base::parse_float(found->second, &request.thresholds[c]))
      continue;
    request.threshold_source =
        "a guess: the model file has no validation; export with --data to measure them";
    spdlog::warn("no measured threshold for '{}': {} is a guess; give --data", request.trained.class_names[c],
                 kUnknownThreshold);
  }
}

exporting::BundleRequest request_of(const Arguments& a) {
  exporting::BundleRequest request;
  request.trained = network::read_model(a.model);
  request.precision = exporting::precision_from_name(a.precision);
  request.onnx = {.opset = a.opset, .batch = batch_of(a.batch)};
  request.keep_batch_norm = a.keep_batch_norm;
  request.deepstream = !a.no_deepstream;
  request.dbscan = a.dbscan;
  request.tensorrt = formats::tensorrt_version(a.tensorrt);
  if (request.deepstream) exporting::check_parser_constants(request.trained);
  take_clustering(request);
  return request;
}

int export_model(const Arguments& a) {
  exporting::BundleRequest request = request_of(a);
  exporting::PictureSource validation;
  if (!a.data.empty()) validation = open_pictures(request.trained, a.data, "", a.pictures);
  choose_thresholds(a, validation, request);
  if (request.precision == exporting::Precision::kInt8) {
    quantise_request(
        {.method = exporting::calibration_method_from_name(a.calibration),
         .data = a.data,
         .tensorfile = a.calibration_data,
         .pictures = a.calibration_pictures,
         .float_layers = a.float_layers == "auto" && validation.count == 0 ? "none" : a.float_layers,
         .ap_points = a.tolerances.ap_points},
        validation, request);
  }
  exporting::write_bundle(a.out, exporting::bundle_files(request), a.force);
  spdlog::info("bundle written to {}", a.out);
  if (validation.count == 0) {
    spdlog::warn(
        "not compared with the trained model: run maskfit verify {} DATASET before it goes to a device",
        a.out);
    return 0;
  }
  return verify_and_report(a.out, validation, {.tolerances = a.tolerances, .page_pictures = 12},
                           {.trained = {}, .device = a.device, .page = {}});
}

std::function<int()> declare(CLI::App& app) {
  const auto a = std::make_shared<Arguments>();
  app.add_option("model", a->model, "Model file (*.safetensors)")->required();
  app.add_option("-o,--out", a->out, "Folder to write")->required();
  app.add_option("--data", a->data,
                 "Dataset: thresholds, calibration and the comparison come from its pictures");
  app.add_option("--precision", a->precision, "fp32, fp16 or int8")->capture_default_str();
  app.add_option("--opset", a->opset, "ONNX operator set; default: 12, for int8 13");
  app.add_option("--batch", a->batch, "Pictures a run, or dynamic")->capture_default_str();
  app.add_option("--calibration", a->calibration, "entropy, percentile or minmax")->capture_default_str();
  app.add_option("--calibration-pictures", a->calibration_pictures,
                 "Training pictures to calibrate with; 0: all")
      ->capture_default_str();
  app.add_option("--calibration-data", a->calibration_data,
                 "Calibration data as HDF5: used where the file exists, else written");
  app.add_option("--float-layers", a->float_layers,
                 "int8: layers left in real numbers: auto, none, how many, or NAME,NAME")
      ->capture_default_str();
  app.add_option("--tensorrt", a->tensorrt, "Version of TensorRT that the calibration table is for")
      ->capture_default_str();
  app.add_option("--pictures", a->pictures, "Validation pictures to compare on; 0: all")
      ->capture_default_str();
  app.add_option("--device", a->device, "Where the trained model runs: cpu, cuda or cuda:N")
      ->capture_default_str();
  add_tolerance_options(app, a->tolerances);
  app.add_flag("--keep-batch-norm", a->keep_batch_norm, "Leave batch norms as nodes of their own");
  app.add_flag("--no-deepstream", a->no_deepstream, "Leave out DeepStream's files");
  app.add_flag("--dbscan", a->dbscan, "Cluster with nvinfer's DBSCAN instead of NMS");
  app.add_flag("--force", a->force, "Replace a bundle that exists");
  return [a] { return export_model(*a); };
}

}  // namespace

Command export_command() {
  return {"export", "Turn a model into a bundle for other runtimes and devices", declare};
}

}  // namespace maskfit::cli
