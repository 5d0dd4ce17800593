#pragma once

// One picture of an import with its labels: decoded, its boxes brought upright and mended.

#include <optional>
#include <vector>

#include "dataset/import.h"
#include "dataset/import_source.h"
#include "dataset/picture_cache.h"

namespace maskfit::dataset {

enum class LabelFate { kUsed, kRepaired, kCompared, kRefused };

struct Item {
  const Source* source = nullptr;
  std::size_t picture = 0;
  std::vector<LabelRef> labels;  // none: background, as asked for

  // What came of it.
  std::optional<Sample> sample;
  base::Findings findings;
  bool picture_repaired = false;
  std::vector<LabelFate> fates;                 // of each label
  std::map<std::string, std::int64_t> ignored;  // faces below the least size
};

class ItemReader {
 public:
  ItemReader(const ImportOptions& options, PictureCache* cache) : options_(options), cache_(*cache) {}

  // Writes *item only, so that items can be read in parallel.
  void read(Item* item) const;

 private:
  PictureFacts picture_facts(const std::string& name) const;
  bool read_picture(Item* item, Sample* sample, PictureFrame* frame) const;
  // The boxes of a label, upright and mended; nothing, with a finding, when it cannot be used.
  std::optional<std::vector<DrawnBox>> read_label(const LabelRef& ref, const PictureFrame& frame, Item* item,
                                                  base::Findings* findings) const;
  void compare(const LabelRef& ref, const PictureFrame& frame, Item* item) const;

  const ImportOptions& options_;
  PictureCache& cache_;
};

}  // namespace maskfit::dataset
