#pragma once

// What the sections of a spec demand of each other; the part of check.h that no single field rule can say.

#include "base/finding.h"
#include "spec/check.h"
#include "spec/source.h"

namespace maskfit::spec {

base::Findings cross_check(const Experiment& experiment, const Source& source, const CheckOptions& options);
base::Findings cross_check(const DatasetExportConfig& config, const Source& source,
                           const CheckOptions& options);
base::Findings cross_check(const Inference& inference, const Source& source, const CheckOptions& options);

}  // namespace maskfit::spec
