#include "dataset/kitti_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>

#include "base/text.h"

namespace maskfit::dataset {
namespace {

constexpr int kBody = static_cast<int>(formats::MafaOccluder::kBody);
constexpr int kSimple = static_cast<int>(formats::MafaOccluder::kSimple);
constexpr int kComplex = static_cast<int>(formats::MafaOccluder::kComplex);

constexpr const char* kWiderEvents[] = {"2--Demonstration",
                                        "4--Dancing",
                                        "5--Car_Accident",
                                        "9--Press_Conference",
                                        "15--Stock_Market",
                                        "16--Award_Ceremony",
                                        "17--Ceremony",
                                        "20--Family_Group",
                                        "22--Picnic",
                                        "23--Shoppers",
                                        "25--Soldier_Patrol",
                                        "27--Spa",
                                        "29--Students_Schoolkids",
                                        "31--Waiter_Waitress",
                                        "32--Worker_Laborer",
                                        "33--Running",
                                        "37--Soccer",
                                        "38--Tennis",
                                        "43--Row_Boat",
                                        "46--Jockey",
                                        "47--Matador_Bullfighter",
                                        "49--Greeting",
                                        "51--Dresses",
                                        "57--Angler"};

bool has_area(const formats::MafaFace& face) {
  return face.face.width > 0 && face.face.height > 0;
}

// As Python writes a float: never without a point or an exponent.
std::string python_float(double value) {
  std::string text = fmt::format("{}", value);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

}  // namespace

FaceUse kaggle_use(const std::string& name, KittiRules rules) {
  if (name == "mask") return FaceUse::kMask;
  if (name == "none") return FaceUse::kNoMask;
  if (rules == KittiRules::kReference) return FaceUse::kExcluded;
  std::string plain = base::to_lower(name);
  std::replace(plain.begin(), plain.end(), '_', '-');
  for (const char* mask : {"mask", "with-mask", "good"}) {
    if (plain == mask) return FaceUse::kMask;
  }
  for (const char* none : {"none", "no-mask", "without-mask"}) {
    if (plain == none) return FaceUse::kNoMask;
  }
  return FaceUse::kExcluded;
}

FaceUse mafa_train_use(const formats::MafaFace& face, KittiRules rules, int mask_degree) {
  const bool reference = rules == KittiRules::kReference;
  if (!reference && !has_area(face)) return FaceUse::kNothing;
  const int type = face.occluder_type, degree = face.occlusion_degree;
  const bool worn = reference ? type != kBody : type == kSimple || type == kComplex;
  if (worn && degree >= mask_degree) return FaceUse::kMask;
  if (type == kBody && degree < 2 && (reference || degree >= 0)) return FaceUse::kNoMask;
  return FaceUse::kExcluded;
}

FaceUse mafa_test_use(const formats::MafaFace& face, KittiRules rules, int mask_degree) {
  const bool reference = rules == KittiRules::kReference;
  if (!reference && !has_area(face)) return FaceUse::kNothing;
  const int type = face.occluder_type;
  const bool worn = reference ? type != kBody : type == kSimple || type == kComplex;
  if (face.type == formats::MafaFaceType::kMasked && worn && face.occlusion_degree >= mask_degree)
    return FaceUse::kMask;
  if (face.type == formats::MafaFaceType::kUnmasked) return FaceUse::kNoMask;
  return FaceUse::kExcluded;
}

FaceUse wider_use(const formats::WiderFace& face, KittiRules rules) {
  if (rules == KittiRules::kReference) return face.occlusion == 0 ? FaceUse::kNoMask : FaceUse::kExcluded;
  if (!(face.width > 0 && face.height > 0)) return FaceUse::kNothing;
  return face.occlusion == 0 && face.invalid == 0 ? FaceUse::kNoMask : FaceUse::kExcluded;
}

bool wider_event_is_used(const std::string& event) {
  return std::find(std::begin(kWiderEvents), std::end(kWiderEvents), event) != std::end(kWiderEvents);
}

Corners fddb_reference_box(const formats::FddbEllipse& ellipse) {
  const double major = std::trunc(ellipse.major_radius), minor = std::trunc(ellipse.minor_radius);
  const double x = std::trunc(ellipse.center_x), y = std::trunc(ellipse.center_y);
  const double angle = std::trunc(ellipse.angle) * std::numbers::pi / 180;
  const double c = std::cos(angle), s = std::abs(std::sin(angle));
  const double half_width = minor * c + major * s, half_height = major * c + minor * s;
  return {x - half_width, y - half_height, x + half_width + 1, y + half_height + 1};
}

std::string reference_label_line(FaceUse use, const Corners& box, image::Size from, image::Size to) {
  const double scale_x = static_cast<double>(to.width) / from.width;
  const double scale_y = static_cast<double>(to.height) / from.height;
  // nearbyint rounds half to even in the default mode, as Python's round() does. Adding 0 turns -0 into 0.
  return fmt::format("{} 0 0 0 {:.0f} {:.0f} {:.0f} {:.0f} 0 0 0 0 0 0 0",
                     use == FaceUse::kMask ? "Mask" : "No-Mask", std::nearbyint(box[0] * scale_x) + 0.0,
                     std::nearbyint(box[1] * scale_y) + 0.0, std::nearbyint(box[2] * scale_x) + 0.0,
                     std::nearbyint(box[3] * scale_y) + 0.0);
}

std::string reference_wider_line(const Corners& box, image::Size from, image::Size to) {
  const double divisor_x = static_cast<double>(from.width) / to.width;
  const double divisor_y = static_cast<double>(from.height) / to.height;
  return fmt::format("No-Mask 0 0 0 {} {} {} {} 0 0 0 0 0 0 0", python_float(std::trunc(box[0]) / divisor_x),
                     python_float(std::trunc(box[1]) / divisor_y),
                     python_float(std::trunc(box[2]) / divisor_x),
                     python_float(std::trunc(box[3]) / divisor_y));
}

}  // namespace maskfit::dataset
