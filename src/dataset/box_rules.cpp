#include "dataset/box_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace maskfit::dataset {
namespace {

using base::Severity;

constexpr float kMinSide = 1;              // pixels; less shows nothing
constexpr float kRounding = 0.01f;         // pixels beyond the edge that are cut without a word
constexpr double kAspectTolerance = 0.02;  // two sizes of one picture: rounding of a small thumbnail's sides

std::string text_of(image::Size size) {
  return fmt::format("{} x {}", size.width, size.height);
}

bool is_scaled(image::Size a, image::Size b) {
  const double ratio = static_cast<double>(a.width) * b.height / (static_cast<double>(a.height) * b.width);
  return std::abs(ratio - 1) <= kAspectTolerance;
}

// One pixel of slack: writers count pixels from 1 as well as from 0.
bool all_inside(const std::vector<DrawnBox>& drawn, image::Size size) {
  return std::all_of(drawn.begin(), drawn.end(), [&](const DrawnBox& d) {
    const boxes::Box& b = d.labeled.box_in_image;
    return std::max(b.x1, b.x2) <= static_cast<float>(size.width + 1) &&
           std::max(b.y1, b.y2) <= static_cast<float>(size.height + 1);
  });
}

void scale_all(std::vector<DrawnBox>& drawn, image::Size from, image::Size to) {
  for (DrawnBox& d : drawn) {
    d.labeled.box_in_image =
        boxes::scale(d.labeled.box_in_image, static_cast<float>(to.width) / static_cast<float>(from.width),
                     static_cast<float>(to.height) / static_cast<float>(from.height));
  }
}

void turn_all(std::vector<DrawnBox>& drawn, const PictureFrame& frame) {
  for (DrawnBox& d : drawn) {
    d.labeled.box_in_image = turn_upright(d.labeled.box_in_image, frame.stored, frame.orientation);
  }
}

// The picture is turned by EXIF, and the stated size does not tell on which side of the turn the boxes are.
void settle_unclear_turn(const PictureFrame& frame, const std::string& file, std::vector<DrawnBox>* drawn,
                         base::Findings* findings) {
  if (!all_inside(*drawn, frame.upright) && all_inside(*drawn, frame.stored)) {
    turn_all(*drawn, frame);
    findings->push_back({Severity::kRepaired, file, 0, "",
                         fmt::format("EXIF orientation {}", frame.orientation),
                         "the boxes fit only the picture as stored and were turned with it"});
    return;
  }
  if (drawn->empty()) return;
  findings->push_back(
      {Severity::kWarning, file, 0, "",
       fmt::format("EXIF orientation {}, and the label does not tell whether it was drawn before or after "
                   "turning",
                   frame.orientation),
       "taken as drawn on the upright picture; look at it"});
}

}  // namespace

boxes::Box turn_upright(const boxes::Box& box, image::Size stored, int orientation) {
  const bool mirror_x = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool mirror_y = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  boxes::Box turned = box;
  if (mirror_x) {
    turned.x1 = static_cast<float>(stored.width) - box.x2;
    turned.x2 = static_cast<float>(stored.width) - box.x1;
  }
  if (mirror_y) {
    turned.y1 = static_cast<float>(stored.height) - box.y2;
    turned.y2 = static_cast<float>(stored.height) - box.y1;
  }
  if (orientation >= 5) turned = {turned.y1, turned.x1, turned.y2, turned.x2};
  return turned;
}

bool bring_upright(const PictureFrame& frame, image::Size stated, const std::string& file,
                   std::vector<DrawnBox>* drawn, base::Findings* findings) {
  const image::Size upright = frame.upright, stored = frame.stored;
  const bool has_size = stated.width > 0 && stated.height > 0;
  if (!has_size || stated == upright) {
    // Only a quarter turn of a picture that is not square shows in its size.
    const bool clear = frame.orientation == 1 || (has_size && !(upright == stored));
    if (!clear) settle_unclear_turn(frame, file, drawn, findings);
    return true;
  }
  if (stated == stored) {
    turn_all(*drawn, frame);
    findings->push_back({Severity::kRepaired, file, 0, "size",
                         fmt::format("drawn on the picture as stored ({}), EXIF orientation {}",
                                     text_of(stored), frame.orientation),
                         "the boxes were turned with the picture"});
    return true;
  }
  if (is_scaled(stated, upright) || is_scaled(stated, stored)) {
    const bool turn = !is_scaled(stated, upright);
    scale_all(*drawn, stated, turn ? stored : upright);
    if (turn) turn_all(*drawn, frame);
    findings->push_back({Severity::kRepaired, file, 0, "size",
                         fmt::format("drawn on another size of the picture, {} instead of {}",
                                     text_of(stated), text_of(upright)),
                         "the boxes were scaled to the picture"});
    return true;
  }
  if (all_inside(*drawn, upright)) {
    findings->push_back(
        {Severity::kWarning, file, 0, "size",
         fmt::format("the label says {}, the picture is {}", text_of(stated), text_of(upright)),
         "the boxes fit the picture and were taken as they are; look at it"});
    return true;
  }
  findings->push_back({Severity::kRefused, file, 0, "size",
                       fmt::format("the label says {}, the picture is {}, and boxes lie outside it",
                                   text_of(stated), text_of(upright)),
                       "it is another picture's label; pair them anew"});
  return false;
}

void mend_boxes(image::Size upright, const std::string& file, std::vector<DrawnBox>* drawn,
                base::Findings* findings) {
  const auto width = static_cast<float>(upright.width), height = static_cast<float>(upright.height);
  std::vector<DrawnBox> kept;
  for (DrawnBox& d : *drawn) {
    boxes::Box& box = d.labeled.box_in_image;
    const boxes::Box written = box;
    const auto find = [&](Severity severity, const std::string& what, const std::string& remedy) {
      findings->push_back(
          {severity, file, d.line, "box",
           fmt::format("[{}, {}, {}, {}] {}", written.x1, written.y1, written.x2, written.y2, what), remedy});
    };
    const bool reversed = box.x2 < box.x1 || box.y2 < box.y1;
    if (reversed)
      box = {std::min(box.x1, box.x2), std::min(box.y1, box.y2), std::max(box.x1, box.x2),
             std::max(box.y1, box.y2)};
    const boxes::Box cut = boxes::clip(box, width, height);
    if (cut.width() < kMinSide || cut.height() < kMinSide) {
      find(Severity::kRefused,
           boxes::intersection_area(box, {0, 0, width, height}) > 0 || box.area() == 0
               ? fmt::format("of class '{}' is smaller than a pixel", d.labeled.class_name)
               : fmt::format("of class '{}' lies outside the picture of {}", d.labeled.class_name,
                             text_of(upright)),
           "the box was left out; draw it again if there is a face");
      continue;
    }
    if (reversed) find(Severity::kRepaired, "has its corners reversed", "they were swapped");
    // Parts of a side that were rounded, YOLO's, come back as edges at -0.0003: no fault, and nothing to
    // tell.
    const float beyond = std::max({cut.x1 - box.x1, cut.y1 - box.y1, box.x2 - cut.x2, box.y2 - cut.y2});
    if (beyond > kRounding) {
      find(Severity::kRepaired, fmt::format("reaches over the edge of the picture of {}", text_of(upright)),
           "it was cut to the picture");
    }
    box = cut;
    kept.push_back(std::move(d));
  }
  *drawn = std::move(kept);
}

}  // namespace maskfit::dataset
