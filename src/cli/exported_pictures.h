#pragma once

// A dataset as export and verify look at it: pictures exactly as in training, without augmentation.

#include <filesystem>
#include <string>

#include "export/pictures.h"
#include "network/model_file.h"

namespace maskfit::cli {

// split: "train", "val", ...; "": val where the data has one, else all. limit > 0: that many pictures, spread
// evenly over the split. Throws base::Error (kRefused) for an empty split and for a model that does not say
// how it was trained.
exporting::PictureSource open_pictures(const network::Model& model, const std::filesystem::path& data,
                                       const std::string& split, std::int64_t limit);

}  // namespace maskfit::cli
