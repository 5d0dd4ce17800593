#include "dataset/export_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"

namespace maskfit::dataset {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

TEST(ExportNames, UniqueLastPartsStayWhatTheyAre) {
  EXPECT_THAT(export_names({"images/0001", "images/b c%d", "\xC3\xA9"}),
              ElementsAre("0001", "b c%d", "\xC3\xA9"));
}

TEST(ExportNames, RecurringLastPartsTakeTheirFolders) {
  EXPECT_THAT(export_names({"2002/08/img_1", "2003/01/img_1", "img_2"}),
              ElementsAre("2002_08_img_1", "2003_01_img_1", "img_2"));
}

TEST(ExportNames, TwinsInUpperAndLowerCaseArePartedByAHash) {
  const auto names = export_names({"A", "a"});
  EXPECT_THAT(names, ElementsAre(StartsWith("A_"), StartsWith("a_")));
  EXPECT_NE(base::to_lower(names[0]), base::to_lower(names[1]));
}

TEST(ExportNames, IdsThatFlattenAlikeArePartedByAHash) {
  const auto names = export_names({"a/b", "a_b", "c/b"});
  EXPECT_THAT(names, ElementsAre(StartsWith("a_b_"), StartsWith("a_b_"), "c_b"));
  EXPECT_NE(names[0], names[1]);
}

TEST(ExportNames, LongNamesAreCutAtAWholeCharacter) {
  std::string one, two;
  for (int i = 0; i < 125; ++i) one += "\xC3\xA9";  // 250 bytes
  two = one + "x";
  const auto names = export_names({one, two});
  EXPECT_NE(names[0], names[1]);
  for (const std::string& name : names) {
    EXPECT_LE(name.size(), 200u);
    const std::size_t cut = name.rfind('_');
    EXPECT_EQ(cut % 2, 0u);
    EXPECT_EQ(name.substr(0, cut), one.substr(0, cut));
  }
}

TEST(ExportNames, NameDoesNotDependOnTheOrder) {
  const auto names = export_names({"x/a", "y/a", "A/a", "b"});
  const auto turned = export_names({"b", "A/a", "y/a", "x/a"});
  EXPECT_EQ(names, (std::vector<std::string>{turned.rbegin(), turned.rend()}));
}

TEST(ExportNames, IdThatEndsInASlashHasAName) {
  EXPECT_THAT(export_names({"a/"}), ElementsAre("a_"));
}

}  // namespace
}  // namespace maskfit::dataset
