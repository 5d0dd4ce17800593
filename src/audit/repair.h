#pragma once

// Mends a dataset's manifest, and takes that back.
//
//   DATASET/history/0001/samples.jsonl, dataset.json, findings.jsonl   the manifest before the first change
//   DATASET/history/0001/change.json                                   when, who, why, what

#include <filesystem>
#include <string>
#include <vector>

#include "audit/audit.h"

namespace maskfit::audit {

struct RepairSummary {
  std::int64_t dropped_samples = 0, dropped_boxes = 0, clipped_boxes = 0, ignored_boxes = 0;
  base::Findings findings;  // one a change: severity "repaired"

  std::int64_t changes() const { return dropped_samples + dropped_boxes + clipped_boxes + ignored_boxes; }
};

// Applies every example's repair to `data`, in memory.
RepairSummary apply_repairs(const Audit& audit, dataset::Dataset* data);

// Whether no error is left once the repairs are made.
bool ready_after_repairs(const Audit& audit);

// Copies the manifest in `folder` to the next place in its history. `why`: "maskfit data check --fix".
// Throws base::Error when it cannot. Returns the new history folder.
std::filesystem::path keep_manifest(const std::filesystem::path& folder, const std::string& why,
                                    const std::vector<std::string>& changes);

// Puts the latest manifest of the history back and removes it from there. Returns what was taken back, one
// line. Throws base::Error (kFailed) when there is no history.
std::string undo(const std::filesystem::path& folder);

}  // namespace maskfit::audit
