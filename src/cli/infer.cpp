#include <spdlog/spdlog.h>

#include <memory>

#include "base/error.h"
#include "base/interrupt.h"
#include "cli/command.h"
#include "deploy/infer_pictures.h"

namespace maskfit::cli {
namespace {

struct Arguments {
  std::string model;
  std::vector<std::string> pictures;
  std::string out;
  std::string device = "cpu", precision = "fp32", rules = "model";
  float confidence = -1;
  int batch = 8;
  bool no_pictures = false, no_labels = false, no_json = false;
};

int infer(const Arguments& a) {
  const auto files = deploy::list_pictures({a.pictures.begin(), a.pictures.end()});
  deploy::PictureDetector detector(deploy::read_any_model(a.model),
                                   {.device = a.device,
                                    .precision = model::precision_from_name(a.precision),
                                    .confidence = a.confidence,
                                    .rules = deploy::box_rules_from_name(a.rules)});
  deploy::ResultWriter writer(a.out, detector.class_names(),
                              {.annotated = !a.no_pictures, .kitti = !a.no_labels, .json = !a.no_json});
  const base::StopToken stop = base::interrupt_token();
  const deploy::InferSummary summary =
      deploy::infer_pictures(detector, files, writer, {.batch = a.batch, .stop = stop, .progress = {}});
  for (const base::Finding& finding : summary.refused) spdlog::warn("{}", base::to_string(finding));
  spdlog::info("{} detections in {} pictures, written to {}", summary.detections, summary.pictures, a.out);
  stop.throw_if_requested();
  return static_cast<int>(summary.refused.empty() ? base::ExitCode::kDone : base::ExitCode::kRefused);
}

std::function<int()> declare(CLI::App& app) {
  const auto a = std::make_shared<Arguments>();
  app.add_option("model", a->model, "Model file (*.safetensors), or a model of maskfit export (*.onnx)")
      ->required();
  app.add_option("pictures", a->pictures, "Pictures, or folders of pictures")->required();
  app.add_option("-o,--out", a->out, "Folder for images_annotated/, labels/ and detections.json")->required();
  app.add_option("--confidence", a->confidence,
                 "Least confidence of a detection; default: per class, as the model file says")
      ->check(CLI::Range(0.0f, 1.0f));
  app.add_option("--batch", a->batch, "Pictures a time")->check(CLI::Range(1, 65536))->capture_default_str();
  app.add_option("--device", a->device, "cpu, cuda or cuda:N")->capture_default_str();
  app.add_option("--precision", a->precision, "fp32, bf16 or fp16")->capture_default_str();
  app.add_option("--rules", a->rules, "Who makes boxes of the outputs: model, or nvinfer as on a device")
      ->capture_default_str();
  app.add_flag("--no-pictures", a->no_pictures, "Write no annotated pictures");
  app.add_flag("--no-labels", a->no_labels, "Write no KITTI labels");
  app.add_flag("--no-json", a->no_json, "Write no detections.json");
  return [a] { return infer(*a); };
}

}  // namespace

Command infer_command() {
  return {"infer", "Find faces in pictures with a trained model", declare};
}

}  // namespace maskfit::cli
