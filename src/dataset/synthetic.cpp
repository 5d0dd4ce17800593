#include "dataset/synthetic.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/files.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "dataset/synthetic_head.h"
#include "dataset/synthetic_scene.h"

namespace maskfit::dataset {
namespace {

using synthetic::Head;

constexpr const char* kMaskClass = "mask";
constexpr const char* kNoMaskClass = "no-mask";
constexpr int kJpegQuality = 90;
constexpr float kBodyLength = 30;  // below the chin, in half face widths: beyond every picture
constexpr int kAttempts = 40;      // to find a place for a head before it is left out

[[noreturn]] void refuse(const std::string& what, const std::string& hint) {
  throw base::Error(base::ExitCode::kUsage, what, "synthetic dataset", hint);
}

void check(const SyntheticOptions& o) {
  if (o.pictures < 1) refuse(fmt::format("{} pictures", o.pictures), "ask for at least one");
  if (o.size.width < 32 || o.size.height < 32) {
    refuse(fmt::format("pictures of {} x {} pixels", o.size.width, o.size.height), "use at least 32 x 32");
  }
  if (o.max_heads < 1) refuse(fmt::format("at most {} heads", o.max_heads), "allow at least one");
  if (!(o.min_face_height >= 8 && o.min_face_height <= o.max_face_height)) {
    refuse(fmt::format("face heights from {} to {} pixels", o.min_face_height, o.max_face_height),
           "use at least 8, the smaller number first");
  }
  if (o.max_face_height > static_cast<float>(o.size.height)) {
    refuse(fmt::format("faces of {} pixels in pictures of height {}", o.max_face_height, o.size.height),
           "make the pictures higher or the faces smaller");
  }
}

// 0 now and then, mostly 1 or 2.
int draw_count(base::Rng& rng, int max_heads) {
  if (rng.bernoulli(1.0f / 16)) return 0;
  int count = 1;
  while (count < max_heads && rng.bernoulli(0.6f)) ++count;
  return count;
}

// The parts of a face that a person in front hides: by the head with its hair, and by the body below it.
float hidden_by(const Head& person, const boxes::Box& face_in_image) {
  const boxes::Box own = synthetic::face_box(person);
  const float margin = 0.22f * person.frame.scale, middle = (own.x1 + own.x2) / 2,
              reach = 2 * person.frame.scale;
  const boxes::Box head{own.x1 - margin, own.y1 - margin, own.x2 + margin, own.y2};
  const boxes::Box shoulders{middle - reach, own.y2, middle + reach,
                             own.y2 + kBodyLength * person.frame.scale};
  return boxes::intersection_area(head, face_in_image) + boxes::intersection_area(shoulders, face_in_image);
}

boxes::Box visible_box(const Head& head, image::Size size) {
  return boxes::clip(synthetic::face_box(head), static_cast<float>(size.width),
                     static_cast<float>(size.height));
}

// Whether no face loses more than its share by the newest person, who stands in front of the others.
bool fits(const Head& newest, const std::vector<Head>& others, const SyntheticOptions& options) {
  const boxes::Box face = synthetic::face_box(newest);
  if (visible_box(newest, options.size).area() < (1 - options.max_hidden) * face.area()) return false;
  return std::all_of(others.begin(), others.end(), [&](const Head& other) {
    const boxes::Box hidden_face = synthetic::face_box(other);
    return hidden_by(newest, hidden_face) <= options.max_hidden * hidden_face.area();
  });
}

// People from far to near, each at a place where all faces stay visible.
std::vector<Head> draw_people(base::Rng& rng, const SyntheticOptions& options) {
  std::vector<float> heights(static_cast<std::size_t>(draw_count(rng, options.max_heads)));
  for (float& height : heights) {
    height =
        options.min_face_height * std::pow(options.max_face_height / options.min_face_height, rng.uniform());
  }
  std::sort(heights.begin(), heights.end());
  std::vector<Head> people;
  for (const float height : heights) {
    const bool masked = rng.bernoulli(options.mask_share);
    Head head =
        synthetic::draw_head(rng, 1, masked, options.chin_mask_share, options.max_turn, options.max_yaw);
    head.frame.scale = height / (2 * head.face_height);
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      head.frame.origin = {rng.uniform(0, static_cast<float>(options.size.width)),
                           rng.uniform(0, static_cast<float>(options.size.height))};
      if (!fits(head, people, options)) continue;
      people.push_back(head);
      break;
    }
  }
  return people;
}

bool wears_mask(const Head& head) {
  return head.mask != synthetic::Mask::kNone && head.mask != synthetic::Mask::kUnderChin;
}

std::string id_of(std::int64_t index) {
  return fmt::format("images/synthetic-{:05d}", index);
}

}  // namespace

SyntheticPicture draw_synthetic(const SyntheticOptions& options, std::int64_t index) {
  check(options);
  base::Rng rng(options.seed, base::Purpose::kSynthetic, 0, static_cast<std::uint64_t>(index));
  image::Painter painter = synthetic::paint_background(rng, options.size);
  for (std::int64_t i = rng.uniform_int(0, options.max_distractors); i > 0; --i) {
    synthetic::paint_distractor(rng, painter);
  }
  SyntheticPicture picture;
  for (const Head& head : draw_people(rng, options)) {
    synthetic::paint_head(painter, head);
    if (rng.bernoulli(options.occluder_probability)) {
      synthetic::paint_occluder(rng, painter, synthetic::face_box(head));
    }
    LabeledBox labeled;
    labeled.box_in_image = visible_box(head, options.size);
    labeled.class_name = wears_mask(head) ? kMaskClass : kNoMaskClass;
    picture.boxes.push_back(labeled);
  }
  synthetic::finish(rng, painter, {options.noise, options.light_range});
  picture.image = painter.picture();
  return picture;
}

Dataset write_synthetic(const SyntheticOptions& options, const std::filesystem::path& folder) {
  check(options);
  Dataset dataset;
  dataset.root = folder;
  dataset.class_names = {kMaskClass, kNoMaskClass};
  dataset.samples.resize(static_cast<std::size_t>(options.pictures));
  base::parallel_for(options.pictures, [&](std::int64_t index) {
    const SyntheticPicture picture = draw_synthetic(options, index);
    Sample& sample = dataset.samples[static_cast<std::size_t>(index)];
    sample.id = id_of(index);
    sample.image = sample.id + ".jpg";
    sample.width = options.size.width;
    sample.height = options.size.height;
    sample.boxes = picture.boxes;
    image::write_image(folder / sample.image, picture.image, kJpegQuality);
  });
  assign_splits(dataset.samples, {options.val_percent, options.seed});
  write_dataset(dataset, {}, fmt::format("synthetic, seed {}", options.seed));
  return dataset;
}

}  // namespace maskfit::dataset
