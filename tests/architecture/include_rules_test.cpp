#include "tests/architecture/include_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

namespace maskfit::architecture {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ModuleTable table() {
  return parse_module_table(
      "# folder | includes | externals\n"
      "base   |                    | fmt\n"
      "loader | base               | png\n"
      "tensor | base               | torch\n"
      "model  | base tensor        | torch cuda\n"
      "cli    | *                  | cli11\n");
}

SourceTree tree(std::vector<SourceFile> files) {
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return {std::move(files)};
}

TEST(ModuleTable, StarMeansEveryFolderAbove) {
  EXPECT_THAT(table().find("cli")->includes, ElementsAre("base", "loader", "model", "tensor"));
}

TEST(ModuleTable, RefusesAFolderThatIsNotAbove) {
  EXPECT_THROW(
      {
        try {
          parse_module_table("base | loader |\nloader | base |\n");
        } catch (const std::runtime_error& error) {
          EXPECT_STREQ(error.what(), "modules.txt:1: base names loader, which is not above it");
          throw;
        }
      },
      std::runtime_error);
}

TEST(ModuleTable, RefusesARowTwiceAndARowWithoutThreeCells) {
  EXPECT_THROW(parse_module_table("base | |\nbase | |\n"), std::runtime_error);
  EXPECT_THROW(parse_module_table("base | fmt\n"), std::runtime_error);
}

TEST(CheckDirections, GoodTreePasses) {
  EXPECT_THAT(
      check_directions(
          tree({{"src/base/a.h", ""},
                {"src/loader/b.h", "#include <vector>\n#include \"base/a.h\"\n"},
                {"src/loader/b_test.cpp", "#include \"loader/b.h\"\n#include \"tests/support/t.h\"\n"},
                {"tests/support/t.h", ""}}),
          table()),
      IsEmpty());
}

TEST(CheckDirections, IncludeOfAHigherFolderIsNamedWithItsLine) {
  EXPECT_THAT(
      check_directions(
          tree({{"src/base/a.h", "#pragma once\n\n#include \"loader/b.h\"\n"}, {"src/loader/b.h", ""}}),
          table()),
      ElementsAre("src/base/a.h:3 includes \"loader/b.h\", but modules.txt lets base include only: "));
}

TEST(CheckDirections, IncludeWithoutFolderDoesNotExist) {
  EXPECT_THAT(
      check_directions(tree({{"src/base/a.cpp", "#include \"a.h\"\n"}, {"src/base/a.h", ""}}), table()),
      ElementsAre(
          HasSubstr("src/base/a.cpp:1 includes \"a.h\", which does not exist; write \"folder/file.h\"")));
}

TEST(CheckDirections, HeaderMadeFromAProtoExists) {
  EXPECT_THAT(
      check_directions(tree({{"src/base/x.cpp", "#include \"base/a.pb.h\"\n"}, {"src/base/a.proto", ""}}),
                       table()),
      IsEmpty());
  EXPECT_THAT(
      check_directions(tree({{"src/base/x.cpp", "#include \"base/b.pb.h\"\n"}, {"src/base/a.proto", ""}}),
                       table()),
      ElementsAre(HasSubstr("does not exist")));
}

TEST(CheckDirections, FolderWithoutARow) {
  EXPECT_THAT(check_directions(tree({{"src/extra/a.h", ""}}), table()),
              ElementsAre("src/extra/a.h: the folder has no row in modules.txt"));
}

TEST(CheckDirections, ProductMayNotIncludeTests) {
  EXPECT_THAT(
      check_directions(
          tree({{"src/base/a.cpp", "#include \"tests/support/t.h\"\n"}, {"tests/support/t.h", ""}}), table()),
      ElementsAre("src/base/a.cpp:1 is product code and includes \"tests/support/t.h\""));
}

TEST(CheckExternals, LibraryOfAnotherRow) {
  EXPECT_THAT(
      check_externals(tree({{"src/base/a.cpp", "#include <png.h>\n#include <fmt/format.h>\n"}}), table()),
      ElementsAre("src/base/a.cpp:1 includes <png.h>, but modules.txt does not give base the library png"));
  EXPECT_THAT(
      check_externals(tree({{"src/loader/a.cpp", "#include <png.h>\n#include <fmt/format.h>\n"}}), table()),
      IsEmpty());
}

TEST(CheckCycles, HeadersThatIncludeEachOther) {
  EXPECT_THAT(check_cycles(tree({{"src/base/a.h", "#include \"base/b.h\"\n"},
                                 {"src/base/b.h", "#include \"base/a.h\"\n"}})),
              ElementsAre("headers include each other: base/a.h -> base/b.h -> base/a.h"));
}

TEST(CheckTorch, ChainThroughHeadersIsPrinted) {
  const auto violations = check_torch(tree({{"src/loader/batch.h", "#include \"base/mid.h\"\n"},
                                            {"src/base/mid.h", "#include \"tensor/view.h\"\n"},
                                            {"src/tensor/view.h", "#include <ATen/ATen.h>\n"}}),
                                      table(), {});
  EXPECT_THAT(violations, ElementsAre("src/base/mid.h reaches LibTorch, which base may not see: base/mid.h "
                                      "-> tensor/view.h -> ATen/ATen.h",
                                      "src/loader/batch.h reaches LibTorch, which loader may not see: "
                                      "loader/batch.h -> base/mid.h -> tensor/view.h -> ATen/ATen.h"));
}

TEST(CheckTorch, HeaderOutsideTensorUnlessListed) {
  const SourceTree files = tree({{"src/model/outputs.h", "#include <ATen/core/Tensor.h>\n"},
                                 {"src/model/a.cpp", "#include \"model/outputs.h\"\n"}});
  EXPECT_THAT(check_torch(files, table(), {}),
              ElementsAre("src/model/outputs.h is a header outside tensor/ and reaches LibTorch: "
                          "model/outputs.h -> ATen/core/Tensor.h"));
  EXPECT_THAT(check_torch(files, table(), {"model/outputs.h"}), IsEmpty());
}

TEST(CheckTorch, KernelFileMayNotReachIt) {
  EXPECT_THAT(
      check_torch(tree({{"src/model/k.cu", "#include \"tensor/view.h\"\n"},
                        {"src/tensor/view.h", "#include <c10/core/Device.h>\n"}}),
                  table(), {}),
      ElementsAre(
          "src/model/k.cu is CUDA and reaches LibTorch: model/k.cu -> tensor/view.h -> c10/core/Device.h"));
}

TEST(CheckTorch, WideHeaderIsBannedEvenInTensor) {
  EXPECT_THAT(
      check_torch(tree({{"src/tensor/a.cpp", "\n#include <torch/torch.h>\n"}}), table(), {}),
      ElementsAre(
          "src/tensor/a.cpp:2 includes <torch/torch.h>, which is banned; include the narrow headers"));
}

TEST(CheckTorch, ForwardDeclarationIsNoReach) {
  EXPECT_THAT(
      check_torch(tree({{"src/model/a.h", "namespace at { class Tensor; }\n#include \"tensor/fwd.h\"\n"},
                        {"src/tensor/fwd.h", "namespace at { class Tensor; }\n"}}),
                  table(), {}),
      IsEmpty());
}

TEST(CountTorchFiles, CountsCompiledFilesOnly) {
  EXPECT_EQ(count_torch_files(tree({{"src/tensor/view.h", "#include <ATen/ATen.h>\n"},
                                    {"src/tensor/view.cpp", "#include \"tensor/view.h\"\n"},
                                    {"src/tensor/other.cpp", "#include <vector>\n"}})),
            1);
}

}  // namespace
}  // namespace maskfit::architecture
