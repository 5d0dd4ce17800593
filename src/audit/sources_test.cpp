#include "audit/sources.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace maskfit::audit {
namespace {

std::vector<dataset::Sample> samples(const std::vector<std::pair<std::string, int>>& names) {
  std::vector<dataset::Sample> all;
  for (const auto& [name, n] : names) {
    for (int i = 0; i < n; ++i) {
      all.emplace_back();
      all.back().id = name + std::to_string(i);
    }
  }
  return all;
}

using Names = std::vector<std::string>;

TEST(Sources, FoldersThatEveryDatasetHasTellNothing) {
  EXPECT_EQ(
      find_sources(samples({{"mafa/train/images/", 3}, {"wider/val/images/", 3}}), SourceRule::kAuto).names,
      (Names{"mafa", "wider"}));
  EXPECT_EQ(find_sources(samples({{"train/images/", 3}, {"val/images/", 3}}), SourceRule::kAuto).names,
            Names{"all"});
}

TEST(Sources, PrefixesTellWhereTheyAreFewAndCoverNearlyAll) {
  const Sources found = find_sources(
      samples({{"train/images/mafa_", 50}, {"train/images/wider_", 40}, {"x/", 0}, {"odd-one-", 3}}),
      SourceRule::kAuto);
  EXPECT_EQ(found.names, (Names{"mafa", "other", "wider"}));
  EXPECT_EQ(found.names[found.of_sample[60]], "wider");
  std::vector<std::pair<std::string, int>> many;
  for (int i = 0; i < 40; ++i)
    many.emplace_back(std::string(1, static_cast<char>('a' + i % 26)) + "q" + std::to_string(i) + "_", 12);
  EXPECT_EQ(find_sources(samples(many), SourceRule::kAuto).names, Names{"all"});
}

TEST(Sources, ARuleThatIsAskedForIsFollowed) {
  const auto all = samples({{"a/m_", 12}, {"b/m_", 12}});
  EXPECT_EQ(find_sources(all, SourceRule::kPrefix).names, Names{"m"});
  EXPECT_EQ(find_sources(all, SourceRule::kNone).names, Names{"all"});
  EXPECT_EQ(find_sources(all, SourceRule::kFolder).names, (Names{"a", "b"}));
}

TEST(Sources, UnknownRuleIsAUsageError) {
  EXPECT_THROW(source_rule_from_name("colour"), base::Error);
}

TEST(Sources, NoSamplesHaveNoSource) {
  EXPECT_TRUE(find_sources({}, SourceRule::kAuto).names.empty());
}

}  // namespace
}  // namespace maskfit::audit
