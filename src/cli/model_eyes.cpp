#include "cli/model_eyes.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "deploy/picture_detector.h"
#include "network/model_file.h"

namespace maskfit::cli {

audit::DetectFaces eyes_of_model(const std::string& model_file, const std::string& device,
                                 const std::vector<std::string>& class_names) {
  deploy::PictureDetectorOptions options;
  options.device = device;
  const auto detector = std::make_shared<deploy::PictureDetector>(network::read_model(model_file), options);
  std::vector<int> place;  // of the model's class among the dataset's; -1: none
  for (const std::string& name : detector->class_names()) {
    const auto found = std::find(class_names.begin(), class_names.end(), name);
    place.push_back(found == class_names.end() ? -1 : static_cast<int>(found - class_names.begin()));
  }
  if (std::all_of(place.begin(), place.end(), [](int p) { return p < 0; })) {
    throw base::Error(base::ExitCode::kRefused, "the model finds none of the dataset's classes", model_file,
                      fmt::format("it finds {}, the dataset has {}", fmt::join(detector->class_names(), ", "),
                                  fmt::join(class_names, ", ")));
  }
  return [detector, place](const image::Image& picture) {
    boxes::Detections found = detector->detect({&picture, 1}).front();
    for (boxes::Detection& detection : found) detection.class_index = place[detection.class_index];
    return found;
  };
}

}  // namespace maskfit::cli
