#include "export/bundle.h"

#include <fmt/ranges.h>

#include <unistd.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "export/bundle_files.h"
#include "export/bundle_texts.h"
#include "export/onnx_reader.h"
#include "export/quantise.h"
#include "network/model_file.h"

namespace maskfit::exporting {
namespace fs = std::filesystem;
namespace {

using base::Error;
using base::ExitCode;

std::string lines_of(const std::vector<std::string>& lines) {
  return fmt::format("{}\n", fmt::join(lines, "\n"));
}

formats::CalibrationCache table_of(const BundleRequest& request, const network::Network& network) {
  formats::CalibrationCache table;
  table.version = request.tensorrt;
  for (const network::Node& node : network.nodes) {
    table.scales.emplace_back(tensor_name(network, node.name), request.scales.at(node.name));
  }
  return table;
}

Pipeline pipeline_of(const BundleRequest& request, const std::map<std::string, std::string>& files) {
  Pipeline pipeline;
  const network::Model& model = request.trained;
  pipeline.model_file = request.precision == Precision::kInt8 ? kInt8ModelFile : kModelFile;
  pipeline.precision = name_of(request.precision);
  pipeline.class_names = model.class_names;
  pipeline.thresholds = request.thresholds;
  pipeline.threshold_source = request.threshold_source;
  pipeline.canvas = model.canvas;
  pipeline.input = {model.network.input.channels, model.network.input.height, model.network.input.width};
  pipeline.color = model.network.input.channels == 1 ? "grey" : "RGB";
  pipeline.nms_iou = request.nms_iou;
  for (const auto& [name, bytes] : files) pipeline.digests[name] = base::sha256(bytes);
  return pipeline;
}

// The model file as bytes: write_model writes files only, and a bundle must be complete before it is
// anywhere.
std::string model_bytes(const network::Model& model) {
  const fs::path path = fs::temp_directory_path() / fmt::format("maskfit-{}.safetensors", ::getpid());
  network::write_model(path, model);
  std::string bytes = base::read_file(path);
  fs::remove(path);
  return bytes;
}

void add_deepstream(const BundleRequest& request, std::map<std::string, std::string>& files) {
  const NvinferConfig config = nvinfer_config(request);
  files[kNvinferFile] = formats::print_key_file(to_key_file(config));
  const std::pair<const char*, DeepstreamSource> apps[] = {{kAppFile, DeepstreamSource::kFile},
                                                           {kAppCamera, DeepstreamSource::kCamera},
                                                           {kAppRtsp, DeepstreamSource::kRtsp}};
  for (const auto& [name, source] : apps) {
    files[name] = formats::print_key_file(deepstream_app_file(source, config, kNvinferFile));
  }
  files[kEngineScript] = engine_script(request, config);
}

bool is_bundle(const fs::path& folder) {
  return fs::is_regular_file(folder / kPipelineFile) && fs::is_regular_file(folder / kModelFile);
}

// Reads the parts of one bundle and notes what is wrong with them.
class BundleReader {
 public:
  BundleReader(const fs::path& folder, base::Findings* findings) : findings_(findings) {
    bundle_.folder = folder;
  }

  Bundle read() {
    const fs::path& folder = bundle_.folder;
    check_is_bundle(folder);
    bundle_.pipeline = pipeline_from_json(text(kPipelineFile), path(kPipelineFile));
    bundle_.trained = network::read_model(folder / kTrainedFile);
    bundle_.real = read_exported(folder / kModelFile);
    bundle_.has_integers = fs::is_regular_file(folder / kInt8ModelFile);
    if (bundle_.has_integers) bundle_.integers = read_exported(folder / kInt8ModelFile);
    for (const std::string& line : base::split(text(kLabelsFile), '\n')) {
      if (!base::trim(line).empty()) bundle_.labels.push_back(base::trim(line));
    }
    append(check_pipeline(bundle_.pipeline, bundle_.trained, path(kPipelineFile)));
    check_model(bundle_.real, kModelFile);
    if (bundle_.has_integers) check_model(bundle_.integers, kInt8ModelFile);
    read_deepstream();
    read_table();
    check_digests();
    return std::move(bundle_);
  }

 private:
  std::string path(const char* file) const { return (bundle_.folder / file).string(); }
  std::string text(const char* file) const { return base::read_file(bundle_.folder / file); }
  void append(const base::Findings& more) { findings_->insert(findings_->end(), more.begin(), more.end()); }
  void refuse(const char* file, const std::string& field, const std::string& what,
              const std::string& remedy) {
    findings_->push_back({base::Severity::kRefused, path(file), 0, field, what, remedy});
  }

  void check_model(const ExportedModel& exported, const char* file) {
    const network::Model &is = exported.model, &was = bundle_.trained;
    if (is.class_names != was.class_names) {
      refuse(file, "classes",
             fmt::format("{} where the trained model has {}", fmt::join(is.class_names, ", "),
                         fmt::join(was.class_names, ", ")),
             "export the bundle again");
    }
    const network::Shape a = is.network.input, b = was.network.input;
    if (a == b) return;
    const bool swapped = a.channels == b.channels && a.height == b.width && a.width == b.height;
    refuse(file, "input",
           fmt::format("{} {}x{}x{} where the trained model has {}x{}x{}",
                       swapped ? "height and width are swapped:" : "the input is", a.channels, a.height,
                       a.width, b.channels, b.height, b.width),
           "export the bundle again");
  }

  void read_deepstream() {
    bundle_.has_deepstream = fs::is_regular_file(bundle_.folder / kNvinferFile);
    if (!bundle_.has_deepstream) return;
    const std::string name = path(kNvinferFile);
    bundle_.nvinfer = nvinfer_config_of(formats::parse_key_file(text(kNvinferFile), name), name, findings_);
    append(check_nvinfer(bundle_.nvinfer, bundle_.trained, bundle_.folder, bundle_.labels, name));
    for (const char* app : {kAppFile, kAppCamera, kAppRtsp}) {
      if (!fs::is_regular_file(bundle_.folder / app)) continue;
      append(check_deepstream_app(formats::parse_key_file(text(app), path(app)), bundle_.nvinfer,
                                  bundle_.folder, path(app)));
    }
  }

  void read_table() {
    bundle_.has_table = fs::is_regular_file(bundle_.folder / kCalibrationFile);
    if (!bundle_.has_table) return;
    bundle_.table = formats::read_calibration_cache(bundle_.folder / kCalibrationFile);
    if (!bundle_.has_integers) return;
    const network::Network& network = bundle_.integers.model.network;
    int missing = 0, other = 0;
    for (const network::Node& node : network.nodes) {
      const float* scale = bundle_.table.find(tensor_name(network, node.name));
      missing += scale == nullptr ? 1 : 0;
      const auto own = bundle_.integers.quantisation.scales.find(node.name);
      if (scale != nullptr && own != bundle_.integers.quantisation.scales.end()) {
        other += std::fabs(*scale / own->second - 1) > 1e-3 ? 1 : 0;
      }
    }
    if (missing == 0 && other == 0) return;
    refuse(kCalibrationFile, "",
           fmt::format("a stale calibration table: {} of the model's tensors are missing from it, {} have "
                       "another scale than "
                       "in {}",
                       missing, other, kInt8ModelFile),
           "delete it together with the engine file, and export again; TensorRT would use it without a word");
  }

  void check_digests() {
    for (const auto& [file, digest] : bundle_.pipeline.digests) {
      if (!fs::is_regular_file(bundle_.folder / file)) {
        findings_->push_back({base::Severity::kWarning, path(file.c_str()), 0, "", "the file is gone",
                              "export again if a device needs it"});
      } else if (base::sha256(base::read_file(bundle_.folder / file)) != digest) {
        findings_->push_back({base::Severity::kWarning, path(file.c_str()), 0, "", "changed since the export",
                              "fine for thresholds and sources; otherwise export again"});
      }
    }
  }

  Bundle bundle_;
  base::Findings* findings_;
};

}  // namespace

ExportedModel real_model(const BundleRequest& request) {
  ExportedModel exported{
      .model = request.trained,
      .precision = request.precision == Precision::kFloat16 ? Precision::kFloat16 : Precision::kFloat32,
      .quantisation = {}};
  if (!request.keep_batch_norm) exported.model.network = fold_batch_norms(request.trained.network);
  exported.model.provenance[kNvinferOverlapKey] = fmt::format("{}", request.nms_iou);
  for (std::size_t c = 0; c < request.thresholds.size(); ++c) {
    exported.model.provenance[network::confidence_threshold_key(request.trained.class_names[c])] =
        fmt::format("{}", request.thresholds[c]);
  }
  return exported;
}

ExportedModel integer_model(const BundleRequest& request) {
  ExportedModel exported = real_model(request);
  exported.precision = Precision::kInt8;
  exported.quantisation = place_quantisation(exported.model.network, request.scales, request.float_layers);
  return exported;
}

NvinferConfig nvinfer_config(const BundleRequest& request) {
  return deepstream_config(request.trained, {.precision = request.precision,
                                             .thresholds = request.thresholds,
                                             .nms_iou = request.nms_iou,
                                             .eps = request.eps,
                                             .dbscan = request.dbscan,
                                             .batch = std::max(request.onnx.batch, 1)});
}

std::map<std::string, std::string> bundle_files(const BundleRequest& request) {
  std::map<std::string, std::string> files;
  const ExportedModel real = real_model(request);
  OnnxOptions real_options = request.onnx;
  if (request.precision == Precision::kInt8) real_options.opset = 0;  // the one given is for integers
  files[kModelFile] = formats::encode_onnx(to_onnx(real, real_options));
  if (request.precision == Precision::kInt8) {
    if (request.keep_batch_norm) {
      throw Error(ExitCode::kUsage, "integers need folded batch norms", "--keep-batch-norm",
                  "leave it out, or export fp32");
    }
    const ExportedModel integers = integer_model(request);
    files[kInt8ModelFile] = formats::encode_onnx(to_onnx(integers, request.onnx));
    files[kCalibrationFile] = formats::print_calibration_cache(table_of(request, integers.model.network));
  }
  files[kTrainedFile] = model_bytes(request.trained);
  files[kLabelsFile] = lines_of(request.trained.class_names);
  if (request.deepstream) add_deepstream(request, files);
  files[kPythonExample] = python_example();
  files[kCppExample] = cpp_example(request);
  files[kReadme] = readme(request);
  files[kPipelineFile] = pipeline_json(pipeline_of(request, files), request.trained);
  return files;
}

void write_bundle(const fs::path& folder, const std::map<std::string, std::string>& files, bool replace) {
  fs::path target = folder;
  if (!target.has_filename()) target = target.parent_path();  // "out/" is "out"
  std::error_code ignored;
  const bool occupied =
      fs::exists(target, ignored) && !(fs::is_directory(target, ignored) && fs::is_empty(target, ignored));
  if (occupied && !replace) {
    throw Error(ExitCode::kFailed, "the folder exists and is not empty", target.string(),
                "give another name, or --force");
  }
  if (occupied && !is_bundle(target)) {
    throw Error(ExitCode::kFailed, "the folder holds something else than a bundle", target.string(),
                "give another name: --force replaces bundles only");
  }
  const fs::path temporary = target.string() + fmt::format(".tmp{}", ::getpid());
  try {
    for (const auto& [name, bytes] : files) base::write_file(temporary / name, bytes);
    if (files.contains(kEngineScript)) {
      fs::permissions(temporary / kEngineScript,
                      fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec,
                      fs::perm_options::add);
    }
    if (fs::exists(target, ignored)) fs::remove_all(target);
    fs::rename(temporary, target);
  } catch (const fs::filesystem_error& error) {
    fs::remove_all(temporary, ignored);
    throw Error(ExitCode::kFailed, error.code().message(), target.string(),
                "check the disk and the folder's permissions");
  } catch (...) {
    fs::remove_all(temporary, ignored);
    throw;
  }
}

void check_is_bundle(const fs::path& folder) {
  if (is_bundle(folder)) return;
  throw Error(ExitCode::kRefused, "no bundle of maskfit export: it lacks pipeline.json or model.onnx",
              folder.string(), "give the folder that maskfit export wrote");
}

Bundle read_bundle(const fs::path& folder, base::Findings* findings) {
  return BundleReader(folder, findings).read();
}

ExportedModel with_table(const ExportedModel& integers, const formats::CalibrationCache& table) {
  ExportedModel result = integers;
  for (auto& [node, scale] : result.quantisation.scales) {
    const float* given = table.find(tensor_name(integers.model.network, node));
    if (given != nullptr && *given > 0) scale = *given;
  }
  return result;
}

}  // namespace maskfit::exporting
