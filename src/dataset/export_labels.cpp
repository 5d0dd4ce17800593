#include "dataset/export_labels.h"

#include <atomic>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/parallel.h"
#include "dataset/export_formats.h"
#include "dataset/export_names.h"
#include "image/image.h"

namespace maskfit::dataset {
namespace fs = std::filesystem;
using nlohmann::ordered_json;
namespace {

using Pictures = ExportOptions::Pictures;

constexpr std::pair<const char*, ExportFormat> kFormats[] = {{"kitti", ExportFormat::kKitti},
                                                             {"voc", ExportFormat::kVoc},
                                                             {"yolo", ExportFormat::kYolo},
                                                             {"coco", ExportFormat::kCoco}};

void check_dataset(const Dataset& dataset, const ExportOptions& options) {
  if (dataset.samples.empty())
    throw base::Error(base::ExitCode::kRefused, "the dataset is empty", dataset.root.string());
  if (!dataset.root.empty()) check_apart(dataset.root, options.folder);
  if (options.pictures == Pictures::kNone) return;
  std::int64_t missing = 0;
  fs::path first;
  std::error_code ignored;
  for (const Sample& sample : dataset.samples) {
    const fs::path picture = dataset.image_path(sample);
    if (fs::is_regular_file(picture, ignored)) continue;
    if (missing++ == 0) first = picture;
  }
  if (missing == 0) return;
  throw base::Error(base::ExitCode::kRefused,
                    fmt::format("{} of {} pictures are not there", missing, dataset.samples.size()),
                    first.string(),
                    "import the data again where the pictures are, or write labels alone: --pictures none");
}

bool is_turned(const fs::path& picture) {
  try {
    image::ReadInfo info;
    image::read_image_size(picture, &info);
    return info.orientation != 1;
  } catch (const base::Error&) {
    return false;  // the dataset says that it could be read once; a copy of a damaged picture is the picture
  }
}

std::string mark_text(const Dataset& dataset, const ExportOptions& options, const ExportResult& result) {
  ordered_json mark;
  for (const auto& [name, format] : kFormats) {
    if (format == options.format) mark["format"] = name;
  }
  mark["written_by"] = "maskfit data convert";
  mark["classes"] = dataset.class_names;
  mark["dataset_digest"] = digest(dataset);
  mark["pictures"] = dataset.samples.size();
  mark["not_carried"] = ordered_json::array();
  for (const ExportLoss& loss : result.losses) {
    mark["not_carried"].push_back({{"what", loss.what}, {"count", loss.count}, {"example", loss.example}});
  }
  return mark.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

std::vector<std::string> converted_classes(const std::string& text) {
  const auto mark = ordered_json::parse(text, nullptr, false);
  std::vector<std::string> classes;
  if (!mark.is_object() || !mark.contains("classes") || !mark["classes"].is_array()) return classes;
  for (const auto& name : mark["classes"]) {
    if (name.is_string()) classes.push_back(name.get<std::string>());
  }
  return classes;
}

ExportFormat export_format_from_name(const std::string& name) {
  for (const auto& [known, format] : kFormats) {
    if (name == known) return format;
  }
  throw base::Error(base::ExitCode::kUsage, fmt::format("unknown label format '{}'", name), "--to",
                    "one of kitti, voc, yolo, coco, tfrecord");
}

ExportResult export_labels(const Dataset& dataset, const ExportOptions& options) {
  check_dataset(dataset, options);
  const auto writer = make_format_writer(dataset, options);
  StagedFolder folder(options.folder, options.overwrite);
  std::vector<std::string> ids;
  for (const Sample& sample : dataset.samples) ids.push_back(sample.id);
  const std::vector<std::string> names = export_names(ids);

  const auto total = static_cast<std::int64_t>(dataset.samples.size());
  std::atomic<std::int64_t> done{0}, turned{0};
  LossCounter losses;
  base::parallel_for(total, [&](std::int64_t at) {
    options.stop.throw_if_requested();
    const auto i = static_cast<std::size_t>(at);
    const Sample& sample = dataset.samples[i];
    const fs::path picture = dataset.image_path(sample);
    const fs::path image_file = writer->image_file(sample, names[i]);
    if (options.pictures == Pictures::kLink) folder.link(image_file, picture);
    if (options.pictures == Pictures::kCopy) folder.copy(image_file, picture);
    if (options.pictures != Pictures::kNone && is_turned(picture)) ++turned;
    writer->write_label(sample, names[i], folder, &losses);
    if (!sample.group.empty()) losses.add("groups of pictures that belong together", sample);
    if (options.progress) options.progress(++done, total);
  });
  ExportResult result;
  result.label_files = writer->finish(names, folder, &losses);
  if (writer->has_label_per_sample()) result.label_files += total;
  result.written = count_by_split(dataset);
  result.losses = losses.losses();
  result.turned = turned;
  options.stop.throw_if_requested();
  folder.commit(mark_text(dataset, options, result));
  return result;
}

}  // namespace maskfit::dataset
