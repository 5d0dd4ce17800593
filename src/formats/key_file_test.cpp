#include "formats/key_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace maskfit::formats {
namespace {

using ::testing::HasSubstr;

base::Error refusal(std::string_view text) {
  try {
    parse_key_file(text, "nvinfer.txt");
  } catch (const base::Error& error) {
    return error;
  }
  return {base::ExitCode::kDone, "nothing thrown"};
}

TEST(KeyFile, GroupsKeysAndLines) {
  const KeyFile file =
      parse_key_file("# comment\n[property]\ninfer-dims = 3;544;960\n\n[a b]\nk=v=w\nempty=\n", "x");
  ASSERT_EQ(file.groups.size(), 2u);
  EXPECT_EQ(file.find("property")->find("infer-dims")->value, "3;544;960");
  EXPECT_EQ(file.find("property")->find("infer-dims")->line, 3);
  EXPECT_EQ(file.find("a b")->find("k")->value, "v=w");
  EXPECT_EQ(file.find("a b")->find("empty")->value, "");
  EXPECT_EQ(file.find("none"), nullptr);
  EXPECT_EQ(file.find("property")->find("none"), nullptr);
  EXPECT_EQ(print_key_file(file), "[property]\ninfer-dims=3;544;960\n\n[a b]\nk=v=w\nempty=\n");
}

// GLib reads what stands behind a value as part of it; so do we, and the checks above this layer see it.
TEST(KeyFile, CommentBehindAValueBelongsToIt) {
  EXPECT_EQ(parse_key_file("[a]\nk=1 #one\n", "x").find("a")->find("k")->value, "1 #one");
}

TEST(KeyFile, FaultsAreRefusedWithTheirLine) {
  EXPECT_EQ(refusal("k=v\n").where(), "nvinfer.txt:1");
  EXPECT_THAT(refusal("[a]\nwords\n").what(), HasSubstr("neither a group nor key=value"));
  EXPECT_THAT(refusal("[a]\n=v\n").what(), HasSubstr("neither"));
  EXPECT_THAT(refusal("[a\n").what(), HasSubstr("no group"));
  EXPECT_EQ(refusal("[a]\nk=1\nk=2\n").where(), "nvinfer.txt:3");
  EXPECT_THAT(refusal("[a]\n[a]\n").what(), HasSubstr("[a] comes twice"));
}

}  // namespace
}  // namespace maskfit::formats
