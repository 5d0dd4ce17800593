// A trained model as a second pair of eyes: what it is sure of and the labels do not have.

#include <fmt/format.h>

#include <algorithm>

#include "audit/study.h"
#include "base/error.h"

namespace maskfit::audit {
namespace {

constexpr float kNoFaceIou = 0.2f;    // less overlap with any label: nothing is labelled there
constexpr float kSameFaceIou = 0.5f;  // that face

void compare(const Study& study, std::uint32_t i, const boxes::Detections& detections, Issues* issues) {
  const dataset::Sample& sample = study.sample(i);
  for (const boxes::Detection& found : detections) {
    if (found.confidence < study.options.detect_confidence || found.class_index < 0) continue;
    const std::string& name = study.data.class_names[found.class_index];
    float best = 0;
    std::uint32_t nearest = 0;
    for (std::uint32_t b = 0; b < sample.boxes.size(); ++b) {
      const boxes::Box& box = sample.boxes[b].box_in_image;
      // Anything inside a region to ignore is accounted for.
      const float overlap = sample.boxes[b].ignore && found.box.area() > 0
                                ? boxes::intersection_area(box, found.box) / found.box.area()
                                : boxes::iou(box, found.box);
      if (overlap > best) {
        best = overlap;
        nearest = b;
      }
    }
    Example example;
    example.samples = {i};
    example.rank = found.confidence;
    example.extra_boxes_in_image = {found.box};
    if (best < kNoFaceIou) {
      example.text = fmt::format("{} {:.2f}, no label there", name, found.confidence);
      issues->add(Kind::kFaceUnlabelled, std::move(example));
    } else if (best >= kSameFaceIou && !sample.boxes[nearest].ignore &&
               sample.boxes[nearest].class_name != name) {
      example.boxes = {nearest};
      example.text = fmt::format("labelled {}, the model says {} {:.2f}", sample.boxes[nearest].class_name,
                                 name, found.confidence);
      issues->add(Kind::kClassDoubtful, std::move(example));
    }
  }
}

}  // namespace

void check_with_model(const Study& study, Issues* issues) {
  for (std::uint32_t i = 0; i < study.size(); ++i) {
    study.options.stop.throw_if_requested();
    if (study.options.progress) study.options.progress("asking the model", i, study.size());
    if (!study.facts[i].usable()) continue;
    try {
      const image::Image picture = image::read_image(study.data.image_path(study.sample(i)));
      compare(study, i, study.options.detect(picture), issues);
    } catch (const base::Error& error) {
      // A picture that was readable a minute ago; its absence is a finding of the next audit.
      if (error.code() != base::ExitCode::kRefused) throw;
    }
  }
}

}  // namespace maskfit::audit
