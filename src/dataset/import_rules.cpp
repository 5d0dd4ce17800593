#include "dataset/import_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "dataset/kitti_rules.h"

namespace maskfit::dataset {
namespace {

using formats::MafaFaceType;

constexpr int kBody = static_cast<int>(formats::MafaOccluder::kBody);

FaceVerdict ignored(const char* class_name, std::string why) {
  return {class_name, std::move(why)};
}

FaceVerdict judge_reference(const formats::MafaFace& face, formats::MafaPart part, const FaceRules& rules) {
  const auto use = part == formats::MafaPart::kTrain ? mafa_train_use : mafa_test_use;
  switch (use(face, KittiRules::kReference, rules.mask_degree)) {
    case FaceUse::kMask:
      return {kMaskClass, ""};
    case FaceUse::kNoMask:
      return {kNoMaskClass, ""};
    default:
      return ignored(kMaskClass, "MAFA: the reference takes it neither as mask nor as no-mask");
  }
}

}  // namespace

FaceRules rules_of(RulePreset preset) {
  FaceRules rules;
  rules.preset = preset;
  if (preset == RulePreset::kAll) {
    rules.max_occlusion = 2;
    rules.mask_degree = 1;
  }
  return rules;
}

FaceVerdict judge(const formats::MafaFace& face, formats::MafaPart part, const FaceRules& rules) {
  if (rules.preset == RulePreset::kReference) return judge_reference(face, part, rules);
  if (part == formats::MafaPart::kTest) {
    if (face.type == MafaFaceType::kUnmasked) return {kNoMaskClass, ""};
    if (face.type != MafaFaceType::kMasked) return ignored(kMaskClass, "MAFA: marked as invalid");
  }
  const int degree = face.occlusion_degree;
  if (face.occluder_type == kBody) {
    const bool open = degree == 1 || (rules.preset == RulePreset::kAll && degree > 0);
    return open && part == formats::MafaPart::kTrain ? FaceVerdict{kNoMaskClass, ""}
                                                     : ignored(kMaskClass, "MAFA: covered by hands or hair");
  }
  if (face.occluder_type != 1 && face.occluder_type != 2)
    return ignored(kMaskClass, "MAFA: what covers it is not known");
  if (degree < 1) return ignored(kMaskClass, "MAFA: how far it is covered is not known");
  if (degree < rules.mask_degree)
    return ignored(kMaskClass, fmt::format("MAFA: covered to less than degree {}", rules.mask_degree));
  return {kMaskClass, ""};
}

FaceVerdict judge(const formats::WiderFace& face, const FaceRules& rules) {
  if (face.invalid != 0 && rules.preset != RulePreset::kReference)
    return ignored(kNoMaskClass, "WIDER FACE: marked as invalid");
  if (face.occlusion > rules.max_occlusion)
    return ignored(kNoMaskClass, fmt::format("WIDER FACE: occlusion above {}", rules.max_occlusion));
  if (face.blur > rules.max_blur)
    return ignored(kNoMaskClass, fmt::format("WIDER FACE: blur above {}", rules.max_blur));
  return {kNoMaskClass, ""};
}

std::string refused_picture(const formats::WiderPicture& picture, const FaceRules& rules) {
  if (rules.preset != RulePreset::kReference) return "";
  if (!wider_event_is_used(picture.event)) return "the reference does not take pictures of this event";
  const auto clear = std::count_if(picture.faces.begin(), picture.faces.end(),
                                   [&](const formats::WiderFace& face) { return face.occlusion == 0; });
  if (clear >= 1 && clear <= 3) return "";
  return fmt::format("the reference takes pictures with 1 to 3 uncovered faces, and here are {}", clear);
}

std::string refused_mafa_size(int width, int height, const FaceRules& rules) {
  if (rules.preset != RulePreset::kReference || width >= height) return "";
  return "the reference does not take MAFA's pictures that are higher than wide";
}

}  // namespace maskfit::dataset
