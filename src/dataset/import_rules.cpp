#include "dataset/import_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace maskfit::dataset {
namespace {

using formats::MafaFaceType;

constexpr int kBody = static_cast<int>(formats::MafaOccluder::kBody);

// The events that the reference's converter takes.
constexpr const char* kReferenceEvents[] = {"2--Demonstration",
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

FaceVerdict ignored(const char* class_name, std::string why) {
  return {class_name, std::move(why)};
}

FaceVerdict judge_reference(const formats::MafaFace& face, formats::MafaPart part, const FaceRules& rules) {
  const bool train = part == formats::MafaPart::kTrain;
  if ((train || face.type == MafaFaceType::kMasked) && face.occluder_type != kBody &&
      face.occlusion_degree >= rules.mask_degree) {
    return {kMaskClass, ""};
  }
  if (train ? face.occluder_type == kBody && face.occlusion_degree < 2 : face.type == MafaFaceType::kUnmasked)
    return {kNoMaskClass, ""};
  return ignored(kMaskClass, "MAFA: the reference takes it neither as mask nor as no-mask");
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
  if (std::find(std::begin(kReferenceEvents), std::end(kReferenceEvents), picture.event) ==
      std::end(kReferenceEvents)) {
    return "the reference does not take pictures of this event";
  }
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
