#include "dataset/number_pairs.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.h"

namespace maskfit::dataset {
namespace {

// Six decimals of a side of 10,000 pixels leave 0.01 of a half pixel; a number drawn on another size is
// within this of a whole one in four cases of a hundred.
constexpr double kWhole = 0.02;
constexpr std::size_t kLeastSizes = 3;  // fewer could fit by chance

bool is_whole(double part, int side) {
  const double half_pixels = 2 * part * side;
  return std::abs(half_pixels - std::round(half_pixels)) <= kWhole;
}

bool all_fit(const std::vector<NumberPair>& pairs, std::size_t shift) {
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (!drawn_on(pairs[i].boxes, pairs[(i + shift) % pairs.size()].size)) return false;
  }
  return true;
}

}  // namespace

bool drawn_on(const std::vector<formats::YoloBox>& boxes, image::Size size) {
  const auto fits = [&](int width, int height) {
    return std::all_of(boxes.begin(), boxes.end(), [&](const formats::YoloBox& box) {
      return is_whole(box.center_x, width) && is_whole(box.width, width) && is_whole(box.center_y, height) &&
             is_whole(box.height, height);
    });
  };
  // Drawn on the upright picture or on the stored one.
  return fits(size.width, size.height) || fits(size.height, size.width);
}

NumberVerdict judge_numbers(const std::vector<NumberPair>& pairs) {
  NumberVerdict verdict;
  std::set<std::pair<int, int>> sizes;
  for (const NumberPair& pair : pairs) sizes.emplace(pair.size.width, pair.size.height);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (drawn_on(pairs[i].boxes, pairs[i].size)) continue;
    const bool elsewhere = std::any_of(sizes.begin(), sizes.end(), [&](const auto& size) {
      return drawn_on(pairs[i].boxes, {size.first, size.second});
    });
    if (elsewhere) verdict.contradicted.push_back(i);
  }
  if (verdict.contradicted.empty() || sizes.size() < kLeastSizes) return verdict;
  std::vector<std::size_t> shifts;
  for (std::size_t shift = 1; shift < pairs.size() && shifts.size() < 2; ++shift) {
    if (all_fit(pairs, shift)) shifts.push_back(shift);
  }
  if (shifts.size() == 1) verdict = {shifts.front(), {}};
  return verdict;
}

long long last_number(const std::string& name) {
  const std::size_t end = name.find_last_of("0123456789");
  if (end == std::string::npos) return -1;
  const std::size_t before = name.find_last_not_of("0123456789", end);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  long long number = -1;
  return base::parse_int(name.substr(begin, end + 1 - begin), &number) ? number : -1;
}

}  // namespace maskfit::dataset
