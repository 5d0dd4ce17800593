#include "audit/similar.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>

#include "audit/crops.h"
#include "audit/disjoint_sets.h"
#include "audit/hash_index.h"
#include "audit/sequences.h"
#include "base/error.h"
#include "base/parallel.h"

namespace maskfit::audit {
namespace {

constexpr int kDetailSide = 128;
// Candidates of one picture that are looked at, the nearest first: bounds the work on heaps of pictures that
// are all alike.
constexpr std::size_t kMaxCandidates = 32;

// Correlation of whole pictures at the detail's scale.
double detail_correlation(const GreyPicture& a, const GreyPicture& b) {
  double sum_a = 0, sum_b = 0, aa = 0, bb = 0, ab = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    const double va = a.values[i], vb = b.values[i];
    sum_a += va;
    sum_b += vb;
    aa += va * va;
    bb += vb * vb;
    ab += va * vb;
  }
  const auto n = static_cast<double>(a.values.size());
  const double deviations = std::sqrt((aa - sum_a * sum_a / n) * (bb - sum_b * sum_b / n));
  return deviations > 0 ? (ab - sum_a * sum_b / n) / deviations : 0;
}

struct Candidate {
  std::uint32_t other = 0;
  bool mirror = false;
  double correlation = 0;  // of the prints
  // Which part of picture i looks like the other one; the whole unless it is a candidate for a crop.
  boxes::Box part{0, 0, 1, 1};

  bool whole() const { return part == boxes::Box{0, 0, 1, 1}; }
};

class Search {
 public:
  Search(const std::vector<PictureFacts>& facts, const ReadPicture& read, const SimilarOptions& options)
      : facts_(facts), read_(read), options_(options), sets_(facts.size()) {}

  void same_files() {
    std::unordered_map<std::string, std::uint32_t> first;
    for (std::uint32_t i = 0; i < facts_.size(); ++i) {
      if (!facts_[i].usable()) continue;
      const auto [at, fresh] = first.emplace(facts_[i].digest, i);
      if (fresh) {
        if (dataset::contrast(facts_[i].print) >= options_.least_contrast) distinct_.push_back(i);
      } else {
        pairs_.push_back({at->second, i, Likeness::kSameFile, 1});
        sets_.join(at->second, i);
      }
    }
  }

  // Among files that differ; each picture against those before it.
  void near_pictures() {
    std::vector<std::uint64_t> hashes;
    hashes.reserve(distinct_.size());
    for (const std::uint32_t i : distinct_) hashes.push_back(facts_[i].hash);
    const HashIndex index(std::move(hashes));
    std::mutex mutex;
    base::parallel_for(
        static_cast<std::int64_t>(distinct_.size()),
        [&](std::int64_t place) {
          options_.stop.throw_if_requested();
          const std::uint32_t i = distinct_[place];
          const std::vector<Candidate> candidates = candidates_of(index, static_cast<std::uint32_t>(place));
          const std::vector<SimilarPair> confirmed = confirm(i, candidates);
          const std::lock_guard lock(mutex);
          pairs_.insert(pairs_.end(), confirmed.begin(), confirmed.end());
        },
        options_.threads);
  }

  Similarity finish(const std::vector<std::string>& ids) {
    Similarity result;
    drop_twins();
    for (const SimilarPair& pair : pairs_) sets_.join(pair.a, pair.b);
    result.sequences = find_sequences(ids, facts_, options_);
    for (const Sequence& sequence : result.sequences) {
      for (const std::uint32_t frame : sequence.frames) sets_.join(sequence.frames.front(), frame);
    }
    for (std::uint32_t i = 0; i < facts_.size(); ++i) result.group.push_back(sets_.find(i));
    result.pairs = std::move(pairs_);
    return result;
  }

 private:
  // A part is met from both pictures; of the two finds the plainer and better one stays.
  void drop_twins() {
    std::sort(pairs_.begin(), pairs_.end(), [](const SimilarPair& x, const SimilarPair& y) {
      return std::tuple(x.a, x.b, x.likeness, -x.correlation) <
             std::tuple(y.a, y.b, y.likeness, -y.correlation);
    });
    const auto twins =
        std::unique(pairs_.begin(), pairs_.end(),
                    [](const SimilarPair& x, const SimilarPair& y) { return x.a == y.a && x.b == y.b; });
    pairs_.erase(twins, pairs_.end());
  }

  // What looks like a part of picture `place`, or like the whole of it, by their prints alone. For the whole
  // only what stands before it in the list, as each pair is met twice; a part may be that of any picture.
  std::vector<Candidate> candidates_of(const HashIndex& index, std::uint32_t place) const {
    const PictureFacts& facts = facts_[distinct_[place]];
    std::vector<Candidate> found;
    look_for(index, facts.print, facts.hash, {0, 0, 1, 1}, place, &found);
    if (distinct_.size() <= options_.max_pictures_for_crops) {
      const std::vector<std::uint64_t> hashes = hashes_of_parts(facts.print);
      for (std::size_t k = 0; k < hashes.size(); ++k) {
        look_for(index, facts.print, hashes[k], tried_parts()[k],
                 static_cast<std::uint32_t>(distinct_.size()), &found);
      }
    }
    std::erase_if(found, [&](const Candidate& candidate) { return candidate.other == distinct_[place]; });
    // Whole pictures first, then the best part of each.
    std::sort(found.begin(), found.end(), [](const Candidate& a, const Candidate& b) {
      return std::tuple(!a.whole(), -a.correlation, a.other) <
             std::tuple(!b.whole(), -b.correlation, b.other);
    });
    std::set<std::pair<std::uint32_t, bool>> seen;
    std::erase_if(found, [&](const Candidate& c) { return !seen.emplace(c.other, c.whole()).second; });
    if (found.size() > kMaxCandidates) found.resize(kMaxCandidates);
    return found;
  }

  // Pictures before place `below` whose hash is near that of a part of `whole`, and which look like it. What
  // the part looks like is worked out only when there is one.
  void look_for(const HashIndex& index, const Print& whole, std::uint64_t hash, const boxes::Box& part,
                std::uint32_t below, std::vector<Candidate>* found) const {
    const bool is_whole = part == boxes::Box{0, 0, 1, 1};
    const double least = is_whole ? std::min(options_.print_correlation, options_.crop_print_correlation)
                                  : options_.crop_print_correlation;
    std::optional<Print> print, turned;
    for (const bool mirror : {false, true}) {
      index.near(mirror ? dataset::mirrored(hash) : hash, options_.hash_radius, below,
                 [&](std::uint32_t other, int) {
                   if (!print) {
                     print = is_whole ? whole : print_of_part(whole, part);
                     turned = dataset::mirrored(*print);
                   }
                   if (dataset::contrast(*print) < options_.least_contrast) return;
                   const double likeness =
                       dataset::correlation(mirror ? *turned : *print, facts_[distinct_[other]].print);
                   if (likeness >= least) found->push_back({distinct_[other], mirror, likeness, part});
                 });
    }
  }

  GreyPicture detail(std::uint32_t i) const { return grey_picture(read_(i, kDetailSide), kDetailSide); }

  std::vector<SimilarPair> confirm(std::uint32_t i, const std::vector<Candidate>& candidates) const {
    std::vector<SimilarPair> confirmed;
    std::optional<GreyPicture> mine;
    for (const Candidate& candidate : candidates) {
      const bool known = std::any_of(confirmed.begin(), confirmed.end(), [&](const SimilarPair& pair) {
        return pair.a == candidate.other || pair.b == candidate.other;
      });
      // Once the pixels were found in an earlier picture, all others with these pixels hang on that one.
      const bool same_again = !confirmed.empty() && confirmed.front().likeness == Likeness::kSamePixels &&
                              facts_[i].print == facts_[candidate.other].print;
      if (known || same_again) continue;
      try {
        if (!mine) mine = detail(i);
        const auto pair = compare(i, *mine, candidate);
        if (pair) confirmed.push_back(*pair);
      } catch (const base::Error& error) {
        if (error.code() == base::ExitCode::kInterrupted) throw;
      }
    }
    return confirmed;
  }

  // As wholes where that explains the likeness, else as a part of one another.
  std::optional<SimilarPair> compare(std::uint32_t i, const GreyPicture& mine,
                                     const Candidate& candidate) const {
    const std::uint32_t other = candidate.other;
    const GreyPicture theirs = candidate.mirror ? mirrored(detail(other)) : detail(other);
    SimilarPair pair;
    pair.a = std::min(i, other);
    pair.b = std::max(i, other);
    pair.mirrored = candidate.mirror;
    if (candidate.whole()) {
      pair.correlation = detail_correlation(mine, theirs);
      pair.likeness = candidate.mirror ? Likeness::kMirrored : Likeness::kNear;
      if (candidate.correlation >= options_.print_correlation &&
          pair.correlation >= options_.detail_correlation) {
        if (!candidate.mirror && same_pixels(i, other)) pair.likeness = Likeness::kSamePixels;
        return pair;
      }
    }
    pair.likeness = Likeness::kCropped;
    boxes::Box of_mine = candidate.part, of_theirs{0, 0, 1, 1};
    pair.correlation = place_part(mine, theirs, &of_mine);
    pair.part_of_whole = of_mine;
    pair.whole = i;
    if (candidate.whole()) {
      const double other_way = place_part(theirs, mine, &of_theirs);
      if (other_way > pair.correlation) {
        pair.correlation = other_way;
        pair.whole = other;
        // In the other picture's own coordinates, not those of its mirror image.
        pair.part_of_whole = candidate.mirror
                                 ? boxes::Box{1 - of_theirs.x2, of_theirs.y1, 1 - of_theirs.x1, of_theirs.y2}
                                 : of_theirs;
      }
    }
    if (pair.correlation < options_.crop_correlation) return std::nullopt;
    return pair;
  }

  bool same_pixels(std::uint32_t a, std::uint32_t b) const {
    if (facts_[a].upright != facts_[b].upright) return false;
    if (facts_[a].print != facts_[b].print) return false;
    return read_(a, 0).pixels == read_(b, 0).pixels;
  }

  const std::vector<PictureFacts>& facts_;
  const ReadPicture& read_;
  const SimilarOptions& options_;
  std::vector<std::uint32_t> distinct_;  // the first of each file, ascending
  std::vector<SimilarPair> pairs_;
  DisjointSets sets_;
};

}  // namespace

Similarity find_similar(const std::vector<std::string>& ids, const std::vector<PictureFacts>& facts,
                        const ReadPicture& read, const SimilarOptions& options) {
  MASKFIT_CHECK(ids.size() == facts.size(), "{} ids, {} facts", ids.size(), facts.size());
  Search search(facts, read, options);
  search.same_files();
  search.near_pictures();
  return search.finish(ids);
}

}  // namespace maskfit::audit
