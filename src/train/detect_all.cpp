#include "train/detect_all.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/parallel.h"
#include "model/outputs.h"
#include "postprocess/postprocess.h"
#include "tensor/array.h"
#include "tensor/side_stream.h"
#include "train/pixels.h"
#include "train/share_validation.h"

namespace maskfit::train {
namespace {

// Cut to the part of the canvas that the picture covers: beside it is grey, where no object can be.
boxes::Box cut(const boxes::Box& box, const image::Placement& placement) {
  return boxes::clip(box, static_cast<float>(placement.scaled.width),
                     static_cast<float>(placement.scaled.height));
}

// One picture's part of a batch's outputs, which lie on the CPU as contiguous floats.
postprocess::OutputGrids grids_of(const at::Tensor& cov, const at::Tensor& bbox, std::int64_t item,
                                  image::Size canvas) {
  const int classes = static_cast<int>(cov.size(1));
  const int height = static_cast<int>(cov.size(2)), width = static_cast<int>(cov.size(3));
  const std::size_t cells = static_cast<std::size_t>(width) * height;
  return {.geometry = {canvas.width, canvas.height, width, height},
          .classes = classes,
          .coverage = {cov.data_ptr<float>() + item * classes * cells, classes * cells},
          .box = {bbox.data_ptr<float>() + item * classes * 4 * cells, classes * 4 * cells}};
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

// The highest coverage of each class in this batch; cov is [N][C][H][W] on the CPU.
void note_coverage(const at::Tensor& cov, std::vector<evaluate::ClassSignal>& signals) {
  const at::Tensor highest = cov.amax({0, 2, 3});
  for (std::size_t c = 0; c < signals.size(); ++c) {
    signals[c].highest_coverage = std::max(signals[c].highest_coverage, highest[c].item<float>());
  }
}

// The first picture of the batch with a NaN or infinite output, or -1.
std::int64_t non_finite_item(const at::Tensor& cov, const at::Tensor& bbox) {
  const at::Tensor finite =
      at::isfinite(cov).flatten(1).all(1).logical_and(at::isfinite(bbox).flatten(1).all(1));
  return finite.all().item<bool>() ? -1 : finite.to(at::kByte).argmin().item<std::int64_t>();
}

// The thresholds that a signal has to pass, for a diagnosis.
std::vector<evaluate::ClassSignal> signals_of(const std::vector<postprocess::ClassClustering>& clustering) {
  std::vector<evaluate::ClassSignal> signals;
  for (const postprocess::ClassClustering& c : clustering) {
    const bool nms = c.algorithm == postprocess::Algorithm::kNms;
    signals.push_back({.highest_coverage = 0,
                       .coverage_threshold = c.coverage_threshold,
                       .highest_confidence = 0,
                       .confidence_threshold = nms ? c.nms_threshold : c.cluster_threshold});
  }
  return signals;
}

// How grids become detections.
struct Decoding {
  postprocess::Options options;
  std::vector<postprocess::ClassClustering> clustering;
};

// The outputs of pictures [first, first + count) as detections.
void read_outputs(const model::Outputs& outputs, const loader::PictureSet& pictures, std::int64_t first,
                  std::int64_t count, const Decoding& decoding, DetectedShare& share, DetectedSet& result) {
  const at::Tensor cov = outputs.cov.to(at::kCPU).contiguous();
  const at::Tensor bbox = outputs.bbox.to(at::kCPU).contiguous();
  result.geometry = grids_of(cov, bbox, 0, pictures.canvas_size()).geometry;
  note_coverage(cov, result.signals);
  if (const std::int64_t item = non_finite_item(cov, bbox); item >= 0 && share.non_finite_picture < 0) {
    share.non_finite_picture = first + item;
  }
  base::parallel_for(count, [&](std::int64_t i) {
    evaluate::PictureResult& picture = result.pictures[first + i];
    picture.id = pictures.id(first + i);
    picture.truths = pictures.truths_in_network(first + i);
    picture.detections = postprocess::detections_from_grids(grids_of(cov, bbox, i, pictures.canvas_size()),
                                                            decoding.clustering, decoding.options);
    for (boxes::Detection& detection : picture.detections) {
      detection.box = cut(detection.box, pictures.placement(first + i));
    }
  });
}

Decoding decoding_of(const DetectOptions& options) {
  Decoding decoding;
  decoding.options = {.path = postprocess::Path::kEvaluation,
                      .scale = options.coding.scale,
                      .offset = options.coding.offset,
                      .reference_exact = options.reference_exact};
  decoding.clustering =
      postprocess::clustering_from_spec(options.postprocessing, options.class_names, decoding.options);
  return decoding;
}

DetectedSet empty_set(const loader::PictureSet& pictures, const Decoding& decoding) {
  DetectedSet result;
  result.signals = signals_of(decoding.clustering);
  result.pictures.resize(static_cast<std::size_t>(pictures.size()));
  return result;
}

// Calls visit(outputs, first, count) for every batch of the set.
template <typename Visit>
void for_each_batch(model::Detector& detector, const loader::PictureSet& pictures,
                    const DetectOptions& options, Visit visit) {
  const PlainPixels plain(pictures, detector.device());
  const PlainPixels& pixels = options.pixels ? *options.pixels : plain;
  for (std::int64_t first = 0; first < pictures.size(); first += options.batch) {
    if (!is_mine(options.group, first / options.batch)) continue;
    options.stop.throw_if_requested();
    const std::int64_t count = std::min<std::int64_t>(options.batch, pictures.size() - first);
    visit(pixels.make(first, count), first, count);
    if (options.progress) options.progress(first + count, pictures.size());
  }
}

// The cost of a batch times its pictures.
at::Tensor summed_cost(const DetectOptions& options, const model::Outputs& outputs, std::int64_t first,
                       std::int64_t count) {
  return options.cost(outputs, first, count).detach().to(at::kDouble).mul(static_cast<double>(count));
}

}  // namespace

DetectedSet detect_all(model::Detector& detector, const loader::PictureSet& pictures,
                       const DetectOptions& options) {
  const Decoding decoding = decoding_of(options);
  DetectedSet result = empty_set(pictures, decoding);
  DetectedShare share;
  std::vector<double> seconds;  // a picture, by batch
  for_each_batch(
      detector, pictures, options, [&](const at::Tensor& images, std::int64_t first, std::int64_t count) {
        const auto start = std::chrono::steady_clock::now();
        const model::Outputs outputs = detector.forward(images, /*training=*/false);
        read_outputs(outputs, pictures, first, count, decoding, share, result);
        for (std::int64_t i = 0; i < count; ++i) share.pictures.push_back(first + i);
        const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
        seconds.push_back(elapsed.count() / static_cast<double>(count));
        const double cost = options.cost ? tensor::to_number(summed_cost(options, outputs, first, count)) : 0;
        share.batch_costs.push_back(cost);
        result.cost += cost;
      });
  if (share.non_finite_picture >= 0) result.non_finite_picture = pictures.id(share.non_finite_picture);
  if (options.group) gather_shares(*options.group, pictures, std::move(share), result);
  if (pictures.size() > 0) result.cost /= static_cast<double>(pictures.size());
  result.median_seconds_per_picture = median(std::move(seconds));
  return result;
}

struct PendingDetections::Impl {
  const loader::PictureSet& pictures;
  DetectOptions options;
  model::Outputs outputs;  // of all pictures; logits are not kept
  at::Tensor cost;         // sum over the pictures; undefined without a cost function
  std::optional<tensor::Moment> computed;
};

PendingDetections::PendingDetections(model::Detector& detector, const loader::PictureSet& pictures,
                                     DetectOptions options)
    : impl_(std::make_unique<Impl>(Impl{pictures, std::move(options), {}, {}, {}})) {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> bbox, cov, costs;
  for_each_batch(detector, pictures, impl_->options,
                 [&](const at::Tensor& images, std::int64_t first, std::int64_t count) {
                   const model::Outputs outputs = detector.forward(images, /*training=*/false);
                   bbox.push_back(outputs.bbox);
                   cov.push_back(outputs.cov);
                   if (impl_->options.cost)
                     costs.push_back(summed_cost(impl_->options, outputs, first, count));
                 });
  if (bbox.empty()) return;
  impl_->outputs.bbox = at::cat(bbox);
  impl_->outputs.cov = at::cat(cov);
  if (!costs.empty()) impl_->cost = at::stack(costs).sum();
  impl_->computed.emplace(impl_->outputs.cov.device());
}

PendingDetections::~PendingDetections() = default;
PendingDetections::PendingDetections(PendingDetections&&) noexcept = default;

DetectedSet PendingDetections::finish() {
  const Decoding decoding = decoding_of(impl_->options);
  DetectedSet result = empty_set(impl_->pictures, decoding);
  if (!impl_->outputs.bbox.defined()) return result;
  impl_->computed->wait();
  const tensor::SideStream side(impl_->outputs.cov.device());
  DetectedShare all;
  read_outputs(impl_->outputs, impl_->pictures, 0, impl_->pictures.size(), decoding, all, result);
  if (all.non_finite_picture >= 0) result.non_finite_picture = impl_->pictures.id(all.non_finite_picture);
  if (impl_->cost.defined()) {
    result.cost = tensor::to_number(impl_->cost) / static_cast<double>(impl_->pictures.size());
  }
  return result;
}

}  // namespace maskfit::train
