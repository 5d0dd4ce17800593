#include "formats/coco.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "base/error.h"
#include "formats/json_text.h"

namespace maskfit::formats {
namespace {

using nlohmann::json;

// Ids are keys; writers store them as numbers and as text.
std::string key_of(const json& object, const char* member) {
  const auto found = object.find(member);
  if (found == object.end() || found->is_structured() || found->is_null()) return "";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

class Reader {
 public:
  Reader(const json& root, const std::string& file, base::Findings* findings)
      : root_(root), file_(file), findings_(findings) {}

  std::vector<CocoImage> read() {
    each("categories", [&](const json& category) { read_category(category); });
    each("images", [&](const json& image) { read_image(image); });
    each("annotations", [&](const json& annotation) { read_annotation(annotation); });
    return std::move(images_);
  }
  // Of the categories, as the file lists them.
  const std::vector<std::string>& names() const { return names_; }

 private:
  void refuse(const std::string& what, const std::string& remedy) {
    findings_->push_back({base::Severity::kRefused, file_, index_, list_, what, remedy});
  }

  template <typename Read>
  void each(const char* list, const Read& read) {
    list_ = list;
    index_ = 0;
    const auto found = root_.find(list);
    if (found == root_.end() || !found->is_array()) return;
    for (const json& entry : *found) {
      ++index_;
      if (entry.is_object()) {
        read(entry);
      } else {
        refuse("the entry is no object", "the line is the place in the list; the entry was left out");
      }
    }
  }

  void read_category(const json& category) {
    const std::string id = key_of(category, "id"), name = text_member(category, "name");
    if (id.empty() || name.empty()) return refuse("a category without id or name", "name it");
    if (names_seen_.insert(name).second) names_.push_back(name);
    const auto [place, is_new] = categories_.emplace(id, name);
    if (is_new || place->second == name) return;
    unclear_categories_.insert(id);
    refuse(fmt::format("category id {} is '{}' and '{}'", id, place->second, name),
           "its boxes were left out; give each category a number of its own");
  }

  void read_image(const json& image) {
    const std::string id = key_of(image, "id"), name = text_member(image, "file_name");
    if (id.empty() || name.empty()) return refuse("an image without id or file_name", "it was left out");
    const auto [place, is_new] = image_of_.emplace(id, images_.size());
    if (is_new) {
      images_.push_back({name, whole_member(image, "width"), whole_member(image, "height"), {}});
    } else if (images_[place->second].file_name != name) {
      unclear_images_.insert(id);
      refuse(fmt::format("image id {} is {} and {}", id, images_[place->second].file_name, name),
             "boxes of this id were left out, for they could belong to either");
    }
  }

  void read_annotation(const json& annotation) {
    const std::string id = key_of(annotation, "id"), image = key_of(annotation, "image_id"),
                      category = key_of(annotation, "category_id");
    const auto image_place = image_of_.find(image);
    if (image_place == image_of_.end())
      return refuse(fmt::format("annotation {} is for image {}, which the file does not have", id, image),
                    "it was left out");
    if (unclear_images_.contains(image))
      return refuse(fmt::format("annotation {} is for image {}, which the file has twice", id, image),
                    "it was left out");
    const auto class_name = categories_.find(category);
    if (class_name == categories_.end() || unclear_categories_.contains(category)) {
      return refuse(fmt::format("annotation {} has category {}, which the file {}", id, category,
                                class_name == categories_.end() ? "does not have" : "has twice"),
                    "it was left out; the categories' own ids count, not their places");
    }
    CocoObject object{class_name->second, {}, false, index_};
    if (!read_box(annotation, &object.box_in_image))
      return refuse(fmt::format("annotation {} has no box of four finite numbers and no outline", id),
                    "it was left out");
    const auto crowd = annotation.find("iscrowd");
    object.crowd = crowd != annotation.end() && (*crowd == 1 || *crowd == true);
    const boxes::Box& b = object.box_in_image;
    if (!seen_.insert({image, category, b.x1, b.y1, b.x2, b.y2}).second)
      return refuse(fmt::format("annotation {} repeats an earlier one", id), "it was left out");
    if (!id.empty() && !ids_.insert(id).second) {
      findings_->push_back({base::Severity::kWarning, file_, index_, list_,
                            fmt::format("annotation id {} occurs twice", id), "both boxes were taken"});
    }
    images_[image_place->second].objects.push_back(std::move(object));
  }

  static bool read_box(const json& annotation, boxes::Box* box) {
    const auto bbox = annotation.find("bbox");
    if (bbox != annotation.end() && bbox->is_array() && bbox->size() == 4) {
      float n[4];
      for (std::size_t i = 0; i < 4; ++i) {
        if (!finite_number((*bbox)[i], &n[i])) return false;
      }
      *box = {n[0], n[1], n[0] + n[2], n[1] + n[3]};
      return true;
    }
    const auto outline = annotation.find("segmentation");
    return outline != annotation.end() && outline->is_array() && surround(*outline, box);
  }

  // The box around outlines [[x1, y1, x2, y2, ...], ...].
  static bool surround(const json& outlines, boxes::Box* box) {
    bool any = false;
    for (const json& outline : outlines) {
      if (!outline.is_array()) return false;
      for (std::size_t i = 0; i + 1 < outline.size(); i += 2) {
        float x = 0, y = 0;
        if (!finite_number(outline[i], &x) || !finite_number(outline[i + 1], &y)) return false;
        *box = any ? boxes::Box{std::min(box->x1, x), std::min(box->y1, y), std::max(box->x2, x),
                                std::max(box->y2, y)}
                   : boxes::Box{x, y, x, y};
        any = true;
      }
    }
    return any;
  }

  const json& root_;
  const std::string& file_;
  base::Findings* findings_;
  std::string list_;
  int index_ = 0;
  std::map<std::string, std::string> categories_;
  std::vector<std::string> names_;
  std::map<std::string, std::size_t> image_of_;
  std::set<std::string> unclear_categories_, unclear_images_, ids_, names_seen_;
  std::set<std::tuple<std::string, std::string, float, float, float, float>> seen_;
  std::vector<CocoImage> images_;
};

}  // namespace

bool is_coco_text(std::string_view text) {
  return text.find("\"images\"") != std::string_view::npos &&
         text.find("\"annotations\"") != std::string_view::npos;
}

std::vector<CocoImage> parse_coco(std::string_view text, const std::string& file, base::Findings* findings,
                                  std::vector<std::string>* categories) {
  const json root = parse_json(text, file);
  if (!root.is_object() || !root.contains("images")) {
    throw base::Error(base::ExitCode::kRefused, "no COCO annotations: there is no list \"images\"", file,
                      "give the annotation file that was exported with the pictures");
  }
  Reader reader(root, file, findings);
  std::vector<CocoImage> images = reader.read();
  if (categories != nullptr) *categories = reader.names();
  return images;
}

}  // namespace maskfit::formats
