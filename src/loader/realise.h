#pragma once

// From a plan to pixels, on the CPU.

#include "loader/batch.h"
#include "loader/picture_set.h"

namespace maskfit::loader {

// Runs on the calling thread; the loader works on several batches at a time instead (prefetch.h). Decodes
// pictures that are not resident. Throws base::Error (kRefused) for one that can no longer be read.
PixelBatch realise(const BatchPlan& batch, const PictureSet& pictures);

}  // namespace maskfit::loader
