#include "audit/sheets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/files.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "image/draw.h"
#include "image/reduced.h"
#include "image/resize.h"

namespace maskfit::audit {
namespace {

using image::Color;
using image::Image;

constexpr Color kWhite{255, 255, 255}, kBlack{0, 0, 0}, kGrey{150, 150, 150};
constexpr double kSurroundings = 0.6;  // of the face's longer side, on each side

struct Face {
  std::uint32_t sample = 0, box = 0;
  float side_in_network = 0;
};

int class_index(const dataset::Dataset& data, const std::string& name) {
  const auto found = std::find(data.class_names.begin(), data.class_names.end(), name);
  return static_cast<int>(found - data.class_names.begin());
}

Color color_of(const dataset::Dataset& data, const dataset::LabeledBox& box) {
  return box.ignore ? kGrey : image::class_color(class_index(data, box.class_name));
}

// At most `n` of `all`, drawn at random, in their old order.
template <typename T>
std::vector<T> drawn(const std::vector<T>& all, int n, std::uint64_t seed) {
  base::Rng rng(seed, base::Purpose::kShuffle);
  std::vector<std::int64_t> order = rng.permutation(static_cast<std::int64_t>(all.size()));
  order.resize(std::min<std::size_t>(order.size(), static_cast<std::size_t>(n)));
  std::sort(order.begin(), order.end());
  std::vector<T> chosen;
  for (const std::int64_t i : order) chosen.push_back(all[i]);
  return chosen;
}

Image fitted(const Image& picture, int side) {
  const double factor = static_cast<double>(side) / std::max(picture.width, picture.height);
  return image::resize_antialias(picture,
                                 {std::max(1, static_cast<int>(std::lround(picture.width * factor))),
                                  std::max(1, static_cast<int>(std::lround(picture.height * factor)))});
}

// What is shown in place of a picture that cannot be read.
Image gone(const std::string& why, int side) {
  Image tile = image::filled({side, side * 3 / 4}, {60, 30, 30});
  image::draw_caption(tile, 4, 4, why.substr(0, 40), kWhite, {60, 30, 30});
  return tile;
}

Image cut(const Image& picture, int x1, int y1, int x2, int y2) {
  Image part{x2 - x1, y2 - y1, 3, {}};
  for (int y = y1; y < y2; ++y)
    part.pixels.insert(part.pixels.end(), picture.row(y) + 3 * x1, picture.row(y) + 3 * x2);
  return part;
}

Image face_tile(const dataset::Dataset& data, const Face& face, const std::string& caption, int side) {
  const dataset::Sample& sample = data.samples[face.sample];
  try {
    const Image picture = image::read_image(data.image_path(sample));
    const boxes::Box box = sample.boxes[face.box].box_in_image;
    const double around = kSurroundings * std::max(box.width(), box.height());
    const int x1 = std::clamp(static_cast<int>(box.x1 - around), 0, picture.width - 1);
    const int y1 = std::clamp(static_cast<int>(box.y1 - around), 0, picture.height - 1);
    const int x2 = std::clamp(static_cast<int>(box.x2 + around), x1 + 1, picture.width);
    const int y2 = std::clamp(static_cast<int>(box.y2 + around), y1 + 1, picture.height);
    Image tile = fitted(cut(picture, x1, y1, x2, y2), side);
    const float factor = static_cast<float>(tile.width) / static_cast<float>(x2 - x1);
    const boxes::Box shifted{box.x1 - static_cast<float>(x1), box.y1 - static_cast<float>(y1),
                             box.x2 - static_cast<float>(x1), box.y2 - static_cast<float>(y1)};
    image::draw_box(tile, boxes::scale(shifted, factor, factor), color_of(data, sample.boxes[face.box]), 2);
    if (!caption.empty()) image::draw_caption(tile, 0, 0, caption, kWhite, kBlack);
    return tile;
  } catch (const base::Error& error) {
    return gone(error.what(), side);
  }
}

Image whole_tile(const dataset::Dataset& data, std::uint32_t i, const Example* example, int side) {
  const dataset::Sample& sample = data.samples[i];
  try {
    const auto path = data.image_path(sample);
    Image tile = fitted(image::decode_reduced(base::read_file(path), path.string(), side), side);
    const float fx = static_cast<float>(tile.width) / static_cast<float>(sample.width);
    const float fy = static_cast<float>(tile.height) / static_cast<float>(sample.height);
    for (std::uint32_t b = 0; b < sample.boxes.size(); ++b) {
      const bool meant = example != nullptr && example->samples.front() == i &&
                         std::count(example->boxes.begin(), example->boxes.end(), b) > 0;
      image::draw_box(tile, boxes::scale(sample.boxes[b].box_in_image, fx, fy),
                      color_of(data, sample.boxes[b]), meant ? 3 : 1);
    }
    if (example != nullptr && example->samples.front() == i) {
      for (const boxes::Box& box : example->extra_boxes_in_image)
        image::draw_box(tile, boxes::scale(box, fx, fy), {255, 77, 216}, 2);
      image::draw_caption(tile, 0, 0, example->text.substr(0, static_cast<std::size_t>(side) / 6), kWhite,
                          kBlack);
    }
    return tile;
  } catch (const base::Error& error) {
    return gone(error.what(), side);
  }
}

// Makes the tiles in parallel and lays them out.
Sheet sheet(const std::string& name, std::size_t count, const SheetOptions& options,
            const std::function<Image(std::size_t)>& tile) {
  std::vector<Image> tiles(count);
  base::parallel_for(
      static_cast<std::int64_t>(count), [&](std::int64_t i) { tiles[i] = tile(static_cast<std::size_t>(i)); },
      options.threads);
  const int columns = std::max(1, std::min(options.columns, static_cast<int>(count)));
  return {name, image::contact_sheet(tiles, columns, {options.tile_side, options.tile_side})};
}

std::vector<Face> faces_of(const dataset::Dataset& data, const NetworkView& network) {
  std::vector<Face> faces;
  for (std::uint32_t i = 0; i < data.samples.size(); ++i) {
    const dataset::Sample& sample = data.samples[i];
    const auto placement = image::place({sample.width, sample.height}, network.input, network.canvas);
    for (std::uint32_t b = 0; b < sample.boxes.size(); ++b) {
      if (sample.boxes[b].ignore || sample.boxes[b].box_in_image.area() <= 0) continue;
      const boxes::Box box = image::canvas_from_image(sample.boxes[b].box_in_image, placement);
      faces.push_back({i, b, std::min(box.width(), box.height())});
    }
  }
  return faces;
}

// A name that a file can have.
std::string as_stem(std::string text) {
  for (char& c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (u < 128 && std::isalnum(u) == 0 && c != '-' && c != '_') c = '-';
  }
  return text;
}

}  // namespace

std::vector<Sheet> sheets_by_class(const dataset::Dataset& data, const SheetOptions& options) {
  const std::vector<Face> faces = faces_of(data, options.network);
  std::vector<Sheet> sheets;
  for (const std::string& name : data.class_names) {
    std::vector<Face> of_class;
    std::copy_if(faces.begin(), faces.end(), std::back_inserter(of_class), [&](const Face& face) {
      return data.samples[face.sample].boxes[face.box].class_name == name;
    });
    if (of_class.empty()) continue;
    const std::vector<Face> chosen = drawn(of_class, options.tiles, options.seed);
    sheets.push_back(sheet("class-" + as_stem(name), chosen.size(), options,
                           [&](std::size_t i) { return face_tile(data, chosen[i], "", options.tile_side); }));
  }
  return sheets;
}

std::vector<Sheet> sheets_by_size(const dataset::Dataset& data, const SheetOptions& options) {
  std::vector<Face> faces = faces_of(data, options.network);
  if (faces.empty()) return {};
  std::stable_sort(faces.begin(), faces.end(),
                   [](const Face& a, const Face& b) { return a.side_in_network < b.side_in_network; });
  const std::size_t n = std::min<std::size_t>(faces.size(), static_cast<std::size_t>(options.tiles));
  return {sheet("size", n, options, [&](std::size_t i) {
    const Face& face = faces[n > 1 ? i * (faces.size() - 1) / (n - 1) : 0];
    return face_tile(data, face, fmt::format("{:.0f} px", face.side_in_network), options.tile_side);
  })};
}

std::vector<Sheet> sheets_by_source(const dataset::Dataset& data, const Sources& sources,
                                    const SheetOptions& options) {
  std::vector<Sheet> sheets;
  for (std::size_t s = 0; s < sources.names.size(); ++s) {
    std::vector<std::uint32_t> members;
    for (std::uint32_t i = 0; i < data.samples.size(); ++i) {
      if (sources.of_sample[i] == static_cast<int>(s)) members.push_back(i);
    }
    const std::vector<std::uint32_t> chosen = drawn(members, options.tiles, options.seed);
    sheets.push_back(sheet("source-" + as_stem(sources.names[s]), chosen.size(), options, [&](std::size_t i) {
      return whole_tile(data, chosen[i], nullptr, options.tile_side);
    }));
  }
  return sheets;
}

std::vector<Sheet> sheets_of_findings(const Audit& audit, const dataset::Dataset& data,
                                      const SheetOptions& options) {
  std::vector<Sheet> sheets;
  for (const Issue& issue : audit.issues) {
    // One tile a picture, so that a pair is two tiles side by side.
    std::vector<std::pair<const Example*, std::uint32_t>> tiles;
    for (const Example& example : issue.examples) {
      const std::size_t n = std::min<std::size_t>(2, example.samples.size());
      if (tiles.size() + n > static_cast<std::size_t>(options.tiles)) break;
      for (std::size_t k = 0; k < n; ++k) tiles.emplace_back(&example, example.samples[k]);
    }
    if (tiles.empty()) continue;
    sheets.push_back(sheet(
        fmt::format("{}-{}", to_string(issue.level), info(issue.kind).name), tiles.size(), options,
        [&](std::size_t i) { return whole_tile(data, tiles[i].second, tiles[i].first, options.tile_side); }));
  }
  return sheets;
}

}  // namespace maskfit::audit
