#include "audit/kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/files.h"
#include "tests/support/temp_dir.h"

namespace maskfit::audit {
namespace {

TEST(Kinds, EveryKindHasOneEntryWithEverythingSaid) {
  std::set<Kind> kinds;
  std::set<std::string> names;
  for (const KindInfo& entry : all_kinds()) {
    EXPECT_TRUE(kinds.insert(entry.kind).second) << entry.name;
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    for (const std::string text : {entry.title, entry.consequence, entry.remedy})
      EXPECT_GT(text.size(), 10u) << entry.name;
    EXPECT_EQ(&info(entry.kind), &entry);
  }
  EXPECT_EQ(kinds.size(), static_cast<std::size_t>(Kind::kClassDoubtful) + 1);
}

TEST(Kinds, ErrorsComeFirstAndNotesLast) {
  Level last = Level::kError;
  for (const KindInfo& entry : all_kinds()) {
    EXPECT_GE(static_cast<int>(entry.level), static_cast<int>(last)) << entry.name;
    last = entry.level;
  }
}

TEST(Kinds, WhatIsFixableSaysSo) {
  for (const KindInfo& entry : all_kinds())
    EXPECT_EQ(std::string(entry.remedy).find("--fix") != std::string::npos, entry.fixable) << entry.name;
}

TEST(Kinds, TheDocumentListsThemAsTheyAre) {
  EXPECT_THAT(base::read_file(support::source_dir() / "docs/data-check.md"),
              testing::HasSubstr(kinds_as_markdown()));
}

}  // namespace
}  // namespace maskfit::audit
