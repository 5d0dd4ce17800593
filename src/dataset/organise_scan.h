#pragma once

// The first pass: every file of folders and archives, recognised.

#include <vector>

#include "dataset/organise.h"
#include "dataset/organise_recognise.h"

namespace maskfit::dataset {

// What was found, in the order of folders (bytewise by name) and of archives. Files, archives, problems and
// findings are added to the report. Names that cannot be in any set are left out, but counted.
std::vector<FoundFile> scan(const OrganiseOptions& options, OrganiseReport* report);

}  // namespace maskfit::dataset
