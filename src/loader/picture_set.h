#pragma once

// The pictures of one split, ready for the network's input: decoded once, scaled to the canvas and kept in
// memory as bytes while they fit, decoded anew each time where they do not.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "boxes/box.h"
#include "dataset/dataset.h"
#include "image/canvas.h"
#include "image/image.h"

namespace maskfit::loader {

// From a label's class to its place in the model's list.
struct ClassMapping {
  std::vector<std::string> class_names;               // of the model, in the order of its channels
  std::map<std::string, std::string> class_of_label;  // empty: a label is its own class

  // -1 for a label that is not one of the model's classes.
  int index_of(const std::string& label) const;
};

struct PictureSetOptions {
  image::Size canvas;  // network input, pixels
  int channels = 3;    // 3: RGB; 1: luma, as 0.299 R + 0.587 G + 0.114 B
  image::CanvasMode mode = image::CanvasMode::kStretch;
  image::Filter filter = image::Filter::kAntialias;
  // Decoded pictures are kept when all of them together take no more than this.
  std::int64_t memory_limit_bytes = 4LL << 30;
  int threads = 0;  // for decoding; 0: all usable cores
  // Called now and then while pictures are decoded; from one thread at a time.
  std::function<void(std::int64_t done, std::int64_t total)> progress;
};

// One picture with its labels. `sample` is only looked at while the set is made.
struct LabeledPicture {
  std::filesystem::path path;
  const dataset::Sample* sample = nullptr;
};

// The samples of one split ("" for all), in the dataset's order.
std::vector<LabeledPicture> pictures_of(const dataset::Dataset& data, const std::string& split);

// Half of the memory of this machine, or of the limit that its control group sets.
std::int64_t default_memory_limit();

// Immutable after construction: all functions are safe from any thread.
class PictureSet {
 public:
  // Decodes everything that fits. Throws base::Error (kRefused) that names each picture (up to five, then a
  // count) that is missing, broken or no longer of the size that the dataset says.
  PictureSet(const std::vector<LabeledPicture>& pictures, const ClassMapping& classes,
             PictureSetOptions options);

  std::int64_t size() const { return static_cast<std::int64_t>(entries_.size()); }
  image::Size canvas_size() const { return options_.canvas; }
  int channels() const { return options_.channels; }
  bool resident() const { return resident_; }

  const std::string& id(std::int64_t picture) const { return entries_[picture].id; }
  const std::filesystem::path& path(std::int64_t picture) const { return entries_[picture].path; }
  const image::Placement& placement(std::int64_t picture) const { return entries_[picture].placement; }
  // The part of the canvas that the picture covers, from the top left corner.
  image::Size content_size(std::int64_t picture) const;
  // Labels on the canvas, before augmentation; neither clipped nor merged. Labels of other classes are left
  // out unless they are marked `ignore` (class_index -1 then); so are boxes under one pixel of the canvas in
  // width or height.
  const boxes::Truths& truths_in_network(std::int64_t picture) const { return entries_[picture].truths; }

  // The picture on its canvas. Cheap when resident, a decode otherwise.
  std::shared_ptr<const image::Image> canvas(std::int64_t picture) const;

 private:
  struct Entry {
    std::string id;
    std::filesystem::path path;
    image::Size image_size;
    image::Placement placement;
    boxes::Truths truths;
    std::shared_ptr<const image::Image> canvas;
  };

  std::shared_ptr<const image::Image> decode(const Entry& entry) const;
  void decode_all();

  PictureSetOptions options_;
  std::vector<Entry> entries_;
  bool resident_ = false;
};

}  // namespace maskfit::loader
