#pragma once

// The reference's data2kitti: Kaggle's medical masks, MAFA, FDDB and WIDER FACE become one balanced KITTI
// folder of pictures of one size.
//
//   BASE/train/images/NAME.jpg   BASE/train/labels/NAME.txt      (KittiPart::kTrain)
//   BASE/test/...                                                (KittiPart::kVal)
//   BASE/train/pictures.jsonl    where each picture came from and how it was scaled

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/finding.h"
#include "base/interrupt.h"
#include "dataset/kitti_sources.h"

namespace maskfit::dataset {

struct KittiOptions {
  std::map<KittiSet, std::filesystem::path> roots;  // of the sets at hand
  std::filesystem::path base;
  KittiPart part = KittiPart::kTrain;
  std::string val_folder = "test";
  std::int64_t limit = 6000;  // of faces of each class, over all sets
  SelectionOptions selection;
  bool upstream_classes = false;  // "Mask" instead of "mask"
  bool overwrite = false;         // remove an earlier conversion from the two folders first
  base::StopToken stop;
};

struct KittiSetReport {
  KittiSet set = KittiSet::kKaggle;
  std::int64_t pictures = 0;                // written
  FaceCounts counts;                        // as limits count them
  FaceCounts written;                       // labels in the files; differs only with KittiRules::kReference
  std::int64_t dont_care = 0, dropped = 0;  // labels to ignore; faces without a pixel
  std::int64_t failed = 0;                  // pictures that cannot be read, labels that cannot
  std::int64_t overwritten = 0;             // KittiRules::kReference: pictures of an earlier name
  std::map<std::string, std::int64_t> skipped;  // why -> pictures
  std::string note;
};

struct KittiObserver {
  std::function<void(const KittiSetReport&)> set_done;
  std::function<void(KittiSet, std::int64_t boxes, const std::string& picture)> picture_kept;
  std::function<void(KittiSet, std::int64_t done, std::int64_t total)> progress;
};

struct KittiReport {
  std::vector<KittiSetReport> sets;  // in the order Kaggle, MAFA, FDDB, WIDER FACE
  base::Findings findings;
  std::filesystem::path folder;  // BASE/train or BASE/test
  FaceCounts total() const;
  std::int64_t failed() const;
};

// Sets are taken in their fixed order, their pictures by name, each set with what the limit has left. A
// picture that cannot be read is a finding and does not count. Files are written in whole, each label after
// its picture. Throws base::Error before anything is written: kUsage without a set or with an odd size,
// kRefused with every part that is missing, kFailed for output folders that are not empty.
KittiReport convert_to_kitti(const KittiOptions& options, const KittiObserver& observer = {});

}  // namespace maskfit::dataset
