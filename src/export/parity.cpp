#include "export/parity.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "base/error.h"
#include "base/parallel.h"

namespace maskfit::exporting {
namespace {

constexpr std::int64_t kBatch = 8, kLayerPictures = 2;
constexpr float kLowThreshold =
    0.05f;  // for average precision: below it are only false alarms by the thousand
constexpr float kPartnerIou = 0.5f;

NvinferConfig with_low_threshold(NvinferConfig rules) {
  for (postprocess::NvinferClass& c : rules.class_attributes) {
    c.pre_cluster_threshold = std::min(c.pre_cluster_threshold, kLowThreshold);
    c.dbscan_min_score = std::min(c.dbscan_min_score, kLowThreshold);
  }
  return rules;
}

// Cut to the part that the picture covers, as evaluation in training does.
boxes::Detections detections_of(const Grids& grids, const NvinferConfig& rules, image::Size content) {
  boxes::Detections found =
      postprocess::detections_by_nvinfer(grids.view(), rules.mode, rules.class_attributes);
  for (boxes::Detection& d : found) {
    d.box = boxes::clip(d.box, static_cast<float>(content.width), static_cast<float>(content.height));
  }
  return found;
}

double largest_move(const boxes::Box& a, const boxes::Box& b) {
  const float moves[] = {a.x1 - b.x1, a.y1 - b.y1, a.x2 - b.x2, a.y2 - b.y2};
  double largest = 0;
  for (const float move : moves) largest = std::max(largest, std::fabs(static_cast<double>(move)));
  return largest;
}

// The nearest of the same class that is not taken and overlaps, or (boxes without an area overlap nothing)
// lies where this one does; -1 for none.
int partner_of(const boxes::Detection& d, const boxes::Detections& others, const std::vector<bool>& taken,
               double same_place_px) {
  int best = -1;
  double nearest = INFINITY;
  for (std::size_t i = 0; i < others.size(); ++i) {
    if (taken[i] || others[i].class_index != d.class_index) continue;
    const double move = largest_move(d.box, others[i].box);
    if (boxes::iou(d.box, others[i].box) < kPartnerIou && move > same_place_px) continue;
    if (move >= nearest) continue;
    nearest = move;
    best = static_cast<int>(i);
  }
  return best;
}

double f1_of(const evaluate::PrPoint& point) {
  const double sum = point.precision + point.recall;
  return sum > 0 ? 2 * point.precision * point.recall / sum : 0;
}

// The point of the best F1 of a class's curve; null without one above 0.
const evaluate::PrPoint* best_point(const evaluate::ClassResult& result) {
  const evaluate::PrPoint* best = nullptr;
  for (const evaluate::PrPoint& point : result.curve) {
    if (f1_of(point) > (best != nullptr ? f1_of(*best) : 0)) best = &point;
  }
  return best;
}

class Comparison {
 public:
  Comparison(const NvinferConfig& rules, const Tolerances& tolerances)
      : rules_(rules), tolerances_(tolerances) {}

  void add(const boxes::Detections& reference, const boxes::Detections& other) {
    std::vector<bool> taken(other.size(), false);
    for (const boxes::Detection& d : reference) {
      ++result_.boxes;
      const int partner = partner_of(d, other, taken, tolerances_.box_px);
      if (partner < 0) {
        count(d, &result_.lost);
        continue;
      }
      const boxes::Detection& match = other[static_cast<std::size_t>(partner)];
      taken[static_cast<std::size_t>(partner)] = true;
      result_.box_px = std::max(result_.box_px, largest_move(d.box, match.box));
      result_.confidence =
          std::max(result_.confidence, std::fabs(static_cast<double>(d.confidence) - match.confidence));
    }
    for (std::size_t i = 0; i < other.size(); ++i) {
      if (!taken[i]) count(other[i], &result_.added);
    }
  }
  const Difference& result() const { return result_; }

 private:
  void count(const boxes::Detection& d, std::int64_t* where) {
    const float threshold =
        rules_.class_attributes[static_cast<std::size_t>(d.class_index)].pre_cluster_threshold;
    ++(d.confidence - threshold <= tolerances_.confidence ? result_.at_threshold : *where);
  }

  const NvinferConfig& rules_;
  const Tolerances& tolerances_;
  Difference result_;
};

std::map<std::string, std::vector<float>> outputs_of(const Executor& executor,
                                                     const std::vector<float>& pixels) {
  std::map<std::string, std::vector<float>> outputs;
  executor.run(pixels, 0, [&](const network::Node& node, std::span<const float> values) {
    outputs[node.name].assign(values.begin(), values.end());
  });
  return outputs;
}

}  // namespace

std::vector<float> network_pixels(const image::Image& canvas) {
  constexpr float kPerLevel = 1.0f / 255.0f;
  const std::size_t plane = static_cast<std::size_t>(canvas.width) * canvas.height;
  std::vector<float> pixels(plane * static_cast<std::size_t>(canvas.channels));
  for (std::size_t i = 0; i < plane; ++i) {
    for (std::size_t c = 0; c < static_cast<std::size_t>(canvas.channels); ++c) {
      pixels[c * plane + i] =
          static_cast<float>(canvas.pixels[i * static_cast<std::size_t>(canvas.channels) + c]) * kPerLevel;
    }
  }
  return pixels;
}

Variant run_variant(const std::string& name, const Forward& forward, const PictureSource& pictures,
                    const NvinferConfig& rules, const std::vector<std::string>& class_names,
                    const std::function<void(std::vector<float>&)>& change) {
  Variant variant;
  variant.name = name;
  const NvinferConfig low = with_low_threshold(rules);
  std::vector<evaluate::PictureResult> all;
  for (std::int64_t first = 0; first < pictures.count; first += kBatch) {
    const auto count = static_cast<std::size_t>(std::min(kBatch, pictures.count - first));
    std::vector<Picture> batch(count);
    std::vector<std::vector<float>> pixels(count);
    base::parallel_for(static_cast<std::int64_t>(count), [&](std::int64_t i) {
      const auto k = static_cast<std::size_t>(i);
      batch[k] = pictures.at(first + i);
      pixels[k] = network_pixels(batch[k].canvas);
      if (change) change(pixels[k]);
    });
    const std::vector<Grids> grids = forward({pixels.begin(), pixels.end()});
    for (std::size_t i = 0; i < count; ++i) {
      variant.found.push_back(
          {batch[i].id, detections_of(grids[i], rules, batch[i].content), batch[i].truths_in_network});
      all.push_back(
          {batch[i].id, detections_of(grids[i], low, batch[i].content), batch[i].truths_in_network});
    }
  }
  variant.evaluation = evaluate::evaluate(all, class_names, {}, {});
  return variant;
}

Difference difference(const Variant& reference, const Variant& other, const NvinferConfig& rules,
                      const Tolerances& tolerances) {
  MASKFIT_CHECK(reference.found.size() == other.found.size(), "{} and {} pictures", reference.found.size(),
                other.found.size());
  Comparison comparison(rules, tolerances);
  for (std::size_t i = 0; i < reference.found.size(); ++i) {
    comparison.add(reference.found[i].detections, other.found[i].detections);
  }
  return comparison.result();
}

std::vector<float> best_thresholds(const evaluate::Evaluation& evaluation, float otherwise) {
  std::vector<float> thresholds;
  for (const evaluate::ClassResult& result : evaluation.classes) {
    const evaluate::PrPoint* best = best_point(result);
    thresholds.push_back(best != nullptr ? best->confidence : otherwise);
  }
  return thresholds;
}

double best_f1(const evaluate::Evaluation& evaluation) {
  double sum = 0;
  int classes = 0;
  for (const evaluate::ClassResult& result : evaluation.classes) {
    if (result.truths == 0) continue;
    const evaluate::PrPoint* best = best_point(result);
    sum += best != nullptr ? f1_of(*best) : 0;
    ++classes;
  }
  return classes > 0 ? sum / classes : 0;
}

Forward remembered(const Forward& forward, std::int64_t pictures) {
  struct Memory {
    std::vector<Grids> grids;
    std::size_t next = 0;
  };
  const auto memory = std::make_shared<Memory>();
  return [forward, memory, pictures](const std::vector<std::span<const float>>& batch) {
    if (memory->grids.size() < static_cast<std::size_t>(pictures)) {
      std::vector<Grids> fresh = forward(batch);
      memory->grids.insert(memory->grids.end(), fresh.begin(), fresh.end());
      return fresh;
    }
    memory->next %= memory->grids.size();
    const auto first = memory->grids.begin() + static_cast<std::ptrdiff_t>(memory->next);
    memory->next += batch.size();
    return std::vector<Grids>(first, first + static_cast<std::ptrdiff_t>(batch.size()));
  };
}

std::vector<LayerDifference> layer_differences(const Executor& reference, const Executor& other,
                                               const PictureSource& pictures) {
  std::vector<LayerDifference> differences;
  for (std::int64_t p = 0; p < std::min(pictures.count, kLayerPictures); ++p) {
    const std::vector<float> pixels = network_pixels(pictures.at(p).canvas);
    const auto theirs = outputs_of(other, pixels);
    std::size_t place = 0;
    reference.run(pixels, 0, [&](const network::Node& node, std::span<const float> values) {
      const auto found = theirs.find(node.name);
      if (found == theirs.end() || found->second.size() != values.size()) return;
      double largest = 1e-12, worst = 0;
      for (std::size_t i = 0; i < values.size(); ++i) {
        largest = std::max(largest, std::fabs(static_cast<double>(values[i])));
        worst = std::max(worst, std::fabs(static_cast<double>(values[i]) - found->second[i]));
      }
      if (p == 0) differences.push_back({node.name, 0});
      if (place < differences.size())
        differences[place].share = std::max(differences[place].share, worst / largest);
      ++place;
    });
  }
  return differences;
}

LayerDifference first_difference(const Executor& reference, const Executor& other,
                                 const PictureSource& pictures, double share) {
  for (const LayerDifference& layer : layer_differences(reference, other, pictures)) {
    if (layer.share > share) return layer;
  }
  return {};
}

}  // namespace maskfit::exporting
