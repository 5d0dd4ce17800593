#include "deploy/picture_detector.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>

#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "export/executor.h"
#include "export/onnx_reader.h"
#include "hardware/memory.h"
#include "image/canvas.h"
#include "model/memory_need.h"
#include "model/outputs.h"
#include "postprocess/nvinfer.h"
#include "postprocess/postprocess.h"
#include "spec/experiment.pb.h"
#include "spec/text_parser.h"
#include "tensor/device.h"

namespace maskfit::deploy {
namespace {

std::vector<postprocess::ClassClustering> clustering_of(const network::Model& model,
                                                        const postprocess::Options& decoding) {
  spec::PostProcessingConfig config;
  spec::Source source;
  base::Findings findings;
  spec::parse_text(model.postprocessing, &config, &source, &findings);
  if (!findings.empty()) {
    throw base::Error(
        base::ExitCode::kRefused,
        "the model's postprocessing section cannot be read: " + base::to_string(findings.front()),
        model.network.name, "use a model file written by maskfit train");
  }
  return postprocess::clustering_from_spec(config, model.class_names, decoding);
}

std::vector<float> thresholds_of(const network::Model& model, float confidence) {
  std::vector<float> thresholds(model.class_names.size(), std::max(confidence, 0.0f));
  if (confidence >= 0) return thresholds;
  for (std::size_t c = 0; c < thresholds.size(); ++c) {
    const auto found = model.provenance.find(network::confidence_threshold_key(model.class_names[c]));
    if (found != model.provenance.end()) base::parse_float(found->second, &thresholds[c]);
  }
  return thresholds;
}

void put_on_canvas(const image::Image& picture, image::Size canvas, image::CanvasMode mode,
                   std::uint8_t* bytes) {
  // The reference resizes for inference with Lanczos; letterboxed models come from our own recipe.
  const image::Filter filter =
      mode == image::CanvasMode::kStretch ? image::Filter::kLanczos : image::Filter::kAntialias;
  const image::Image fitted = image::fit_to_canvas(picture, canvas, mode, filter);
  std::memcpy(bytes, fitted.pixels.data(), fitted.pixels.size());
}

// NaN passes no threshold, so a broken network would look like one that finds nothing.
void require_finite(const at::Tensor& output, const network::Model& model, std::size_t index) {
  if (at::isfinite(output).all().item<bool>()) return;
  throw base::Error(
      base::ExitCode::kRefused,
      fmt::format("the network's output '{}' is not finite", model.network.outputs.at(index)),
      model.network.name,
      "the model's numbers are damaged or extreme; take another model, or try --precision fp32");
}

boxes::Detections in_image(boxes::Detections detections, const image::Image& picture,
                           const image::Placement& placement, const std::vector<float>& thresholds) {
  boxes::Detections kept;
  for (boxes::Detection& d : detections) {
    if (d.confidence < thresholds[d.class_index]) continue;
    d.box = boxes::clip(image::image_from_canvas(d.box, placement), static_cast<float>(picture.width),
                        static_cast<float>(picture.height));
    if (d.box.area() > 0) kept.push_back(d);
  }
  std::stable_sort(kept.begin(), kept.end(),
                   [](const auto& a, const auto& b) { return a.confidence > b.confidence; });
  return kept;
}

// On a GPU the library says so itself when memory runs out, at once; a system that is out of memory kills.
std::int64_t batch_that_fits(const network::Model& model, const PictureDetectorOptions& options) {
  if (options.device != "cpu") return std::numeric_limits<std::int64_t>::max();
  const model::MemoryNeed need = model::inference_memory(model.network, options.precision);
  const std::int64_t bytes = hardware::inspect_memory().usable_bytes();
  const std::int64_t batch = model::largest_batch(need, static_cast<double>(bytes));
  if (batch > 0) return batch;
  throw base::Error(
      base::ExitCode::kMachine,
      fmt::format("the network needs more than the {} of memory that are free, at its input of {}x{}",
                  hardware::format_bytes(bytes), model.network.input.width, model.network.input.height),
      model.network.name, "run it on a machine with more memory, or train with a smaller --size");
}

}  // namespace

BoxRules box_rules_from_name(const std::string& name) {
  if (name == "model") return BoxRules::kModel;
  if (name == "nvinfer") return BoxRules::kNvinfer;
  throw base::Error(base::ExitCode::kUsage, fmt::format("unknown rules '{}'", name), "--rules",
                    "use model or nvinfer");
}

exporting::ExportedModel read_any_model(const std::filesystem::path& path) {
  // A safetensors file has its JSON behind eight bytes; an ONNX file begins with the field ir_version.
  std::ifstream file(path, std::ios::binary);
  char start[9] = {};
  file.read(start, sizeof(start));
  if (start[0] == 0x08 && start[8] != '{') return exporting::read_exported(path);
  return {.model = network::read_model(path), .precision = {}, .quantisation = {}};
}

struct PictureDetector::Impl {
  Impl(exporting::ExportedModel exported, const PictureDetectorOptions& options)
      : model(std::move(exported.model)),
        decoding{
            .path = postprocess::Path::kEvaluation, .scale = model.box_scale, .offset = model.box_offset},
        clustering(clustering_of(model, decoding)),
        largest_batch(batch_that_fits(model, options)),
        thresholds(thresholds_of(model, options.confidence)),
        rules(options.rules),
        mode(image::canvas_mode_from_name(model.canvas)),
        canvas{model.network.input.width, model.network.input.height},
        device(tensor::device_from_name(options.device)) {
    if (exported.precision == exporting::Precision::kFloat32) {
      detector.emplace(model.network, options.device, options.precision);
      detector->fold_for_inference();
      return;
    }
    refuse_other_arithmetic(exported.precision, options);
    exported.model.network = model.network;
    executor.emplace(exported);
  }

  static void refuse_other_arithmetic(exporting::Precision precision, const PictureDetectorOptions& options) {
    if (options.device == "cpu" && options.precision == model::Precision::kFloat32) return;
    throw base::Error(
        base::ExitCode::kUsage,
        fmt::format("a model exported as {} runs in its own arithmetic on the CPU", name_of(precision)),
        "--device, --precision", "leave both out; on a GPU use the bundle's TensorRT files");
  }

  // What the export chose for the device, else the model's own.
  float nvinfer_overlap() const {
    float overlap = 0;
    const auto found = model.provenance.find(exporting::kNvinferOverlapKey);
    if (found != model.provenance.end() && base::parse_float(found->second, &overlap)) return overlap;
    const bool nms = clustering.front().algorithm == postprocess::Algorithm::kNms;
    return nms && clustering.front().nms_iou > 0 ? clustering.front().nms_iou
                                                 : postprocess::NvinferClass{}.nms_iou_threshold;
  }

  boxes::Detections boxes_of(const exporting::Grids& grids) const {
    if (rules == BoxRules::kModel) {
      return postprocess::detections_from_grids(grids.view(), clustering, decoding);
    }
    std::vector<postprocess::NvinferClass> classes;
    for (std::size_t c = 0; c < clustering.size(); ++c) {
      postprocess::NvinferClass attributes;
      attributes.pre_cluster_threshold = thresholds[c];
      attributes.nms_iou_threshold = nvinfer_overlap();
      classes.push_back(attributes);
    }
    return postprocess::detections_by_nvinfer(grids.view(), postprocess::NvinferClusterMode::kNms, classes);
  }

  // The network's grids, one picture each.
  std::vector<exporting::Grids> grids_of(std::span<const image::Image> pictures) {
    const at::Tensor input = pixels(pictures);
    if (executor) {
      std::vector<std::span<const float>> spans;
      for (std::size_t i = 0; i < pictures.size(); ++i) {
        const at::Tensor one = input[static_cast<std::int64_t>(i)];
        spans.emplace_back(one.data_ptr<float>(), static_cast<std::size_t>(one.numel()));
      }
      return executor->run(spans);
    }
    const model::Outputs outputs = detector->forward(input, /*training=*/false);
    const at::Tensor cov = outputs.cov.to(at::kCPU).contiguous(),
                     bbox = outputs.bbox.to(at::kCPU).contiguous();
    require_finite(bbox, model, 0);
    require_finite(cov, model, 1);
    std::vector<exporting::Grids> grids(pictures.size());
    for (std::size_t i = 0; i < grids.size(); ++i) {
      exporting::Grids& g = grids[i];
      g.classes = static_cast<int>(cov.size(1));
      g.geometry = {canvas.width, canvas.height, static_cast<int>(cov.size(3)),
                    static_cast<int>(cov.size(2))};
      const std::size_t size = static_cast<std::size_t>(g.classes) * g.geometry.cells();
      const float* coverage = cov.data_ptr<float>() + i * size;
      const float* box = bbox.data_ptr<float>() + i * 4 * size;
      g.coverage.assign(coverage, coverage + size);
      g.box.assign(box, box + 4 * size);
    }
    return grids;
  }

  // [pictures][channels][H][W] float32, 0..1, on the device.
  at::Tensor pixels(std::span<const image::Image> pictures) const {
    const auto count = static_cast<std::int64_t>(pictures.size());
    at::Tensor bytes = at::empty({count, canvas.height, canvas.width, 3}, at::kByte);
    base::parallel_for(count, [&](std::int64_t i) {
      put_on_canvas(pictures[i], canvas, mode, bytes[i].data_ptr<std::uint8_t>());
    });
    const at::Tensor rgb = bytes.to(device).permute({0, 3, 1, 2}).to(at::kFloat).div_(255.0).contiguous();
    if (model.network.input.channels == 3) return rgb;
    const at::Tensor luma = at::tensor({0.299f, 0.587f, 0.114f}, at::kFloat).to(device).view({1, 3, 1, 1});
    return (rgb * luma).sum(1, /*keepdim=*/true);
  }

  network::Model model;
  postprocess::Options decoding;
  std::vector<postprocess::ClassClustering> clustering;
  std::int64_t largest_batch;
  std::vector<float> thresholds;  // by class
  BoxRules rules;
  image::CanvasMode mode;
  image::Size canvas;
  c10::Device device;
  std::optional<model::Detector> detector;      // real numbers
  std::optional<exporting::Executor> executor;  // the exported model's own arithmetic
};

PictureDetector::PictureDetector(exporting::ExportedModel model, const PictureDetectorOptions& options)
    : impl_(std::make_unique<Impl>(std::move(model), options)) {}
PictureDetector::PictureDetector(network::Model model, const PictureDetectorOptions& options)
    : PictureDetector(
          exporting::ExportedModel{.model = std::move(model), .precision = {}, .quantisation = {}}, options) {
}
PictureDetector::~PictureDetector() = default;
PictureDetector::PictureDetector(PictureDetector&&) noexcept = default;

const std::vector<std::string>& PictureDetector::class_names() const {
  return impl_->model.class_names;
}

std::int64_t PictureDetector::largest_batch() const {
  return impl_->largest_batch;
}

std::vector<boxes::Detections> PictureDetector::detect(std::span<const image::Image> pictures) {
  if (pictures.empty()) return {};
  const std::vector<exporting::Grids> grids = impl_->grids_of(pictures);
  std::vector<boxes::Detections> found(pictures.size());
  base::parallel_for(static_cast<std::int64_t>(pictures.size()), [&](std::int64_t i) {
    const image::Image& picture = pictures[i];
    found[i] = in_image(impl_->boxes_of(grids[i]), picture,
                        image::place({picture.width, picture.height}, impl_->canvas, impl_->mode),
                        impl_->thresholds);
  });
  return found;
}

}  // namespace maskfit::deploy
