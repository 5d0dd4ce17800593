// The page of a verification.

#include <algorithm>

#include "base/error.h"
#include "export/verify.h"
#include "image/draw.h"
#include "report/html.h"

namespace maskfit::exporting {
namespace {

constexpr const char* kStyle =
    "body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:80rem;padding:0 "
    "1rem;color:#222;background:#fff}"
    "table{border-collapse:collapse}td,th{padding:.3rem .8rem;text-align:right;border-bottom:1px solid #ccc}"
    "td:first-child,th:first-child{text-align:left}.bad{color:#b00020;font-weight:600}.good{color:#1b6e2c;"
    "font-weight:600}"
    "figure{margin:0;flex:1 1 12rem}figure "
    "img{width:100%;height:auto}.row{display:flex;gap:.6rem;flex-wrap:wrap;margin:1rem 0}"
    "figcaption{font-size:.85rem}li{margin:.4rem 0}"
    "@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}td,th{border-color:#444}.bad{color:"
    "#ff7b8a}.good{color:#7fd68f}}";

std::string drawn(image::Image canvas, const boxes::Detections& detections,
                  const std::vector<std::string>& names) {
  for (const boxes::Detection& d : detections) {
    const image::Color color = image::class_color(d.class_index);
    image::draw_box(canvas, d.box, color, 2);
    image::draw_caption(
        canvas, static_cast<int>(d.box.x1), static_cast<int>(d.box.y1),
        fmt::format("{} {:.2f}", names[static_cast<std::size_t>(d.class_index)], d.confidence),
        {255, 255, 255}, color);
  }
  return "data:image/jpeg;base64," + report::base64(image::encode_jpeg(canvas, 85));
}

// How much a picture's boxes differ between the variants, for the order of the page.
double disagreement(const Verification& v, std::size_t picture) {
  double sum = 0;
  const boxes::Detections& reference = v.variants.front().found[picture].detections;
  for (std::size_t i = 1; i < v.variants.size(); ++i) {
    const boxes::Detections& other = v.variants[i].found[picture].detections;
    sum += 10 * std::abs(static_cast<double>(other.size()) - static_cast<double>(reference.size()));
    for (const boxes::Detection& d : reference) {
      float best = 0;
      for (const boxes::Detection& o : other) {
        if (o.class_index == d.class_index) best = std::max(best, boxes::iou(d.box, o.box));
      }
      sum += 1 - best;
    }
  }
  return sum;
}

std::string table_html(const Verification& v, const std::vector<std::string>& names) {
  std::string html = "<table><tr><th></th><th>mAP50</th>";
  for (const std::string& name : names) html += fmt::format("<th>AP {}</th>", report::escaped(name));
  html +=
      "<th>boxes</th><th>largest move, px</th><th>largest change of "
      "confidence</th><th>lost</th><th>new</th><th>at the threshold</th><th></th></tr>";
  for (const VerifyRow& row : v.rows) {
    html += fmt::format("<tr><td>{}</td><td>{:.4f}</td>", report::escaped(row.name), row.map);
    for (const double ap : row.ap) html += fmt::format("<td>{:.4f}</td>", ap);
    const Difference& d = row.difference;
    html += row.compared
                ? fmt::format("<td>{}</td><td>{:.3f}</td><td>{:.4f}</td><td>{}</td><td>{}</td><td>{}</td>",
                              d.boxes, d.box_px, d.confidence, d.lost, d.added, d.at_threshold)
                : "<td></td><td></td><td></td><td></td><td></td><td></td>";
    html += row.good ? "<td class=good>good</td></tr>" : "<td class=bad>not good</td></tr>";
  }
  return html + "</table>";
}

}  // namespace

std::string verification_page(const Verification& v, const Bundle& bundle, const PictureSource& pictures,
                              const VerifyOptions& options) {
  const std::vector<std::string>& names = bundle.trained.class_names;
  std::string html = fmt::format(
      "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport "
      "content='width=device-width'><title>Parity of {0}</title>"
      "<style>{1}</style><h1>Parity of {0}</h1><p class={2}>{3}</p><p>{4} pictures; decoding and clustering "
      "as nvinfer does them.</p>",
      report::escaped(bundle.folder.filename().string()), kStyle, v.good ? "good" : "bad",
      v.good ? "This bundle gives the boxes of the trained model." : "This bundle is not good.", v.pictures);
  html += table_html(v, names);
  if (!v.findings.empty()) html += "<h2>What was found</h2><ul>";
  for (const base::Finding& finding : v.findings) {
    html += fmt::format("<li class={}>{}</li>", finding.severity == base::Severity::kRefused ? "bad" : "note",
                        report::escaped(base::to_string(finding)));
  }
  if (!v.findings.empty()) html += "</ul>";
  html += "<h2>Side by side</h2><p>Pictures whose boxes differ most come first.</p>";
  std::vector<std::size_t> order(static_cast<std::size_t>(v.pictures));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::vector<double> weights;
  for (const std::size_t i : order) weights.push_back(disagreement(v, i));
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
  order.resize(std::min<std::size_t>(order.size(), static_cast<std::size_t>(options.page_pictures)));
  for (const std::size_t i : order) {
    const Picture picture = pictures.at(static_cast<std::int64_t>(i));
    html += fmt::format("<h3>{}</h3><div class=row>", report::escaped(picture.id));
    for (const Variant& variant : v.variants) {
      html += fmt::format("<figure><img alt='' src='{}'><figcaption>{}: {} box{}</figcaption></figure>",
                          drawn(picture.canvas, variant.found[i].detections, names),
                          report::escaped(variant.name), variant.found[i].detections.size(),
                          variant.found[i].detections.size() == 1 ? "" : "es");
    }
    html += "</div>";
  }
  return html + "</html>\n";
}

}  // namespace maskfit::exporting
