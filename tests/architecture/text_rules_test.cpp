#include "tests/architecture/text_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "tests/support/temp_dir.h"

namespace maskfit::architecture {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(CheckBuildFlags, FlagsForNewerProcessorsAreNamed) {
  EXPECT_THAT(check_build_flags({{"CMakeLists.txt", "project(x)\nadd_compile_options(-O2 -march=native)\n"},
                                 {"cmake/a.cmake", "set(F -mavx2)\n"},
                                 {"dev", "CXXFLAGS=-ffast-math\n"}}),
              ElementsAre(HasSubstr("CMakeLists.txt:2: -march=native"), HasSubstr("cmake/a.cmake:1: -mavx2"),
                          HasSubstr("dev:1: -ffast-math")));
}

TEST(CheckBuildFlags, CommentMayNameThem) {
  EXPECT_THAT(check_build_flags({{"CMakeLists.txt", "# never -march=native\nset(F -O2) # nor -mavx2\n"}}),
              IsEmpty());
}

TEST(CheckManners, LibrariesNeitherPrintNorExit) {
  const SourceTree tree{{{"src/base/a.cpp", "void f() {\n  std::cout << 1;\n  std::exit(1);\n}\n"},
                         {"src/base/a_test.cpp", "void f() { std::cout << 1; }\n"},
                         {"src/cli/b.cpp", "void f() { std::cout << 1; }\n"}}};
  EXPECT_THAT(check_manners(tree),
              ElementsAre("src/base/a.cpp:2: std::cout: libraries never print",
                          HasSubstr("src/base/a.cpp:3: std::exit(: libraries never exit")));
}

TEST(CheckManners, FormattingAndCommentsAreNoPrinting) {
  const SourceTree tree{
      {{"src/base/a.cpp", "// printf(\nint f(char* b) { return snprintf(b, 1, \"exit(\"); }\n"}}};
  EXPECT_THAT(check_manners(tree), IsEmpty());
}

TEST(CheckManners, AssertUnfinishedWorkAndUnguardedHeader) {
  const SourceTree tree{{{"src/base/a.h", "int f(int n);\n"},
                         {"src/base/b.cpp", "void f(int n) { assert(n); }\n"},
                         {"src/base/c.cpp", "// TODO: more\n"}}};
  EXPECT_THAT(check_manners(tree),
              ElementsAre("src/base/a.h: no #pragma once", HasSubstr("src/base/b.cpp:1: assert(: gone"),
                          HasSubstr("src/base/c.cpp:1: TODO")));
  EXPECT_THAT(check_manners({{{"src/base/d.cpp", "static_assert(true);\n"}}}), IsEmpty());
}

TEST(TableColumn, OfTheTableWithThatHeading) {
  const std::string markdown =
      "text\n\n| other | x |\n| --- | --- |\n| no | y |\n\n| Command | What |\n|:---|---|\n| `a b` | one "
      "|\n| `c` | two |\n\n| z | |\n";
  EXPECT_THAT(table_column(markdown, "Command"), ElementsAre("a b", "c"));
  EXPECT_THAT(table_column(markdown, "absent"), IsEmpty());
}

TEST(CheckSameList, FirstDifferenceIsNamed) {
  EXPECT_THAT(check_same_list("README", {"a", "b"}, {"a", "b"}), IsEmpty());
  EXPECT_THAT(check_same_list("README", {"a", "b"}, {"a", "c"}),
              ElementsAre("README: entry 2 should be 'b' and is 'c'"));
  EXPECT_THAT(check_same_list("README", {"a", "b"}, {"a"}),
              ElementsAre("README: entry 2 should be 'b' and is nothing more"));
  EXPECT_THAT(check_same_list("README", {"a"}, {"a", "b"}),
              ElementsAre("README: entry 2 should be nothing more and is 'b'"));
}

TEST(CheckNamedFiles, RootOrSourceAndNothingElse) {
  const support::TempDir root;
  base::write_file(root / "src/base/a.h", "");
  base::write_file(root / "docs/b.md", "");
  EXPECT_THAT(check_named_files("README.md", "`base/a.h` `docs/b.md` `base/<name>.cpp` `x_test.cpp` `a/b`",
                                root.path()),
              IsEmpty());
  EXPECT_THAT(check_named_files("README.md", "see `base/gone.cpp`", root.path()),
              ElementsAre("README.md names base/gone.cpp, which does not exist"));
}

TEST(CodeBlocks, WithoutCommentsSoThatTranslationsAgree) {
  EXPECT_THAT(code_blocks("a\n```sh\n./dev demo   # a few minutes\n```\nb\n```\nx\ny\n```\n"),
              ElementsAre("./dev demo\n", "x\ny\n"));
}

}  // namespace
}  // namespace maskfit::architecture
