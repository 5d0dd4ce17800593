#include "audit/sequences.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace maskfit::audit {
namespace {

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

struct Frame {
  NumberedName name;
  std::uint32_t picture = 0;
};

bool follows(const PictureFacts& before, const PictureFacts& after, const SimilarOptions& options) {
  return before.upright == after.upright &&
         dataset::distance(before.hash, after.hash) <= options.frame_radius &&
         dataset::correlation(before.print, after.print) >= options.frame_correlation;
}

}  // namespace

NumberedName numbered_name(const std::string& id) {
  const std::size_t slash = id.rfind('/');
  const std::size_t name = slash == std::string::npos ? 0 : slash + 1;
  std::size_t end = id.size();
  while (end > name && !is_digit(id[end - 1])) --end;
  std::size_t begin = end;
  while (begin > name && is_digit(id[begin - 1])) --begin;
  long long number = 0;
  // Long runs of digits are identifiers, not counters.
  if (begin == end || end - begin > 9 || !base::parse_int(id.substr(begin, end - begin), &number)) return {};
  return {id.substr(0, begin) + "#" + id.substr(end), number};
}

std::vector<Sequence> find_sequences(const std::vector<std::string>& ids,
                                     const std::vector<PictureFacts>& facts, const SimilarOptions& options) {
  std::vector<Frame> frames;
  for (std::uint32_t i = 0; i < ids.size(); ++i) {
    if (!facts[i].usable() || dataset::contrast(facts[i].print) < options.least_contrast) continue;
    NumberedName name = numbered_name(ids[i]);
    if (name.number >= 0) frames.push_back({std::move(name), i});
  }
  std::sort(frames.begin(), frames.end(), [](const Frame& a, const Frame& b) {
    return std::tie(a.name.series, a.name.number, a.picture) <
           std::tie(b.name.series, b.name.number, b.picture);
  });
  std::vector<Sequence> sequences;
  Sequence run;
  const auto close = [&] {
    if (run.frames.size() >= options.least_frames) sequences.push_back(run);
    run.frames.clear();
  };
  for (std::size_t k = 0; k < frames.size(); ++k) {
    const bool goes_on = k > 0 && frames[k].name.series == frames[k - 1].name.series &&
                         follows(facts[frames[k - 1].picture], facts[frames[k].picture], options);
    if (!goes_on) close();
    run.frames.push_back(frames[k].picture);
  }
  close();
  return sequences;
}

}  // namespace maskfit::audit
