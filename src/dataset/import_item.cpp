#include "dataset/import_item.h"

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "boxes/box.h"
#include "formats/utf8.h"

namespace maskfit::dataset {
namespace fs = std::filesystem;
namespace {

using base::Severity;

constexpr float kSameBox = 0.5f;  // IoU from which two labels of one picture mean the same face

// Roboflow exports several augmented copies of one picture as NAME.rf.HASH.jpg; they must not part in a
// split.
std::string group_of(const std::string& id) {
  const std::size_t mark = id.rfind(".rf.");
  return mark == std::string::npos ? "" : id.substr(0, mark);
}

struct Comparison {
  std::size_t alone = 0;        // boxes of the one that no box of the other covers
  std::size_t other_class = 0;  // pairs of which the class differs
};

// Each box of `b` is used once.
Comparison compare_boxes(const std::vector<LabeledBox>& a, const std::vector<DrawnBox>& b) {
  std::vector<bool> taken(b.size(), false);
  Comparison result;
  for (const LabeledBox& box : a) {
    std::size_t best = b.size();
    float best_iou = kSameBox;
    for (std::size_t i = 0; i < b.size(); ++i) {
      const float iou = boxes::iou(box.box_in_image, b[i].labeled.box_in_image);
      if (taken[i] || iou < best_iou) continue;
      best = i;
      best_iou = iou;
    }
    if (best == b.size()) {
      ++result.alone;
    } else {
      taken[best] = true;
      result.other_class += base::to_lower(box.class_name) != base::to_lower(b[best].labeled.class_name);
    }
  }
  return result;
}

std::string format_name(const LabelRef& ref, const Source& source) {
  return ref.reader != nullptr ? ref.reader->name : index_format_name(source.indices.at(ref.file).format);
}

}  // namespace

PictureFacts ItemReader::picture_facts(const std::string& name) const {
  if (options_.decode_pictures) return cache_.look_at(name);
  PictureFacts facts;
  try {
    image::ReadInfo info;
    facts.upright = image::read_image_size(name, &info);
    facts.orientation = info.orientation;
    facts.format = info.format;
    facts.notes = info.notes;
  } catch (const base::Error& error) {
    facts.error = error.what();
    facts.remedy = error.hint();
  }
  return facts;
}

bool ItemReader::read_picture(Item* item, Sample* sample, PictureFrame* frame) const {
  const SurveyedFile& file = item->source->files[item->picture];
  const std::string name = item->source->name(item->picture);
  const auto find = [&](Severity severity, const std::string& what, const std::string& remedy) {
    item->findings.push_back({severity, name, 0, "", what, remedy});
  };
  if (!formats::is_utf8(file.path.string())) {
    find(Severity::kRefused, "its name is not UTF-8", "rename it");
    return false;
  }
  const PictureFacts facts = picture_facts(name);
  if (!facts.usable()) {
    find(Severity::kRefused, facts.error, facts.remedy);
    return false;
  }
  for (const std::string& note : facts.notes) find(Severity::kRepaired, note, "");
  item->picture_repaired = !facts.notes.empty();
  *frame = {facts.upright, facts.stored_size(), facts.orientation};
  sample->id = item->source->id_prefix + fs::path(file.path).replace_extension().generic_string();
  sample->image = fs::absolute(name).lexically_normal();
  sample->width = frame->upright.width;
  sample->height = frame->upright.height;
  sample->split = options_.into_split.empty() ? file.split : options_.into_split;
  sample->group = group_of(sample->id);
  return true;
}

std::optional<std::vector<DrawnBox>> ItemReader::read_label(const LabelRef& ref, const PictureFrame& frame,
                                                            Item* item, base::Findings* findings) const {
  const std::string name = item->source->name(ref.file);
  std::optional<ReadLabel> label;
  if (ref.entry != nullptr) {
    std::string refused = ref.entry->refused;
    if (item->source->indices.at(ref.file).format == LabelFormat::kMafa)
      refused = refused_mafa_size(frame.upright.width, frame.upright.height, options_.rules);
    if (!refused.empty()) {
      findings->push_back({Severity::kRefused, item->source->name(item->picture), 0, "", refused,
                           "import with --rules correct to use it"});
      return std::nullopt;
    }
    label = ReadLabel{ref.entry->stated_size, ref.entry->boxes};
  } else {
    try {
      const LabelContext context{&options_, ref.names, frame.upright};
      label = ref.reader->read(base::read_file(name), name, context, findings);
    } catch (const base::Error& error) {
      findings->push_back({Severity::kRefused, name, 0, "", error.what(), error.hint()});
    }
  }
  if (!label || !bring_upright(frame, label->stated_size, name, &label->boxes, findings)) return std::nullopt;
  const std::size_t drawn = label->boxes.size();
  if (options_.mend_boxes) mend_boxes(frame.upright, name, &label->boxes, findings);
  if (drawn > 0 && label->boxes.empty()) {
    findings->push_back({Severity::kRefused, name, ref.entry == nullptr ? 0 : ref.entry->line, "",
                         fmt::format("none of its {} boxes could be used", drawn),
                         "the picture would count as one without a face; draw the boxes again"});
    return std::nullopt;
  }
  return std::move(label->boxes);
}

void ItemReader::compare(const LabelRef& ref, const PictureFrame& frame, Item* item) const {
  base::Findings own;  // of a label that is not used, only what it comes to matters
  const auto boxes = read_label(ref, frame, item, &own);
  const std::size_t taken = item->sample->boxes.size(), n = boxes ? boxes->size() : 0;
  const Comparison comparison = compare_boxes(item->sample->boxes, boxes ? *boxes : std::vector<DrawnBox>());
  const bool bare_numbers =
      ref.reader != nullptr && ref.reader->format == LabelFormat::kYolo && ref.names == nullptr;
  std::string what;
  if (n != taken || comparison.alone > 0) {
    what = fmt::format(
        "this {} label has {} boxes for the picture and its {} label {}, of which {} have no partner",
        format_name(ref, *item->source), n, format_name(item->labels.front(), *item->source), taken,
        comparison.alone);
  } else if (comparison.other_class > 0 && !bare_numbers) {
    what = fmt::format("{} of {} boxes have another class in this {} label than in the {} label",
                       comparison.other_class, n, format_name(ref, *item->source),
                       format_name(item->labels.front(), *item->source));
  }
  if (what.empty()) return;
  item->findings.push_back({Severity::kWarning, item->source->name(ref.file),
                            ref.entry == nullptr ? 0 : ref.entry->line, "", what,
                            fmt::format("the {} label was taken; look at the picture",
                                        format_name(item->labels.front(), *item->source))});
}

void ItemReader::read(Item* item) const {
  Sample sample;
  PictureFrame frame;
  item->fates.assign(item->labels.size(), LabelFate::kRefused);
  if (!read_picture(item, &sample, &frame)) return;
  if (item->labels.empty()) item->sample = sample;
  for (std::size_t i = 0; i < item->labels.size(); ++i) {
    const LabelRef& ref = item->labels[i];
    if (item->sample) {
      compare(ref, frame, item);
      item->fates[i] = LabelFate::kCompared;
      continue;
    }
    const std::size_t before = item->findings.size();
    const std::string file = item->source->name(ref.file);
    if (!ref.how.empty())
      item->findings.push_back({Severity::kRepaired, file, 0, "", ref.how, "they were paired"});
    const auto boxes = read_label(ref, frame, item, &item->findings);
    if (!boxes) continue;
    for (const DrawnBox& drawn : *boxes) {
      sample.boxes.push_back(drawn.labeled);
      LabeledBox& box = sample.boxes.back();
      if (box.ignore ||
          std::min(box.box_in_image.width(), box.box_in_image.height()) >= options_.rules.min_face)
        continue;
      box.ignore = true;
      ++item->ignored[fmt::format("a side below {} pixels", options_.rules.min_face)];
    }
    item->sample = sample;
    // A warning leaves the label used as it is; a box mended or left out does not.
    const bool repaired =
        std::any_of(item->findings.begin() + static_cast<std::ptrdiff_t>(before), item->findings.end(),
                    [](const base::Finding& f) { return f.severity != Severity::kWarning; });
    item->fates[i] = repaired ? LabelFate::kRepaired : LabelFate::kUsed;
  }
}

}  // namespace maskfit::dataset
