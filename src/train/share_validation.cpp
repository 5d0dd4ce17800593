#include "train/share_validation.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>

#include "base/error.h"

namespace maskfit::train {
namespace {

// Plain values one after the other; ranks are processes of one program on machines of one kind.
class Writer {
 public:
  template <typename T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  template <typename T>
  void put_all(const std::vector<T>& values) {
    put(static_cast<std::uint64_t>(values.size()));
    for (const T& value : values) put(value);
  }
  std::string bytes;
};

class Reader {
 public:
  explicit Reader(const std::string& bytes) : left_(bytes) {}
  template <typename T>
  T get() {
    T value{};
    MASKFIT_CHECK(left_.size() >= sizeof(T), "{} bytes are left of a rank's share", left_.size());
    std::memcpy(&value, left_.data(), sizeof(T));
    left_.remove_prefix(sizeof(T));
    return value;
  }
  template <typename T>
  std::vector<T> get_all() {
    std::vector<T> values(get<std::uint64_t>());
    for (T& value : values) value = get<T>();
    return values;
  }

 private:
  std::string_view left_;
};

std::string packed(const DetectedShare& share, const DetectedSet& result) {
  Writer out;
  out.put_all(share.batch_costs);
  out.put(share.non_finite_picture);
  out.put_all(result.signals);
  out.put_all(share.pictures);
  for (const std::int64_t picture : share.pictures) {
    out.put_all(result.pictures[static_cast<std::size_t>(picture)].detections);
  }
  return std::move(out.bytes);
}

}  // namespace

bool is_mine(const ranks::Group* group, std::int64_t batch) {
  return group == nullptr || batch % group->size() == group->rank();
}

void gather_shares(ranks::Group& group, const loader::PictureSet& pictures, DetectedShare share,
                   DetectedSet& result) {
  const std::vector<std::string> shares = group.gather(packed(share, result));
  if (!group.is_first()) return;
  std::vector<std::vector<double>> costs;
  std::int64_t non_finite = -1, seen = 0;
  for (const std::string& bytes : shares) {
    Reader in(bytes);
    costs.push_back(in.get_all<double>());
    const auto sick = in.get<std::int64_t>();
    if (sick >= 0 && (non_finite < 0 || sick < non_finite)) non_finite = sick;
    const auto signals = in.get_all<evaluate::ClassSignal>();
    MASKFIT_CHECK(signals.size() == result.signals.size(), "{} classes", signals.size());
    for (std::size_t c = 0; c < signals.size(); ++c) {
      auto& highest = result.signals[c].highest_coverage;
      highest = std::max(highest, signals[c].highest_coverage);
    }
    for (const std::int64_t picture : in.get_all<std::int64_t>()) {
      evaluate::PictureResult& here = result.pictures.at(static_cast<std::size_t>(picture));
      here.id = pictures.id(picture);
      here.truths = pictures.truths_in_network(picture);
      here.detections = in.get_all<boxes::Detection>();
      ++seen;
    }
  }
  MASKFIT_CHECK(seen == pictures.size(), "{} of {} pictures were looked at", seen, pictures.size());
  result.non_finite_picture = non_finite < 0 ? "" : pictures.id(non_finite);
  result.cost = 0;
  for (std::size_t batch = 0; batch / costs.size() < costs[batch % costs.size()].size(); ++batch) {
    result.cost += costs[batch % costs.size()][batch / costs.size()];
  }
}

}  // namespace maskfit::train
