#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "audit/page_parts.h"
#include "base/error.h"
#include "base/files.h"
#include "base/parallel.h"
#include "image/reduced.h"
#include "image/resize.h"
#include "report/html.h"

namespace maskfit::audit {
namespace {

using report::escaped;

constexpr std::size_t kFrames = 6;  // of a sequence
constexpr int kJpegQuality = 76;

std::string jpeg_of(const std::filesystem::path& path, int side) {
  try {
    const std::string bytes = base::read_file(path);
    image::Image picture = image::decode_reduced(bytes, path.string(), side / 2);
    const double factor = static_cast<double>(side) / std::max(picture.width, picture.height);
    if (factor < 1) {
      picture = image::resize_antialias(picture, {std::max(1, static_cast<int>(picture.width * factor)),
                                                  std::max(1, static_cast<int>(picture.height * factor))});
    }
    return image::encode_jpeg(picture, kJpegQuality);
  } catch (const base::Error&) {
    return "";  // the finding is that it cannot be read
  }
}

std::string rect(const boxes::Box& box, const std::string& style, const std::string& hover) {
  return fmt::format(
      R"(<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"><title>{}</title></rect>)",
      style, box.x1, box.y1, std::max(0.0f, box.width()), std::max(0.0f, box.height()), escaped(hover));
}

// A ring around a box that would hardly be seen on the page; "" for a larger one.
std::string pointer(const boxes::Box& box, const std::string& style, const dataset::Sample& sample) {
  const auto side = static_cast<float>(std::max(sample.width, sample.height));
  if (std::max(box.width(), box.height()) > 0.05f * side) return "";
  return fmt::format(R"(<circle class="{}" cx="{:.1f}" cy="{:.1f}" r="{:.1f}"/>)", style,
                     (box.x1 + box.x2) / 2, (box.y1 + box.y2) / 2, 0.045f * side);
}

class Sections {
 public:
  Sections(const Audit& audit, const dataset::Dataset& data, const PageOptions& options)
      : audit_(audit), data_(data), options_(options) {}

  std::string render() {
    choose();
    std::vector<std::uint32_t> wanted;
    for (const auto& [sample, jpeg] : jpegs_) wanted.push_back(sample);
    std::vector<std::string*> places;
    for (auto& [sample, jpeg] : jpegs_) places.push_back(&jpeg);
    base::parallel_for(static_cast<std::int64_t>(wanted.size()), [&](std::int64_t i) {
      *places[i] = report::base64(jpeg_of(data_.image_path(data_.samples[wanted[i]]), options_.side));
    });
    std::string html;
    for (std::size_t i = 0; i < audit_.issues.size(); ++i) html += section(audit_.issues[i], shown_[i]);
    return html;
  }

 private:
  static std::vector<std::uint32_t> pictures_of(const Example& example) {
    const std::size_t n = std::min(example.samples.size(), kFrames);
    return {example.samples.begin(), example.samples.begin() + static_cast<std::ptrdiff_t>(n)};
  }

  // How many examples of each finding get pictures: one more for each in turn, until the page is full.
  void choose() {
    shown_.assign(audit_.issues.size(), 0);
    int pictures = 0;
    for (int round = 0; round < options_.examples; ++round) {
      for (std::size_t i = 0; i < audit_.issues.size(); ++i) {
        const auto& examples = audit_.issues[i].examples;
        if (static_cast<std::size_t>(round) >= examples.size()) continue;
        const std::vector<std::uint32_t> needed = pictures_of(examples[round]);
        if (pictures + static_cast<int>(needed.size()) > options_.pictures) continue;
        pictures += static_cast<int>(needed.size());
        for (const std::uint32_t sample : needed) jpegs_[sample];
        shown_[i] = round + 1;
      }
    }
  }

  std::string frame(const Example& example, std::size_t which) const {
    const std::uint32_t i = example.samples[which];
    const dataset::Sample& sample = data_.samples[i];
    const std::string& jpeg = jpegs_.at(i);
    if (jpeg.empty()) return "<div class=\"gone\">cannot be shown</div>";
    std::string svg;
    for (std::uint32_t b = 0; b < sample.boxes.size(); ++b) {
      const dataset::LabeledBox& box = sample.boxes[b];
      const bool meant = which == 0 && std::count(example.boxes.begin(), example.boxes.end(), b) > 0;
      const std::string style = box.ignore ? "ignored" : color_class(data_, box.class_name);
      svg += rect(box.box_in_image, style + (meant ? " meant" : ""), box.ignore ? "ignored" : box.class_name);
      if (meant) svg += pointer(box.box_in_image, style, sample);
    }
    if (which == 0) {
      for (const boxes::Box& box : example.extra_boxes_in_image) svg += rect(box, "found", example.text);
    }
    return fmt::format(
        "<div class=\"frame\" style=\"max-width:{}px\"><img loading=\"lazy\" alt=\"{}\" width=\"{}\" "
        "height=\"{}\" "
        "src=\"data:image/jpeg;base64,{}\"><svg viewBox=\"0 0 {} {}\" aria-hidden=\"true\">{}</svg></div>",
        static_cast<int>(420.0 * sample.width / sample.height), escaped(sample.id), sample.width,
        sample.height, jpeg, sample.width, sample.height, svg);
  }

  std::string figure(const Example& example) const {
    const std::vector<std::uint32_t> pictures = pictures_of(example);
    if (pictures.empty()) return "";
    std::string frames, names;
    for (std::size_t k = 0; k < pictures.size(); ++k) {
      frames += frame(example, k);
      if (k < 2) names += (k > 0 ? "<br>" : "") + escaped(data_.samples[pictures[k]].id);
    }
    const char* style = pictures.size() > 2 ? "strip" : pictures.size() == 2 ? "pair" : "single";
    return fmt::format(
        "<figure class=\"picture card {}\"><div "
        "class=\"side\">{}</div><figcaption><b>{}</b><br><span>{}</span>"
        "</figcaption></figure>\n",
        style, frames, names, escaped(example.text));
  }

  // Examples beyond those with pictures, and those that are about no picture.
  std::string list(const Issue& issue, int shown) const {
    std::string items;
    int named = 0;
    for (std::size_t e = 0; e < issue.examples.size(); ++e) {
      const Example& example = issue.examples[e];
      if (!example.samples.empty() && static_cast<int>(e) < shown) continue;
      if (named++ == options_.named_examples) {
        items += fmt::format("<li>and {} more, see audit.json</li>",
                             report::grouped(issue.count() - static_cast<long long>(e)));
        break;
      }
      std::string names;
      for (std::size_t k = 0; k < std::min<std::size_t>(2, example.samples.size()); ++k)
        names +=
            (k > 0 ? " and " : "") + fmt::format("<b>{}</b>", escaped(data_.samples[example.samples[k]].id));
      items += fmt::format("<li>{}{}{}</li>", names, names.empty() ? "" : ": ", escaped(example.text));
    }
    if (items.empty()) return "";
    if (issue.examples.front().samples.empty()) return "<ul class=\"texts\">" + items + "</ul>\n";
    return fmt::format(
        "<details class=\"card\"><summary>{} more</summary><ul class=\"texts\">{}</ul></details>\n",
        report::grouped(issue.count() - shown), items);
  }

  std::string section(const Issue& issue, int shown) const {
    const KindInfo& kind = info(issue.kind);
    std::string figures;
    for (int e = 0; e < shown; ++e) figures += figure(issue.examples[e]);
    return fmt::format(
        "<section class=\"issue\" id=\"{}\"><h2><span class=\"level {}\">{}</span> {} <span "
        "class=\"count\">{}</span>"
        "</h2>\n<p><b>Costs:</b> {}.<br><b>To do:</b> {}.</p>\n{}{}</section>\n",
        kind.name, to_string(issue.level), to_string(issue.level), escaped(kind.title),
        report::grouped(issue.count()), escaped(kind.consequence), escaped(kind.remedy),
        figures.empty() ? "" : "<div class=\"pictures\">\n" + figures + "</div>\n", list(issue, shown));
  }

  const Audit& audit_;
  const dataset::Dataset& data_;
  const PageOptions& options_;
  std::vector<int> shown_;                      // examples with pictures, of each finding
  std::map<std::uint32_t, std::string> jpegs_;  // base64, by sample
};

}  // namespace

std::string issue_sections(const Audit& audit, const dataset::Dataset& data, const PageOptions& options) {
  return Sections(audit, data, options).render();
}

}  // namespace maskfit::audit
