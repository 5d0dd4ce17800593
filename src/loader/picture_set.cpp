#include "loader/picture_set.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <mutex>

#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"

namespace maskfit::loader {
namespace {

using base::Error;
using base::ExitCode;

constexpr std::size_t kNamedPictures = 5;  // in an error message
constexpr float kSmallestSide = 1;         // pixels of the canvas, as the reference

boxes::Truths truths_on_canvas(const dataset::Sample& sample, const image::Placement& placement,
                               const ClassMapping& classes) {
  boxes::Truths truths;
  for (const dataset::LabeledBox& label : sample.boxes) {
    const int class_index = classes.index_of(label.class_name);
    if (class_index < 0 && !label.ignore) continue;
    const boxes::Box box = image::canvas_from_image(label.box_in_image, placement);
    if (box.width() < kSmallestSide || box.height() < kSmallestSide) continue;
    truths.push_back({box, class_index, label.ignore});
  }
  return truths;
}

image::Image luma(const image::Image& rgb) {
  image::Image grey{rgb.width, rgb.height, 1, {}};
  grey.pixels.resize(static_cast<std::size_t>(rgb.width) * rgb.height);
  for (std::size_t i = 0; i < grey.pixels.size(); ++i) {
    const std::uint8_t* p = rgb.pixels.data() + 3 * i;
    grey.pixels[i] = static_cast<std::uint8_t>((299 * p[0] + 587 * p[1] + 114 * p[2] + 500) / 1000);
  }
  return grey;
}

std::string describe(const Error& error) {
  return error.where().empty() ? error.what() : fmt::format("{}: {}", error.where(), error.what());
}

// What could not be read, gathered from all threads, as one error.
class Failures {
 public:
  void add(std::int64_t picture, std::string what) {
    const std::lock_guard lock(mutex_);
    failures_.emplace(picture, std::move(what));
  }
  void throw_if_any(std::int64_t total) const {
    if (failures_.empty()) return;
    std::string text = fmt::format("{} of {} pictures cannot be used", failures_.size(), total);
    std::size_t named = 0;
    for (const auto& [picture, what] : failures_) {
      if (named++ == kNamedPictures) break;
      text += "\n  " + what;
    }
    if (failures_.size() > kNamedPictures)
      text += fmt::format("\n  and {} more", failures_.size() - kNamedPictures);
    throw Error(ExitCode::kRefused, text, "", "mend or remove them and import the data again");
  }

 private:
  std::mutex mutex_;
  std::map<std::int64_t, std::string> failures_;  // by picture, so the message does not depend on the threads
};

// The memory limit of the control group this process runs in, or 0 when there is none.
std::int64_t control_group_limit() {
  for (const char* name : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream file(name);
    std::string word;
    long long bytes = 0;
    if (file >> word && base::parse_int(word, &bytes) && bytes > 0) return bytes;
  }
  return 0;
}

}  // namespace

int ClassMapping::index_of(const std::string& label) const {
  const auto mapped = class_of_label.find(label);
  if (!class_of_label.empty() && mapped == class_of_label.end()) return -1;
  const std::string& name = class_of_label.empty() ? label : mapped->second;
  const auto found = std::find(class_names.begin(), class_names.end(), name);
  return found == class_names.end() ? -1 : static_cast<int>(found - class_names.begin());
}

std::vector<LabeledPicture> pictures_of(const dataset::Dataset& data, const std::string& split) {
  std::vector<LabeledPicture> pictures;
  for (const dataset::Sample& sample : data.samples) {
    if (split.empty() || sample.split == split) pictures.push_back({data.image_path(sample), &sample});
  }
  return pictures;
}

std::int64_t default_memory_limit() {
  std::int64_t bytes = static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
  if (const std::int64_t limit = control_group_limit(); limit > 0) bytes = std::min(bytes, limit);
  return bytes / 2;
}

PictureSet::PictureSet(const std::vector<LabeledPicture>& pictures, const ClassMapping& classes,
                       PictureSetOptions options)
    : options_(std::move(options)) {
  entries_.reserve(pictures.size());
  for (const auto& [path, sample] : pictures) {
    const image::Size size{sample->width, sample->height};
    const image::Placement placement = image::place(size, options_.canvas, options_.mode);
    entries_.push_back(
        {sample->id, path, size, placement, truths_on_canvas(*sample, placement, classes), nullptr});
  }
  const std::int64_t canvas_bytes =
      std::int64_t{options_.channels} * options_.canvas.width * options_.canvas.height;
  resident_ = size() * canvas_bytes <= options_.memory_limit_bytes;
  if (resident_) decode_all();
}

void PictureSet::decode_all() {
  Failures failures;
  std::mutex mutex;
  std::int64_t done = 0;
  base::parallel_for(
      size(),
      [&](std::int64_t i) {
        try {
          entries_[i].canvas = decode(entries_[i]);
        } catch (const Error& error) {
          failures.add(i, describe(error));
        }
        const std::lock_guard lock(mutex);
        ++done;
        if (options_.progress) options_.progress(done, size());
      },
      options_.threads);
  failures.throw_if_any(size());
}

std::shared_ptr<const image::Image> PictureSet::decode(const Entry& entry) const {
  const image::Image picture = image::read_image(entry.path);
  if (image::Size{picture.width, picture.height} != entry.image_size) {
    throw Error(ExitCode::kRefused,
                fmt::format("the picture is {}x{}, but the dataset says {}x{}", picture.width, picture.height,
                            entry.image_size.width, entry.image_size.height),
                entry.path.string(), "import the data again");
  }
  image::Image canvas = image::fit_to_canvas(picture, options_.canvas, options_.mode, options_.filter);
  return std::make_shared<const image::Image>(options_.channels == 1 ? luma(canvas) : std::move(canvas));
}

image::Size PictureSet::content_size(std::int64_t picture) const {
  const image::Size scaled = entries_[picture].placement.scaled;
  return {std::min(scaled.width, options_.canvas.width), std::min(scaled.height, options_.canvas.height)};
}

std::shared_ptr<const image::Image> PictureSet::canvas(std::int64_t picture) const {
  const Entry& entry = entries_[picture];
  return entry.canvas ? entry.canvas : decode(entry);
}

}  // namespace maskfit::loader
