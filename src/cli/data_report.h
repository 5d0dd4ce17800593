#pragma once

// What the data commands print alike.

#include <string>

#include "base/finding.h"
#include "dataset/dataset.h"

namespace maskfit::cli {

// A line a split: pictures, boxes by class, ignored boxes.
std::string split_table(const dataset::Dataset& dataset);

// To the log: the findings by severity and kind, each with its first example and how many are alike. `all_in`
// names the file that holds them all.
void log_findings(const base::Findings& findings, const std::string& all_in);

}  // namespace maskfit::cli
