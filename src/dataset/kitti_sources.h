#pragma once

// The four public sets in their published layouts, as pictures with faces (docs/converting.md).

#include <filesystem>
#include <string>
#include <vector>

#include "base/finding.h"
#include "dataset/kitti_selection.h"

namespace maskfit::dataset {

struct KittiCandidate {
  std::filesystem::path picture;
  std::string key;   // unique over all sets: "fddb/2002/08/11/big/img_591.jpg"
  std::string stem;  // the reference's name for the output
  std::vector<KittiFace> faces;
};

struct KittiSource {
  std::vector<KittiCandidate> candidates;  // in the order that limits cut them off
  base::Findings findings;                 // label files and records that cannot be read, files left aside
  std::string note;                        // a layout or class names that differ from the documented ones
};

// "Kaggle Dataset", "MAFA Dataset", "FDDB Dataset", "WideFace": as the reference prints them.
std::string to_string(KittiSet set);

// The files and folders of this set and part that are not there.
std::vector<std::filesystem::path> missing_parts(KittiSet set, KittiPart part,
                                                 const std::filesystem::path& root);

// REQUIRES that nothing is missing. Kaggle and FDDB have no validation part. Throws base::Error for label
// files that cannot be read at all.
KittiSource read_kitti_source(KittiSet set, KittiPart part, const std::filesystem::path& root,
                              KittiRules rules);

}  // namespace maskfit::dataset
