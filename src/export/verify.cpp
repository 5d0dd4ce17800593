#include "export/verify.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/error.h"
#include "export/bundle_files.h"

namespace maskfit::exporting {
namespace {

constexpr double kLayerShare = 1e-3;  // real numbers: far above rounding, far below what moves a box
constexpr float kFallbackIou = 0.3f;

// Without DeepStream's file: what pipeline.json says.
NvinferConfig rules_of(const Bundle& bundle) {
  if (bundle.has_deepstream) {
    NvinferConfig rules = bundle.nvinfer;
    // The device's faults are checked one by one; the comparison goes by the classes of the trained model.
    rules.class_attributes.resize(bundle.trained.class_names.size(), rules.class_attributes.empty()
                                                                         ? postprocess::NvinferClass{}
                                                                         : rules.class_attributes.back());
    const bool known = rules.mode == postprocess::NvinferClusterMode::kNms ||
                       rules.mode == postprocess::NvinferClusterMode::kDbscan ||
                       rules.mode == postprocess::NvinferClusterMode::kNone;
    if (!known) rules.mode = postprocess::NvinferClusterMode::kNms;
    return rules;
  }
  NvinferConfig rules;
  rules.mode = postprocess::NvinferClusterMode::kNms;
  for (std::size_t c = 0; c < bundle.trained.class_names.size(); ++c) {
    postprocess::NvinferClass attributes;
    attributes.pre_cluster_threshold =
        c < bundle.pipeline.thresholds.size() ? bundle.pipeline.thresholds[c] : 0.3f;
    attributes.nms_iou_threshold = bundle.pipeline.nms_iou > 0 ? bundle.pipeline.nms_iou : kFallbackIou;
    rules.class_attributes.push_back(attributes);
  }
  return rules;
}

// What the device's configuration makes of pixels 0..1: another range, other colours; black beside a picture
// that was fitted into grey.
std::function<void(std::vector<float>&)> device_pixels(const NvinferConfig& config,
                                                       const network::Model& model) {
  const network::Shape in = model.network.input;
  const std::size_t plane = static_cast<std::size_t>(in.height) * in.width;
  return [config, in, plane](std::vector<float>& pixels) {
    for (std::size_t i = 0; i < pixels.size(); ++i) {
      const std::size_t c = i / plane;
      const float offset = c < config.offsets.size() ? config.offsets[c] : 0;
      pixels[i] = config.net_scale_factor * (pixels[i] * 255 - offset);
    }
    if (config.color_format == 1 && in.channels == 3) {
      std::swap_ranges(pixels.begin(), pixels.begin() + static_cast<std::ptrdiff_t>(plane),
                       pixels.begin() + static_cast<std::ptrdiff_t>(2 * plane));
    }
  };
}

Forward forward_of(const std::shared_ptr<const Executor>& executor) {
  return [executor](const std::vector<std::span<const float>>& pictures) { return executor->run(pictures); };
}

// The pictures with black instead of grey beside them, as nvinfer pads.
PictureSource with_black_padding(const PictureSource& pictures) {
  return {pictures.count, [pictures](std::int64_t i) {
            Picture picture = pictures.at(i);
            image::Image& canvas = picture.canvas;
            for (int y = 0; y < canvas.height; ++y) {
              const int from = y < picture.content.height ? picture.content.width : 0;
              std::fill(canvas.row(y) + static_cast<std::ptrdiff_t>(from) * canvas.channels,
                        canvas.row(y) + static_cast<std::ptrdiff_t>(canvas.width) * canvas.channels,
                        std::uint8_t{0});
            }
            return picture;
          }};
}

class Gate {
 public:
  Gate(const Bundle& bundle, const PictureSource& pictures, const VerifyOptions& options)
      : bundle_(bundle), pictures_(pictures), options_(options), rules_(rules_of(bundle)) {}

  Verification run(const base::Findings& found, const Forward& trained) {
    if (pictures_.count == 0) {
      throw base::Error(base::ExitCode::kRefused, "no pictures to compare on", bundle_.folder.string(),
                        "give a dataset with pictures");
    }
    result_.findings = found;
    result_.pictures = pictures_.count;
    add(run_variant("trained", trained, pictures_, rules_, bundle_.trained.class_names), false);
    refuse_nothing_found();
    if (same_shape(bundle_.real)) compare_real();
    if (bundle_.has_integers && same_shape(bundle_.integers)) compare_integers();
    if (bundle_.has_deepstream && same_shape(bundle_.real)) run_as_configured();
    for (const base::Finding& finding : result_.findings) {
      if (finding.severity == base::Severity::kRefused) result_.good = false;
    }
    return std::move(result_);
  }

 private:
  bool same_shape(const ExportedModel& exported) const {
    return exported.model.network.input == bundle_.trained.network.input &&
           exported.model.class_names.size() == bundle_.trained.class_names.size();
  }

  // Where the trained model sees nothing, everything agrees with it.
  void refuse_nothing_found() {
    for (const evaluate::PictureResult& picture : result_.variants.front().found) {
      if (!picture.detections.empty()) return;
    }
    fail(result_.rows.front(), kTrainedFile,
         fmt::format("the trained model finds no box in {} pictures: there is nothing to compare",
                     pictures_.count),
         "give pictures like those it was trained on, lower the thresholds, or train longer");
  }

  VerifyRow& add(Variant variant, bool compared) {
    VerifyRow row;
    row.name = variant.name;
    row.map = variant.evaluation.map;
    for (const evaluate::ClassResult& c : variant.evaluation.classes) row.ap.push_back(c.ap);
    row.compared = compared;
    if (compared) row.difference = difference(result_.variants.front(), variant, rules_, options_.tolerances);
    result_.rows.push_back(row);
    result_.variants.push_back(std::move(variant));
    return result_.rows.back();
  }

  void fail(VerifyRow& row, const char* file, const std::string& what, const std::string& remedy) {
    row.good = false;
    result_.findings.push_back(
        {base::Severity::kRefused, (bundle_.folder / file).string(), 0, "", what, remedy});
  }

  // The trained network in our own executor, for a look inside.
  ExportedModel reference() const {
    ExportedModel exported{.model = bundle_.trained, .precision = Precision::kFloat32, .quantisation = {}};
    exported.model.network = fold_batch_norms(exported.model.network);
    return exported;
  }

  void compare_real() {
    const auto executor = std::make_shared<const Executor>(bundle_.real);
    const char* name = name_of(bundle_.real.precision);
    VerifyRow& row =
        add(run_variant(name, forward_of(executor), pictures_, rules_, bundle_.trained.class_names), true);
    const Difference& d = row.difference;
    const Tolerances& t = options_.tolerances;
    if (d.box_px <= t.box_px && d.confidence <= t.confidence && d.lost == 0 && d.added == 0) return;
    const LayerDifference first = first_difference(Executor(reference()), *executor, pictures_, kLayerShare);
    const std::string where =
        first.layer.empty() ? "no layer differs by itself"
                            : fmt::format("the difference begins in the layer '{}' ({:.2g} of its range)",
                                          first.layer, first.share);
    fail(row, kModelFile,
         fmt::format("boxes move by up to {:.2f} px and confidences by up to {:.3f}, {} boxes are lost and "
                     "{} new (allowed: {} px, "
                     "{}); {}",
                     d.box_px, d.confidence, d.lost, d.added, t.box_px, t.confidence, where),
         bundle_.real.precision == Precision::kFloat16
             ? "export fp32: this model needs more digits than fp16 has"
             : "export again from trained.safetensors; the file was changed or belongs to another model");
  }

  void compare_integers() {
    const ExportedModel as_run =
        bundle_.has_table ? with_table(bundle_.integers, bundle_.table) : bundle_.integers;
    const auto executor = std::make_shared<const Executor>(as_run);
    VerifyRow& row =
        add(run_variant("int8", forward_of(executor), pictures_, rules_, bundle_.trained.class_names), true);
    const double loss = 100 * (result_.rows.front().map - row.map);
    if (loss <= options_.tolerances.ap_points) return;
    const std::vector<LayerDifference> layers =
        layer_differences(Executor(reference()), *executor, pictures_);
    // Errors grow from layer to layer; the one named is where they grow most.
    std::string worst;
    double before = 0, jump = 0;
    for (const LayerDifference& layer : layers) {
      if (layer.share - before > jump) {
        jump = layer.share - before;
        worst = layer.layer;
      }
      before = std::max(before, layer.share);
    }
    fail(row, kInt8ModelFile,
         fmt::format("integers cost {:.2f} AP points, {} are allowed; the error grows most in the layer '{}' "
                     "(by {:.2g} of its range)",
                     loss, options_.tolerances.ap_points, worst, jump),
         "export again with --float-layers auto, another --calibration (percentile, minmax), or more "
         "--calibration-pictures");
  }

  // As a device with this configuration sees the pictures.
  void run_as_configured() {
    const auto executor = std::make_shared<const Executor>(bundle_.real);
    const PictureSource pictures =
        bundle_.nvinfer.keep_aspect_ratio ? with_black_padding(pictures_) : pictures_;
    VerifyRow& row =
        add(run_variant("device", forward_of(executor), pictures, rules_, bundle_.trained.class_names,
                        device_pixels(bundle_.nvinfer, bundle_.trained)),
            false);
    const double loss = 100 * (result_.rows.front().map - row.map);
    if (loss <= options_.tolerances.ap_points) return;
    row.good = false;
    const bool known =
        std::any_of(result_.findings.begin(), result_.findings.end(),
                    [](const base::Finding& f) { return f.severity == base::Severity::kRefused; });
    // With nothing wrong in the files it is the black padding of a letterboxed model: a cost to know, not a
    // fault.
    result_.findings.push_back({known ? base::Severity::kRefused : base::Severity::kWarning,
                                (bundle_.folder / kNvinferFile).string(), 0, "",
                                fmt::format("with this configuration a device loses {:.2f} AP points", loss),
                                known ? "mend what is named above"
                                      : "nvinfer pads with black what training padded with grey; train with "
                                        "the canvas STRETCH to avoid it"});
  }

  const Bundle& bundle_;
  const PictureSource& pictures_;
  const VerifyOptions& options_;
  const NvinferConfig rules_;
  Verification result_;
};

}  // namespace

Verification verify_bundle(const Bundle& bundle, const base::Findings& found, const Forward& trained,
                           const PictureSource& pictures, const VerifyOptions& options) {
  return Gate(bundle, pictures, options).run(found, trained);
}

std::string verification_table(const Verification& verification,
                               const std::vector<std::string>& class_names) {
  std::string text = fmt::format("{:<10} {:>7}", "", "mAP50");
  for (const std::string& name : class_names) text += fmt::format(" {:>12}", name.substr(0, 12));
  text += fmt::format(" {:>8} {:>8} {:>10} {:>6} {:>5} {:>5}\n", "boxes", "px", "confidence", "lost", "new",
                      "edge");
  for (const VerifyRow& row : verification.rows) {
    text += fmt::format("{:<10} {:>7.4f}", row.name, row.map);
    for (const double ap : row.ap) text += fmt::format(" {:>12.4f}", ap);
    const Difference& d = row.difference;
    if (row.compared) {
      text += fmt::format(" {:>8} {:>8.3f} {:>10.4f} {:>6} {:>5} {:>5}", d.boxes, d.box_px, d.confidence,
                          d.lost, d.added, d.at_threshold);
    }
    text += row.good ? "\n" : "  NOT GOOD\n";
  }
  return text;
}

}  // namespace maskfit::exporting
