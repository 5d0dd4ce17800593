// Pictures with boxes: an embedded JPEG under an SVG of the same frame, so that boxes stay sharp and can be
// switched off.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "evaluate/confusion.h"
#include "image/resize.h"
#include "report/html.h"
#include "report/sections.h"

namespace maskfit::report {
namespace {

using evaluate::Verdict;

constexpr int kMaxSide = 720;
constexpr int kJpegQuality = 82;

image::Image fitted(const image::Image& picture) {
  const double factor = static_cast<double>(kMaxSide) / std::max(picture.width, picture.height);
  if (factor >= 1) return picture;
  return image::resize_antialias(picture,
                                 {std::max(1, static_cast<int>(std::lround(picture.width * factor))),
                                  std::max(1, static_cast<int>(std::lround(picture.height * factor)))});
}

const char* style_of(Verdict verdict, bool truth) {
  switch (verdict) {
    case Verdict::kRight:
      return "right";
    case Verdict::kWrongClass:
      return "confused";
    case Verdict::kIgnored:
      return "ignored";
    default:
      return truth ? "missed" : "false";
  }
}

std::string class_name(const std::vector<std::string>& names, int index) {
  return index >= 0 && static_cast<std::size_t>(index) < names.size() ? names[index] : "?";
}

// In a crowd only errors are captioned, and smaller.
constexpr std::size_t kCrowd = 8;

// One box: its outline, a caption (may be empty) and the text that shows when the pointer rests on it.
// Strokes keep their width on the screen whatever the picture's size.
struct BoxMark {
  boxes::Box box;
  std::string style;
  std::string caption;
  std::string hover;
  bool caption_below = false;
};

std::string mark_svg(const BoxMark& mark, double font, int picture_height) {
  const boxes::Box& box = mark.box;
  std::string svg = fmt::format(
      R"(<g class="{}"><rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"><title>{}</title></rect>)",
      mark.style, box.x1, box.y1, std::max(0.0f, box.width()), std::max(0.0f, box.height()),
      escaped(mark.hover));
  if (!mark.caption.empty()) {
    // Above the box, or inside it at the picture's upper edge.
    double y = box.y1 > 1.3 * font ? box.y1 - 0.35 * font : box.y1 + font;
    if (mark.caption_below) y = std::min(box.y2 + 1.05 * font, picture_height - 2.0);
    svg += fmt::format(R"(<text x="{:.1f}" y="{:.1f}" font-size="{:.1f}">{}</text>)", std::max(0.0f, box.x1),
                       y, font, escaped(mark.caption));
  }
  return svg + "</g>";
}

BoxMark truth_mark(const boxes::Truth& truth, Verdict verdict, const std::vector<std::string>& names) {
  const std::string name = class_name(names, truth.class_index);
  BoxMark mark{truth.box, style_of(verdict, true), "", "there: " + name, false};
  if (verdict == Verdict::kIgnored) mark.hover = "ignored";
  if (verdict == Verdict::kNothing) mark.caption = mark.hover = "missed: " + name;
  if (verdict == Verdict::kWrongClass) {
    // The detection's caption is at the upper edge.
    mark.caption = "is " + name;
    mark.caption_below = true;
  }
  return mark;
}

std::string overlay(const Picture& picture, const evaluate::Verdicts& verdicts,
                    const std::vector<std::string>& names) {
  const bool crowd = picture.truths.size() + picture.detections.size() > 2 * kCrowd;
  const double font = (crowd ? 0.022 : 0.032) * std::max(picture.image.width, picture.image.height);
  std::string svg = "<g class=\"truth\">";
  for (std::size_t t = 0; t < picture.truths.size(); ++t) {
    BoxMark mark = truth_mark(picture.truths[t], verdicts.truths[t], names);
    // The dashes and their colour say "missed" already.
    if (crowd && verdicts.truths[t] == Verdict::kNothing) mark.caption.clear();
    svg += mark_svg(mark, font, picture.image.height);
  }
  svg += "</g><g class=\"found\">";
  for (std::size_t d = 0; d < picture.detections.size(); ++d) {
    const Verdict verdict = verdicts.detections[d];
    if (verdict == Verdict::kUnsure) continue;
    const boxes::Detection& detection = picture.detections[d];
    const std::string text =
        fmt::format("{} {:.2f}", class_name(names, detection.class_index), detection.confidence);
    const bool captioned = !crowd || verdict == Verdict::kWrongClass || verdict == Verdict::kNothing;
    svg += mark_svg({detection.box, style_of(verdict, false), captioned ? text : "", text, false}, font,
                    picture.image.height);
  }
  return svg + "</g>";
}

std::string count_of(std::int64_t n, const char* one, const char* many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}

std::string summary_of(const evaluate::Verdicts& verdicts) {
  const auto count = [](const std::vector<Verdict>& list, Verdict verdict) {
    return std::count(list.begin(), list.end(), verdict);
  };
  std::vector<std::string> parts;
  const auto right = count(verdicts.detections, Verdict::kRight);
  const auto missed = count(verdicts.truths, Verdict::kNothing);
  const auto wrong = count(verdicts.detections, Verdict::kWrongClass);
  const auto alarms = count(verdicts.detections, Verdict::kNothing);
  if (missed > 0) parts.push_back(fmt::format("{} missed", missed));
  if (wrong > 0) parts.push_back(count_of(wrong, "wrong class", "wrong classes"));
  if (alarms > 0) parts.push_back(count_of(alarms, "false alarm", "false alarms"));
  if (right > 0 || parts.empty()) parts.push_back(fmt::format("{} right", right));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string figure(const Picture& picture, const std::vector<std::string>& names, float threshold) {
  const evaluate::Verdicts verdicts =
      evaluate::judge({picture.id, picture.detections, picture.truths}, threshold);
  const std::string caption = summary_of(verdicts);
  return fmt::format(
      "<figure class=\"picture card\"><div class=\"frame\"><img loading=\"lazy\" alt=\"{}: {}\" width=\"{}\" "
      "height=\"{}\" "
      "src=\"data:image/jpeg;base64,{}\"><svg viewBox=\"0 0 {} {}\" aria-hidden=\"true\">{}</svg></div>"
      "<figcaption><b>{}</b> <span>{}</span></figcaption></figure>\n",
      escaped(picture.id), escaped(caption), picture.image.width, picture.image.height,
      base64(image::encode_jpeg(fitted(picture.image), kJpegQuality)), picture.image.width,
      picture.image.height, overlay(picture, verdicts, names), escaped(picture.id), escaped(caption));
}

}  // namespace

std::string pictures_section(const std::string& heading, const std::string& explanation,
                             const std::vector<Picture>& pictures, const std::vector<std::string>& names,
                             float threshold) {
  std::string figures;
  for (const Picture& picture : pictures) {
    if (picture.image.width > 0 && picture.image.height > 0) figures += figure(picture, names, threshold);
  }
  if (figures.empty()) return "";
  return fmt::format(
      "<section class=\"gallery\"><h2>{}</h2><p class=\"small\">{}</p>\n"
      "<div class=\"key\"><label><input type=\"checkbox\" class=\"show-truth\" checked> objects "
      "(dashed)</label>"
      "<label><input type=\"checkbox\" class=\"show-found\" checked> detections</label>"
      "<span class=\"right\">right</span><span class=\"confused\">wrong class</span><span "
      "class=\"false\">false alarm</span>"
      "<span class=\"missed\">missed</span><span class=\"ignored\">ignored</span></div>\n"
      "<div class=\"pictures\">\n{}</div></section>\n",
      escaped(heading), escaped(explanation), figures);
}

}  // namespace maskfit::report
