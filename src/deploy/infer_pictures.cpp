#include "deploy/infer_pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/parallel.h"

namespace maskfit::deploy {
namespace {

// One batch: the files that could be read, with their pictures.
struct Batch {
  std::vector<const PictureFile*> files;
  std::vector<image::Image> pictures;
};

Batch read_batch(const std::vector<PictureFile>& files, std::size_t first, std::size_t count,
                 base::Findings& refused) {
  std::vector<std::optional<image::Image>> pictures(count);
  std::vector<base::Finding> failures(count);
  base::parallel_for(static_cast<std::int64_t>(count), [&](std::int64_t i) {
    const PictureFile& file = files[first + i];
    if (const std::size_t size = longest_result_name(file); size > kLongestName) {
      failures[i] = {
          base::Severity::kRefused,
          file.path.string(),
          0,
          "",
          fmt::format("a result would have a name of {} bytes, {} are possible", size, kLongestName),
          "rename the picture"};
      return;
    }
    try {
      pictures[i] = image::read_image(file.path);
    } catch (const base::Error& error) {
      failures[i] = {base::Severity::kRefused, file.path.string(), 0, "", error.what(), error.hint()};
    }
  });
  Batch batch;
  for (std::size_t i = 0; i < count; ++i) {
    if (!pictures[i]) {
      refused.push_back(failures[i]);
      continue;
    }
    batch.files.push_back(&files[first + i]);
    batch.pictures.push_back(std::move(*pictures[i]));
  }
  return batch;
}

}  // namespace

InferSummary infer_pictures(PictureDetector& detector, const std::vector<PictureFile>& files,
                            ResultWriter& writer, const InferRun& run) {
  InferSummary summary;
  const auto batch_size =
      static_cast<std::size_t>(std::min<std::int64_t>(run.batch, detector.largest_batch()));
  for (std::size_t first = 0; first < files.size() && !run.stop.stop_requested();) {
    const std::size_t count = std::min(batch_size, files.size() - first);
    const Batch batch = read_batch(files, first, count, summary.refused);
    const std::vector<boxes::Detections> found = detector.detect(batch.pictures);
    for (std::size_t i = 0; i < batch.files.size(); ++i) {
      writer.add(*batch.files[i], batch.pictures[i], found[i]);
      summary.detections += static_cast<std::int64_t>(found[i].size());
    }
    summary.pictures += static_cast<std::int64_t>(batch.files.size());
    first += count;
    if (run.progress) run.progress(static_cast<std::int64_t>(first), static_cast<std::int64_t>(files.size()));
  }
  writer.finish();
  return summary;
}

}  // namespace maskfit::deploy
