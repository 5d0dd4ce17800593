// Every group of the vector files is handled by a test, or is listed as pending with what it waits for.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <regex>
#include <set>

#include "base/files.h"
#include "base/text.h"
#include "tests/support/temp_dir.h"
#include "tests/support/vectors.h"

namespace maskfit {
namespace {
namespace fs = std::filesystem;

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Names in vector_group("...") of the *_vectors_test.cpp files below a folder.
std::set<std::string> handled_groups(const fs::path& folder) {
  static const std::regex call(R"rx(vector_group\("([^"]+)"\))rx");
  std::set<std::string> groups;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.path().filename().string().ends_with("_vectors_test.cpp")) continue;
    const std::string text = base::read_file(entry.path());
    for (auto it = std::sregex_iterator(text.begin(), text.end(), call); it != std::sregex_iterator(); ++it) {
      groups.insert((*it)[1]);
    }
  }
  return groups;
}

// Lines "group: what it waits for"; '#' begins a comment.
std::map<std::string, std::string> pending_groups(const std::string& text) {
  std::map<std::string, std::string> pending;
  for (const std::string& line : base::split(text, '\n')) {
    const std::string content = base::trim(line.substr(0, line.find('#')));
    if (content.empty()) continue;
    const std::size_t colon = content.find(':');
    pending[base::trim(content.substr(0, colon))] =
        colon == std::string::npos ? "" : base::trim(content.substr(colon + 1));
  }
  return pending;
}

// What is wrong between the groups of the files, those handled and those pending; `never_pending` may not
// wait.
std::vector<std::string> complaints(const std::set<std::string>& in_files,
                                    const std::set<std::string>& never_pending,
                                    const std::set<std::string>& handled,
                                    const std::map<std::string, std::string>& pending) {
  std::vector<std::string> list;
  for (const std::string& group : in_files) {
    if (!handled.contains(group) && !pending.contains(group)) {
      list.push_back(fmt::format("no test handles the group '{}'", group));
    }
  }
  for (const auto& [group, reason] : pending) {
    if (!in_files.contains(group))
      list.push_back(fmt::format("pending group '{}' is in no vector file", group));
    if (handled.contains(group))
      list.push_back(fmt::format("pending group '{}' is handled; delete its line", group));
    if (never_pending.contains(group)) list.push_back(fmt::format("group '{}' may not be pending", group));
    if (reason.empty())
      list.push_back(fmt::format("pending group '{}' does not say what it waits for", group));
  }
  return list;
}

TEST(VectorGroups, EveryGroupIsHandledOrPending) {
  MASKFIT_REQUIRE_VECTORS();
  const auto names = support::vector_group_names();
  const auto detectnet = support::vector_group_names("vectors_detectnet.json");
  const fs::path root = support::source_dir();
  EXPECT_THAT(complaints({names.begin(), names.end()}, {detectnet.begin(), detectnet.end()},
                         handled_groups(root / "src"),
                         pending_groups(base::read_file(root / "tests/golden/pending_groups.txt"))),
              IsEmpty());
}

TEST(VectorGroups, UnhandledGroupIsNamed) {
  EXPECT_THAT(complaints({"nms", "fddb"}, {}, {"nms"}, {}), ElementsAre("no test handles the group 'fddb'"));
}

TEST(VectorGroups, PendingGroupMustExistBeOpenAndGiveAReason) {
  EXPECT_THAT(complaints({"fddb", "nms"}, {"nms"}, {"fddb"}, {{"fddb", "x"}, {"gone", "x"}, {"nms", ""}}),
              ElementsAre(HasSubstr("'fddb' is handled"), HasSubstr("'gone' is in no vector file"),
                          HasSubstr("'nms' may not be pending"), HasSubstr("'nms' does not say")));
}

TEST(VectorGroups, CallsAreFoundInVectorTestsOnly) {
  support::TempDir folder;
  base::write_file(folder / "a/x_vectors_test.cpp",
                   R"(for (auto& v : support::vector_group("nms")) vector_group(name);)");
  base::write_file(folder / "a/y_test.cpp", R"(vector_group("fddb"))");
  EXPECT_THAT(handled_groups(folder.path()), ElementsAre("nms"));
}

TEST(VectorGroups, PendingListAllowsCommentsAndBlankLines) {
  EXPECT_THAT(pending_groups("# head\n\nfddb: the importer  # soon\nnms\n"),
              ElementsAre(testing::Pair("fddb", "the importer"), testing::Pair("nms", "")));
}

}  // namespace
}  // namespace maskfit
