#include "dataset/frame_example.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "base/text.h"

namespace maskfit::dataset {
namespace {

using formats::BytesList;
using formats::Example;
using formats::FloatList;
using formats::Int64List;

constexpr const char* kIgnoredClass = "dontcare";
constexpr const char* kId = "frame/id";
constexpr const char* kWidth = "frame/width";
constexpr const char* kHeight = "frame/height";
constexpr const char* kClass = "target/object_class";
constexpr const char* kOcclusion = "target/occlusion";

// Every float of an object: the name of its feature and where it lives.
struct BoxFeature {
  const char* name;
  float boxes::Box::*member;
};
constexpr BoxFeature kBoxFeatures[] = {{"target/coordinates_x1", &boxes::Box::x1},
                                       {"target/coordinates_y1", &boxes::Box::y1},
                                       {"target/coordinates_x2", &boxes::Box::x2},
                                       {"target/coordinates_y2", &boxes::Box::y2}};
struct ExtraFeature {
  const char* name;
  float KittiExtras::*member;
};
constexpr ExtraFeature kExtraFeatures[] = {{"target/truncation", &KittiExtras::truncation},
                                           {"target/observation_angle", &KittiExtras::observation_angle},
                                           {"target/world_bbox_h", &KittiExtras::world_height},
                                           {"target/world_bbox_w", &KittiExtras::world_width},
                                           {"target/world_bbox_l", &KittiExtras::world_length},
                                           {"target/world_bbox_x", &KittiExtras::world_x},
                                           {"target/world_bbox_y", &KittiExtras::world_y},
                                           {"target/world_bbox_z", &KittiExtras::world_z},
                                           {"target/world_bbox_rot_y", &KittiExtras::world_rotation_y}};

template <typename List>
List& list(Example& example, const char* key) {
  return std::get<List>(example.try_emplace(key, List()).first->second);
}

// Reads the features of one example; every complaint names the record and the feature.
class Reader {
 public:
  Reader(const Example& example, const std::string& name) : example_(example), name_(name) {}

  [[noreturn]] void refuse(const std::string& feature, const std::string& what) const {
    throw base::Error(base::ExitCode::kRefused, fmt::format("{} {}", feature, what), name_,
                      "convert the data again; docs/tfrecord-format.md lists the features");
  }

  // Null when the feature is missing.
  template <typename List>
  const List* find(const char* key) const {
    const auto found = example_.find(key);
    if (found == example_.end()) return nullptr;
    const List* values = std::get_if<List>(&found->second);
    // An empty list of a wrong kind says no less than one of the right kind.
    const bool empty = std::visit([](const auto& any) { return any.empty(); }, found->second);
    if (values == nullptr && !empty) refuse(key, "is of another kind than it should be");
    return values;
  }

  // Null when missing or empty; else it must have n values.
  template <typename List>
  const List* find_n(const char* key, std::size_t n) const {
    const List* values = find<List>(key);
    if (values == nullptr || values->empty()) return nullptr;
    if (values->size() != n) refuse(key, fmt::format("has {} values for {} objects", values->size(), n));
    return values;
  }

  int side(const char* key) const {
    const auto* values = find<Int64List>(key);
    if (values == nullptr || values->empty()) return 0;
    if (values->front() < 0 || values->front() > 1'000'000)
      refuse(key, fmt::format("is {}", values->front()));
    return static_cast<int>(values->front());
  }

 private:
  const Example& example_;
  const std::string& name_;
};

// One box around all points of an index, in ascending order of the index.
std::vector<boxes::Box> polygon_bounds(const Reader& reader, std::size_t n) {
  const auto* x = reader.find<FloatList>("target/coordinates/x");
  const auto* y = reader.find<FloatList>("target/coordinates/y");
  const auto* index = reader.find<Int64List>("target/coordinates/index");
  const std::size_t points = index != nullptr ? index->size() : 0;
  if (points == 0) {
    if (n > 0) reader.refuse("target/coordinates_x1", fmt::format("is missing, there are {} classes", n));
    return {};
  }
  if (x == nullptr || y == nullptr || x->size() != points || y->size() != points) {
    reader.refuse("target/coordinates/x, /y, /index", "have different lengths");
  }
  std::map<std::int64_t, boxes::Box> bounds;
  for (std::size_t i = 0; i < points; ++i) {
    const float px = (*x)[i], py = (*y)[i];
    boxes::Box& box = bounds.try_emplace((*index)[i], boxes::Box{px, py, px, py}).first->second;
    box = {std::min(box.x1, px), std::min(box.y1, py), std::max(box.x2, px), std::max(box.y2, py)};
  }
  if (bounds.size() != n)
    reader.refuse(kClass, fmt::format("has {} values for {} polygons", n, bounds.size()));
  std::vector<boxes::Box> list;
  for (const auto& [polygon, box] : bounds) list.push_back(box);
  return list;
}

std::vector<boxes::Box> boxes_of(const Reader& reader, std::size_t n) {
  const auto* x1 = reader.find<FloatList>(kBoxFeatures[0].name);
  if (x1 == nullptr || x1->empty()) return polygon_bounds(reader, n);
  std::vector<boxes::Box> list(n);
  for (const auto& [name, member] : kBoxFeatures) {
    const auto* values = reader.find_n<FloatList>(name, n);
    if (values == nullptr) reader.refuse(name, "is missing");
    for (std::size_t i = 0; i < n; ++i) list[i].*member = (*values)[i];
  }
  return list;
}

}  // namespace

bool survives_truncation(const boxes::Box& box) {
  return std::trunc(box.x1) < std::trunc(box.x2) && std::trunc(box.y1) < std::trunc(box.y2);
}

Example frame_example(const Sample& sample, const std::string& frame_id, std::vector<std::size_t>* dropped) {
  Example example;
  list<BytesList>(example, kId) = {frame_id};
  list<Int64List>(example, kHeight) = {sample.height};
  list<Int64List>(example, kWidth) = {sample.width};
  // A picture without objects still has every feature, with an empty list.
  auto& classes = list<BytesList>(example, kClass);
  auto& occlusions = list<Int64List>(example, kOcclusion);
  for (const auto& [name, member] : kBoxFeatures) list<FloatList>(example, name);
  for (const auto& [name, member] : kExtraFeatures) list<FloatList>(example, name);
  for (std::size_t i = 0; i < sample.boxes.size(); ++i) {
    const LabeledBox& box = sample.boxes[i];
    if (!survives_truncation(box.box_in_image)) {
      if (dropped != nullptr) dropped->push_back(i);
      continue;
    }
    classes.push_back(box.ignore ? kIgnoredClass : base::to_lower(box.class_name));
    occlusions.push_back(box.kitti.occlusion);
    for (const auto& [name, member] : kBoxFeatures)
      list<FloatList>(example, name).push_back(box.box_in_image.*member);
    for (const auto& [name, member] : kExtraFeatures)
      list<FloatList>(example, name).push_back(box.kitti.*member);
  }
  return example;
}

Frame frame_of(const Example& example, const std::string& name_for_errors) {
  const Reader reader(example, name_for_errors);
  Frame frame;
  const auto* ids = reader.find<BytesList>(kId);
  if (ids == nullptr || ids->size() != 1 || ids->front().empty()) reader.refuse(kId, "is missing");
  frame.id = ids->front();
  frame.width = reader.side(kWidth);
  frame.height = reader.side(kHeight);

  static const BytesList kNoClasses;
  const auto* found = reader.find<BytesList>(kClass);
  const BytesList& classes = found != nullptr ? *found : kNoClasses;
  const std::vector<boxes::Box> bounds = boxes_of(reader, classes.size());
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const boxes::Box& b = bounds[i];
    if (!(std::isfinite(b.x1) && std::isfinite(b.y1) && std::isfinite(b.x2) && std::isfinite(b.y2))) {
      reader.refuse("target/coordinates", fmt::format("of object {} are not finite", i));
    }
    frame.boxes.push_back({b, classes[i], classes[i] == kIgnoredClass, {}});
  }
  for (const auto& [name, member] : kExtraFeatures) {
    const auto* values = reader.find_n<FloatList>(name, classes.size());
    for (std::size_t i = 0; values != nullptr && i < classes.size(); ++i)
      frame.boxes[i].kitti.*member = (*values)[i];
  }
  if (const auto* values = reader.find_n<Int64List>(kOcclusion, classes.size())) {
    for (std::size_t i = 0; i < classes.size(); ++i)
      frame.boxes[i].kitti.occlusion = static_cast<int>((*values)[i]);
  }
  return frame;
}

}  // namespace maskfit::dataset
