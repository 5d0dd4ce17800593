#include "cli/exported_pictures.h"

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "dataset/dataset.h"
#include "loader/picture_set.h"
#include "train/finished_model.h"
#include "train/training_data.h"

namespace maskfit::cli {

exporting::PictureSource open_pictures(const network::Model& model, const std::filesystem::path& data,
                                       const std::string& split, std::int64_t limit) {
  const spec::Experiment experiment = train::experiment_of(model, model.network.name);
  base::Findings findings;
  const dataset::Dataset dataset = dataset::open_data(data, &findings);
  std::vector<loader::LabeledPicture> pictures = loader::pictures_of(dataset, split.empty() ? "val" : split);
  if (pictures.empty() && split.empty()) pictures = loader::pictures_of(dataset, "");
  if (pictures.empty()) {
    throw base::Error(base::ExitCode::kRefused,
                      fmt::format("the data has no pictures in the split '{}'", split), data.string(),
                      "give a dataset with this split");
  }
  const std::size_t all = pictures.size();
  if (limit > 0 && static_cast<std::size_t>(limit) < all) {
    std::vector<loader::LabeledPicture> some;
    for (std::size_t i = 0; i < static_cast<std::size_t>(limit); ++i)
      some.push_back(pictures[i * all / static_cast<std::size_t>(limit)]);
    pictures = std::move(some);
  }
  loader::PictureSetOptions options = train::picture_options(experiment);
  options.canvas = {model.network.input.width, model.network.input.height};
  options.channels = model.network.input.channels;
  options.mode = image::canvas_mode_from_name(model.canvas);
  const auto set = std::make_shared<const loader::PictureSet>(
      pictures, train::class_mapping(experiment, pictures), options);
  return {set->size(), [set](std::int64_t i) {
            exporting::Picture picture;
            picture.id = set->id(i);
            picture.canvas = *set->canvas(i);
            picture.content = set->content_size(i);
            picture.truths_in_network = set->truths_in_network(i);
            return picture;
          }};
}

}  // namespace maskfit::cli
