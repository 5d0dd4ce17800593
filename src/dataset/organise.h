#pragma once

// From archives and folders in any state to the public sets in their canonical layout
// (docs/public-datasets.md).
//
// The parts are recognised by content: MATLAB variables, label grammars, class names, the names that labels
// list. What an archive or a folder is called does not matter. Two passes: look through everything and plan,
// then link, copy or unpack what was chosen. Nothing is written before the plan is complete and fits the
// disk; each file is put in its place whole, so an interrupted run goes on where it was.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/finding.h"
#include "base/interrupt.h"
#include "fetch/archive_reader.h"
#include "fetch/progress.h"

namespace maskfit::dataset {

struct OrganiseOptions {
  std::vector<std::filesystem::path> sources;  // folders or archives
  std::filesystem::path to;
  bool dry_run = false;
  bool copy = false;       // never hard-link
  bool overwrite = false;  // replace files of the layout that differ
  fetch::ArchiveLimits limits;
  std::uint64_t spare_disk_bytes = 256u << 20u;  // left free
  fetch::ProgressSink progress;
  base::StopToken stop;
};

enum class PartState { kPresent, kPartial, kMissing };

// One line of the table: "mafa, train pictures".
struct PartStatus {
  std::string set, part;
  PartState state = PartState::kMissing;
  std::uint64_t found = 0;
  std::uint64_t published = 0;                // how many there are; 0: nobody says
  std::uint64_t missing = 0;                  // of those that labels or numbering name
  std::vector<std::string> missing_examples;  // up to 5 of them
  std::string note;                           // "5,171 faces"; may be empty
};

struct OrganiseReport {
  std::vector<PartStatus> parts;
  std::vector<fetch::ArchiveProblem> archive_problems;
  base::Findings findings;
  std::uint64_t files = 0;  // looked at, those in archives included
  std::uint64_t archives = 0;
  std::uint64_t chosen = 0;      // have a place in the layout
  std::uint64_t duplicates = 0;  // second copies of chosen ones
  std::uint64_t unlisted = 0;    // belong to a set but are in none of its lists (FDDB's other pictures)
  std::uint64_t others = 0;      // belong to no set
  std::uint64_t bytes_to_write = 0;
  // After the second pass; all 0 in a dry run.
  std::uint64_t linked = 0, written = 0, were_there = 0, not_placed = 0;

  std::uint64_t found_of(const std::string& set) const;
};

// Throws base::Error:
//   kUsage        a source does not exist, or nothing was given
//   kMachine      no room (before anything is written)
//   kInterrupted  what is in place stays
OrganiseReport organise(const OrganiseOptions& options);

// The table, what is missing and where to get it, and the next commands. `to` as the user wrote it.
std::string organise_text(const OrganiseReport& report, const std::filesystem::path& to, bool dry_run);

}  // namespace maskfit::dataset
