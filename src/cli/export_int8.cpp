#include "cli/export_int8.h"

#include <fmt/ranges.h>

#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "base/text.h"
#include "cli/exported_pictures.h"
#include "export/parity.h"
#include "export/quantise.h"
#include "export/sensitivity.h"
#include "formats/tensorfile.h"

namespace maskfit::cli {
namespace {

using base::Error;
using base::ExitCode;

constexpr std::int64_t kBatch = 8, kSensitivityPictures = 4, kSubset = 60;
constexpr int kMostFloatLayers = 5, kMostTried = 8;

// Calls `use` with batches of pixels from the tensorfile or the training pictures; writes the tensorfile on
// the way.
void for_each_batch(const Int8Options& o, const network::Model& model,
                    const std::function<void(const std::vector<std::span<const float>>&)>& use) {
  const network::Shape in = model.network.input;
  const std::size_t size = static_cast<std::size_t>(in.channels) * in.height * in.width;
  if (!o.tensorfile.empty() && std::filesystem::exists(o.tensorfile)) {
    const formats::TensorfileReader reader(o.tensorfile);
    const formats::BatchShape s = reader.shape();
    if (s[1] != in.channels || s[2] != in.height || s[3] != in.width) {
      throw Error(ExitCode::kRefused,
                  fmt::format("the calibration data are pictures of {}x{}x{}, the model takes {}x{}x{}", s[1],
                              s[2], s[3], in.channels, in.height, in.width),
                  o.tensorfile.string(), "name a file that does not exist yet, and it is written");
    }
    for (std::int64_t b = 0; b < reader.count(); ++b) {
      const std::vector<float> batch = reader.batch(b);
      std::vector<std::span<const float>> pictures;
      for (std::int64_t i = 0; i < s[0]; ++i)
        pictures.emplace_back(batch.data() + static_cast<std::size_t>(i) * size, size);
      use(pictures);
    }
    return;
  }
  if (o.data.empty()) {
    throw Error(ExitCode::kUsage, "8-bit integers need pictures to calibrate with", "--data",
                "give the dataset that the model was trained on");
  }
  const exporting::PictureSource train = open_pictures(model, o.data, "train", o.pictures);
  const std::int64_t per_batch = std::min(kBatch, train.count);
  std::unique_ptr<formats::TensorfileWriter> writer;
  if (!o.tensorfile.empty()) {
    writer = std::make_unique<formats::TensorfileWriter>(
        o.tensorfile, formats::BatchShape{per_batch, in.channels, in.height, in.width},
        base::Overwrite::kRefuse);
  }
  for (std::int64_t first = 0; first + per_batch <= train.count;
       first += per_batch) {  // whole batches, as the reference
    std::vector<float> batch;
    for (std::int64_t i = 0; i < per_batch; ++i) {
      const std::vector<float> pixels = exporting::network_pixels(train.at(first + i).canvas);
      batch.insert(batch.end(), pixels.begin(), pixels.end());
    }
    if (writer) writer->add(batch);
    std::vector<std::span<const float>> pictures;
    for (std::int64_t i = 0; i < per_batch; ++i)
      pictures.emplace_back(batch.data() + static_cast<std::size_t>(i) * size, size);
    use(pictures);
  }
  if (writer) writer->close();
}

exporting::PictureSource some_of(const exporting::PictureSource& all, std::int64_t count) {
  count = std::min(count, all.count);
  return {count, [all, count](std::int64_t i) { return all.at(i * all.count / count); }};
}

double map_of(const exporting::ExportedModel& exported, const exporting::BundleRequest& request,
              const exporting::PictureSource& pictures) {
  const exporting::Executor executor(exported);
  const exporting::Forward forward = [&](const std::vector<std::span<const float>>& p) {
    return executor.run(p);
  };
  return exporting::run_variant("", forward, pictures, exporting::nvinfer_config(request),
                                request.trained.class_names)
      .evaluation.map;
}

std::vector<exporting::LayerSensitivity> ranked_layers(const network::Model& folded,
                                                       const exporting::BundleRequest& request,
                                                       const exporting::PictureSource& validation) {
  if (validation.count == 0) {
    throw Error(ExitCode::kUsage, "layers are chosen by what they do to pictures", "--float-layers",
                "give --data, or names of layers");
  }
  spdlog::info("measuring every layer alone in 8 bit");
  const auto ranked =
      exporting::layer_sensitivity(folded, request.scales, some_of(validation, kSensitivityPictures));
  for (std::size_t i = 0; i < std::min<std::size_t>(ranked.size(), 8); ++i) {
    spdlog::info("  {:<28} boxes {:.3f} px  coverage {:.4f}", ranked[i].layer, ranked[i].box_px,
                 ranked[i].coverage);
  }
  return ranked;
}

// Takes layers out, the most harmful first, until the loss is small enough. A layer whose real numbers do not
// help beside those already taken out stays in integers.
void choose_automatically(const Int8Options& o, const exporting::PictureSource& validation,
                          exporting::BundleRequest& request) {
  const exporting::PictureSource subset = some_of(validation, kSubset);
  const exporting::ExportedModel real = exporting::real_model(request);
  const double wanted = map_of(real, request, subset) - o.ap_points / 100;
  double map = map_of(exporting::integer_model(request), request, subset);
  if (map >= wanted) return;
  int tried = 0;
  for (const exporting::LayerSensitivity& layer : ranked_layers(real.model, request, validation)) {
    if (map >= wanted || request.float_layers.size() >= kMostFloatLayers || ++tried > kMostTried) break;
    request.float_layers.insert(layer.layer);
    const double with_it = map_of(exporting::integer_model(request), request, subset);
    spdlog::info("with {} in real numbers: mAP {:.4f} (wanted {:.4f}){}",
                 fmt::join(request.float_layers, ", "), with_it, wanted,
                 with_it > map ? "" : fmt::format("; {} goes back", layer.layer));
    if (with_it > map) {
      map = with_it;
    } else {
      request.float_layers.erase(layer.layer);
    }
  }
}

void choose_float_layers(const Int8Options& o, const exporting::PictureSource& validation,
                         exporting::BundleRequest& request) {
  long long number = 0;
  if (o.float_layers.empty() || o.float_layers == "none") return;
  if (o.float_layers == "auto") return choose_automatically(o, validation, request);
  const network::Model folded = exporting::real_model(request).model;
  const std::vector<std::string> known = exporting::convolutions_of(folded.network);
  if (base::parse_int(o.float_layers, &number)) {
    if (number < 0)
      throw Error(ExitCode::kUsage, "a negative number of layers", "--float-layers", "give 0 or more");
    const auto ranked = ranked_layers(folded, request, validation);
    for (std::size_t i = 0; i < std::min<std::size_t>(ranked.size(), static_cast<std::size_t>(number)); ++i) {
      request.float_layers.insert(ranked[i].layer);
    }
    return;
  }
  for (const std::string& name : base::split(o.float_layers, ',')) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const std::string near = base::nearest_name(name, known);
      throw Error(
          ExitCode::kUsage, fmt::format("the model has no convolution '{}'", name), "--float-layers",
          near.empty() ? "give names of convolutions, e.g. conv1" : fmt::format("did you mean {}?", near));
    }
    request.float_layers.insert(name);
  }
}

}  // namespace

void quantise_request(const Int8Options& options, const exporting::PictureSource& validation,
                      exporting::BundleRequest& request) {
  exporting::Calibrator calibrator(exporting::real_model(request).model);
  for_each_batch(options, request.trained, [&](const auto& pictures) { calibrator.add(pictures); });
  if (calibrator.pictures() == 0) {
    throw Error(ExitCode::kRefused, "no pictures to calibrate with", options.data.string(),
                "give more pictures");
  }
  spdlog::info("calibrated on {} pictures ({})", calibrator.pictures(), name_of(options.method));
  request.scales = calibrator.scales(options.method);
  choose_float_layers(options, validation, request);
  if (!request.float_layers.empty()) {
    spdlog::info("left in real numbers: {}", fmt::join(request.float_layers, ", "));
  }
}

}  // namespace maskfit::cli
