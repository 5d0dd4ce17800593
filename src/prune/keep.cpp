#include "prune/keep.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "base/error.h"
#include "base/text.h"

namespace maskfit::prune {
namespace {

template <typename Value>
struct Named {
  Value value;
  const char* name;
};
constexpr Named<Normalizer> kNormalizers[] = {
    {Normalizer::kMax, "max"}, {Normalizer::kL2, "L2"}, {Normalizer::kOff, "off"}};
constexpr Named<Criterion> kCriteria[] = {{Criterion::kUnion, "union"},
                                          {Criterion::kIntersection, "intersection"},
                                          {Criterion::kArithmeticMean, "arithmetic_mean"},
                                          {Criterion::kGeometricMean, "geometric_mean"}};

template <typename Value, std::size_t n>
Value value_of(const Named<Value> (&table)[n], const std::string& name, const char* option) {
  std::vector<std::string> known;
  for (const Named<Value>& row : table) {
    if (base::to_lower(name) == base::to_lower(row.name)) return row.value;
    known.emplace_back(row.name);
  }
  throw base::Error(base::ExitCode::kUsage, fmt::format("there is no {} '{}'", option + 2, name), option,
                    fmt::format("use one of: {}", fmt::join(known, ", ")));
}

template <typename Value, std::size_t n>
const char* name_of(const Named<Value> (&table)[n], Value value) {
  for (const Named<Value>& row : table) {
    if (row.value == value) return row.name;
  }
  MASKFIT_CHECK(false, "value={}", static_cast<int>(value));
}

}  // namespace

Normalizer normalizer_from_name(const std::string& name) {
  return value_of(kNormalizers, name, "--normalizer");
}
Criterion criterion_from_name(const std::string& name) {
  return value_of(kCriteria, name, "--equalization-criterion");
}
const char* to_string(Normalizer normalizer) {
  return name_of(kNormalizers, normalizer);
}
const char* to_string(Criterion criterion) {
  return name_of(kCriteria, criterion);
}

std::vector<double> filter_norms(const network::Array& kernel) {
  MASKFIT_CHECK(!kernel.shape.empty() && kernel.shape[0] > 0, "{} dimensions", kernel.shape.size());
  const auto filters = static_cast<std::size_t>(kernel.shape[0]);
  const std::size_t each = kernel.values.size() / filters;
  std::vector<double> norms(filters);
  for (std::size_t f = 0; f < filters; ++f) {
    double sum = 0;
    for (std::size_t i = f * each; i < (f + 1) * each; ++i) {
      sum += static_cast<double>(kernel.values[i]) * static_cast<double>(kernel.values[i]);
    }
    norms[f] = std::sqrt(sum);
  }
  return norms;
}

std::vector<double> normalized(std::vector<double> norms, Normalizer normalizer) {
  double divisor = 1;
  if (normalizer == Normalizer::kMax) {
    divisor = *std::max_element(norms.begin(), norms.end());
  } else if (normalizer == Normalizer::kL2) {
    const double squares = std::inner_product(norms.begin(), norms.end(), norms.begin(), 0.0);
    divisor = std::sqrt(squares) / static_cast<double>(norms.size());
  }
  if (divisor == 0) return norms;
  for (double& norm : norms) norm /= divisor;
  return norms;
}

double combined(std::span<const double> statistics, Criterion criterion) {
  MASKFIT_CHECK(!statistics.empty(), "no statistics to combine");
  const auto count = static_cast<double>(statistics.size());
  switch (criterion) {
    case Criterion::kUnion:
      return *std::max_element(statistics.begin(), statistics.end());
    case Criterion::kIntersection:
      return *std::min_element(statistics.begin(), statistics.end());
    case Criterion::kArithmeticMean:
      return std::accumulate(statistics.begin(), statistics.end(), 0.0) / count;
    case Criterion::kGeometricMean:
      return std::pow(std::accumulate(statistics.begin(), statistics.end(), 1.0, std::multiplies<>()),
                      1 / count);
  }
  MASKFIT_CHECK(false, "criterion={}", static_cast<int>(criterion));
}

std::vector<int> keep_set(std::span<const double> statistic, const KeepRule& rule) {
  MASKFIT_CHECK(rule.granularity > 0 && rule.min_filters > 0, "granularity={} min_filters={}",
                rule.granularity, rule.min_filters);
  const auto filters = static_cast<int>(statistic.size());
  const auto above = static_cast<int>(
      std::count_if(statistic.begin(), statistic.end(), [&](double s) { return s > rule.threshold; }));
  int count = std::max(above, std::min(rule.min_filters, filters));
  count = (count + rule.granularity - 1) / rule.granularity * rule.granularity;
  count = std::min(count, filters);

  std::vector<int> order(statistic.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return statistic[static_cast<std::size_t>(a)] > statistic[static_cast<std::size_t>(b)];
  });
  order.resize(static_cast<std::size_t>(count));
  std::sort(order.begin(), order.end());
  return order;
}

}  // namespace maskfit::prune
