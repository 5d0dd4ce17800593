#include "tests/architecture/size_rules.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace maskfit::architecture {

void PrintTo(const Function& function, std::ostream* out) {
  *out << fmt::format("{} at {}, {} lines", function.name, function.line, function.lines);
}

namespace {
using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

auto function(const std::string& name, int line, int lines) {
  return AllOf(Field(&Function::name, name), Field(&Function::line, line), Field(&Function::lines, lines));
}

std::string repeated(const std::string& line, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += line;
  return text;
}

TEST(FindFunctions, InNamespacesAndClasses) {
  EXPECT_THAT(find_functions("namespace a::b {\n"
                             "class C : public D {\n"
                             " public:\n"
                             "  int size() const { return 1; }\n"
                             "};\n"
                             "static int f(int n) {\n"
                             "  if (n) {\n"
                             "    return 2;\n"
                             "  }\n"
                             "  return 3;\n"
                             "}\n"
                             "}\n"),
              ElementsAre(function("size", 4, 1), function("f", 6, 6)));
}

TEST(FindFunctions, HeadOverSeveralLinesCounts) {
  EXPECT_THAT(find_functions("int f(int a,\n      int b = 3)\n{\n}\n"), ElementsAre(function("f", 1, 4)));
}

TEST(FindFunctions, ConstructorWithMemberList) {
  EXPECT_THAT(find_functions("C::C(int a) : a_(a), b_{1}, c_(2) {\n  go();\n}\nint g() {\n}\n"),
              ElementsAre(function("C::C", 1, 3), function("g", 4, 2)));
}

TEST(FindFunctions, InitialisersAndTypesAreNone) {
  EXPECT_THAT(find_functions("constexpr int x[] = {\n1,\n2};\n"
                             "const auto table = make({\n1});\n"
                             "enum class E : int {\n kA\n};\n"
                             "struct S {\n int a = 0;\n int b{1};\n};\n"
                             "template <typename T> struct V { T t; };\n"
                             "int declared(int a);\n"
                             "int y{3};\n"),
              IsEmpty());
}

TEST(FindFunctions, LambdaCountsIntoTheFunctionAroundIt) {
  EXPECT_THAT(find_functions("void f() {\n  g([&](int i) {\n    h(i);\n  });\n}\n"),
              ElementsAre(function("f", 1, 5)));
}

TEST(FindFunctions, BracesInStringsCommentsAndDirectivesDoNotCount) {
  EXPECT_THAT(find_functions("#define OPEN() do { \\\n  {\n"
                             "// {\n"
                             "/* { */ void f() {\n"
                             "  g(\"{\", '{', R\"x({{{\")x\", 1'000);\n"
                             "}\n"
                             "int h() { return 0; }\n"),
              ElementsAre(function("f", 4, 3), function("h", 7, 1)));
}

TEST(FindFunctions, OperatorsAndTests) {
  EXPECT_THAT(find_functions("bool operator==(const A& a, const A& b) {\n}\nTEST(Thing, DoesIt) {\n}\n"),
              ElementsAre(function("operator==", 1, 2), function("TEST", 3, 2)));
}

TEST(CheckSizes, LongFileWarnsThenFails) {
  const Budget budget;
  const auto report = check_sizes(SourceTree{{{"src/base/a.h", repeated("\n", 400)},
                                              {"src/base/b.h", repeated("\n", 401)},
                                              {"src/base/c.h", repeated("\n", 601)}}},
                                  budget);
  EXPECT_THAT(report.warnings, ElementsAre("src/base/b.h has 401 lines"));
  EXPECT_THAT(report.violations, ElementsAre("src/base/c.h has 601 lines, at most 600 are allowed"));
}

TEST(CheckSizes, LongFunctionWarnsThenFailsSoonerInACommand) {
  const std::string text = "void f() {\n" + repeated("  g();\n", 88) + "}\n";
  const auto report = check_sizes(SourceTree{{{"src/base/a.cpp", text}, {"src/cli/b.cpp", text}}}, Budget());
  EXPECT_THAT(report.warnings, ElementsAre("src/base/a.cpp:1: f() has 90 lines"));
  EXPECT_THAT(report.violations, ElementsAre("src/cli/b.cpp:1: f() has 90 lines, at most 80 are allowed"));
}

TEST(CheckTestRatio, TooFewTestsIsAViolationWithBothNumbers) {
  const SourceTree tree{{{"src/base/a.cpp", repeated("\n", 100)},
                         {"src/base/a_test.cpp", repeated("\n", 30)},
                         {"tests/x.cpp", repeated("\n", 19)}}};
  EXPECT_THAT(check_test_ratio(tree, 0.5),
              ElementsAre("49 lines of tests for 100 lines of product: at least 50 are wanted"));
  EXPECT_THAT(check_test_ratio(tree, 0.49), IsEmpty());
}

}  // namespace
}  // namespace maskfit::architecture
