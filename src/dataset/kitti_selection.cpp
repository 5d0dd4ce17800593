#include "dataset/kitti_selection.h"

#include <algorithm>

namespace maskfit::dataset {
namespace {

constexpr double kMinSide = 1;             // pixels of the output
constexpr std::size_t kReferenceMost = 3;  // faces of a picture of WIDER FACE

class ReferenceDecision {
 public:
  ReferenceDecision(const FaceCounts& taken, const FaceCounts& limit) : taken_(taken), limit_(limit) {}

  PictureDecision mafa(KittiPart part, const std::vector<KittiFace>& faces, image::Size stored) {
    for (const KittiFace& face : faces) {
      const bool mask_left = taken_.mask + out_.counts.mask < limit_.mask;
      if (face.use == FaceUse::kMask && mask_left) {
        ++out_.counts.mask;
        out_.labels.push_back(face);
      } else if (face.use == FaceUse::kNoMask && part == KittiPart::kVal && mask_left) {
        out_.labels.push_back(face);  // the script's "count + 1" has no effect
      } else if (face.use == FaceUse::kNoMask && part == KittiPart::kTrain &&
                 taken_.no_mask + out_.counts.no_mask < limit_.no_mask) {
        ++out_.counts.no_mask;
        out_.labels.push_back(face);
      }
    }
    out_.write = !out_.labels.empty() && stored.width >= stored.height;
    if (!out_.write) out_.why_not = out_.labels.empty() ? "no face of use" : "portrait";
    return out_;
  }

  PictureDecision kaggle(const std::vector<KittiFace>& faces) {
    for (const KittiFace& face : faces) take_if_labelled(face);
    out_.write = !out_.labels.empty();
    if (!out_.write) out_.why_not = "no face of use";
    return out_;
  }

  PictureDecision fddb(const std::vector<KittiFace>& faces) {
    if (taken_.no_mask >= limit_.no_mask) return limit_reached();
    out_.labels = faces;
    out_.counts.no_mask = 1;
    out_.write = true;
    return out_;
  }

  PictureDecision wider(const std::vector<KittiFace>& faces) {
    if (taken_.no_mask >= limit_.no_mask) return limit_reached();
    for (const KittiFace& face : faces) take_if_labelled(face);
    out_.write = !out_.labels.empty() && out_.labels.size() <= kReferenceMost;
    if (!out_.write) {
      out_.why_not = out_.labels.empty() ? "no face of use" : "too many faces";
      out_.counts = {};
    }
    return out_;
  }

 private:
  void take_if_labelled(const KittiFace& face) {
    if (face.use == FaceUse::kMask) ++out_.counts.mask;
    if (face.use == FaceUse::kNoMask) ++out_.counts.no_mask;
    if (face.use == FaceUse::kMask || face.use == FaceUse::kNoMask) out_.labels.push_back(face);
  }
  PictureDecision limit_reached() {
    out_.why_not = "the limit is reached";
    return out_;
  }

  const FaceCounts &taken_, &limit_;
  PictureDecision out_;
};

// Cuts boxes to the picture, leaves out what is no face then, and excludes those that are too small.
std::vector<KittiFace> usable(const std::vector<KittiFace>& faces, image::Size stored,
                              const SelectionOptions& options, std::int64_t* dropped) {
  const auto scale = output_scale(stored, options);
  std::vector<KittiFace> kept;
  for (KittiFace face : faces) {
    Corners& b = face.box_in_stored;
    if (face.use != FaceUse::kNothing) {
      b = {std::clamp(b[0], 0.0, static_cast<double>(stored.width)),
           std::clamp(b[1], 0.0, static_cast<double>(stored.height)),
           std::clamp(b[2], 0.0, static_cast<double>(stored.width)),
           std::clamp(b[3], 0.0, static_cast<double>(stored.height))};
    }
    const double width = (b[2] - b[0]) * scale[0], height = (b[3] - b[1]) * scale[1];
    if (face.use == FaceUse::kNothing || !(width >= kMinSide && height >= kMinSide)) {
      ++*dropped;
      continue;
    }
    if (std::min(width, height) < options.min_face) face.use = FaceUse::kExcluded;
    kept.push_back(face);
  }
  return kept;
}

FaceCounts count(const std::vector<KittiFace>& faces) {
  FaceCounts counts;
  for (const KittiFace& face : faces) {
    if (face.use == FaceUse::kMask) ++counts.mask;
    if (face.use == FaceUse::kNoMask) ++counts.no_mask;
  }
  return counts;
}

// Faces beyond what is left become excluded ones.
void exclude_beyond(FaceCounts left, std::vector<KittiFace>* faces) {
  for (KittiFace& face : *faces) {
    if (face.use == FaceUse::kMask && left.mask-- <= 0) face.use = FaceUse::kExcluded;
    if (face.use == FaceUse::kNoMask && left.no_mask-- <= 0) face.use = FaceUse::kExcluded;
  }
}

PictureDecision decide_correctly(KittiSet set, const std::vector<KittiFace>& all, image::Size stored,
                                 const FaceCounts& taken, const FaceCounts& limit,
                                 const SelectionOptions& options) {
  PictureDecision out;
  std::vector<KittiFace> faces = usable(all, stored, options, &out.dropped);
  const auto no = [&](const char* why) {
    out.why_not = why;
    return out;
  };
  FaceCounts found = count(faces);
  const std::int64_t labelled = found.mask + found.no_mask;
  if (labelled == 0) return no("no face of use");
  if (set == KittiSet::kMafa && !options.keep_portrait && stored.width < stored.height) return no("portrait");
  if (set == KittiSet::kWider && options.wider_max_faces > 0 && labelled > options.wider_max_faces)
    return no("too many faces");
  const bool skip = options.excluded == ExcludedFaces::kSkipPicture;
  if (skip && labelled < static_cast<std::int64_t>(faces.size())) return no("a face that gets no label");
  const FaceCounts left{std::max<std::int64_t>(0, limit.mask - taken.mask),
                        std::max<std::int64_t>(0, limit.no_mask - taken.no_mask)};
  if (found.mask > left.mask || found.no_mask > left.no_mask) {
    if (skip) return no("the limit is reached");
    exclude_beyond(left, &faces);
    found = count(faces);
    if (found.mask + found.no_mask == 0) return no("the limit is reached");
  }
  if (options.excluded == ExcludedFaces::kBackground)
    std::erase_if(faces, [](const KittiFace& face) { return face.use == FaceUse::kExcluded; });
  out.labels = std::move(faces);
  out.counts = found;
  out.write = true;
  return out;
}

}  // namespace

std::array<double, 2> output_scale(image::Size stored, const SelectionOptions& options) {
  const double x = static_cast<double>(options.output.width) / stored.width;
  const double y = static_cast<double>(options.output.height) / stored.height;
  if (!options.letterbox) return {x, y};
  return {std::min(x, y), std::min(x, y)};
}

PictureDecision decide_picture(KittiSet set, KittiPart part, const std::vector<KittiFace>& faces,
                               image::Size stored, const FaceCounts& taken, const FaceCounts& limit,
                               const SelectionOptions& options) {
  if (options.rules == KittiRules::kCorrect)
    return decide_correctly(set, faces, stored, taken, limit, options);
  ReferenceDecision decision(taken, limit);
  switch (set) {
    case KittiSet::kKaggle:
      return decision.kaggle(faces);
    case KittiSet::kMafa:
      return decision.mafa(part, faces, stored);
    case KittiSet::kFddb:
      return decision.fddb(faces);
    case KittiSet::kWider:
      return decision.wider(faces);
  }
  return {};
}

}  // namespace maskfit::dataset
