// The rules of tests/architecture, applied to this repository.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <sstream>

#include "base/files.h"
#include "tests/architecture/include_rules.h"
#include "tests/architecture/module_table.h"
#include "tests/architecture/size_rules.h"
#include "tests/architecture/source_tree.h"
#include "tests/architecture/text_rules.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace maskfit::architecture {
namespace {

// Headers outside tensor/ that hold tensors, shared by the files of their folder only. Lengthen this list on
// purpose.
const std::set<std::string> kInternalTorchHeaders = {
    "loss/loss_tensors.h",   "loss/task_aligned_costs.h", "model/arrays.h",
    "model/detector_impl.h", "model/outputs.h",
};

// .cpp files (tests too) that compile LibTorch's headers, about 10 s each on one core. Raise it on purpose.
constexpr int kTorchFileBudget = 60;

std::string text(const char* name) {
  return base::read_file(support::source_dir() / name);
}

const SourceTree& tree() {
  static const SourceTree sources = read_source_tree(support::source_dir());
  return sources;
}

ModuleTable module_table() {
  return parse_module_table(text("src/modules.txt"));
}

// "maskfit train", ...: the rows of `maskfit help` between "Commands:" and the next empty line.
std::vector<std::string> commands_of_the_binary() {
  std::vector<std::string> commands;
  std::istringstream help(support::run_process({MASKFIT_BINARY, "help"}).out);
  bool inside = false;
  for (std::string line; std::getline(help, line);) {
    if (inside && line.empty()) break;
    // Name and summary stand at least two blanks apart.
    if (inside) commands.push_back("maskfit " + line.substr(2, line.find("  ", 2) - 2));
    if (line == "Commands:") inside = true;
  }
  return commands;
}

void expect_none(const Violations& violations) {
  for (const std::string& violation : violations) ADD_FAILURE() << violation;
}

TEST(Repository, IncludesFollowTheModuleTable) {
  expect_none(check_directions(tree(), module_table()));
}

TEST(Repository, LibrariesFollowTheModuleTable) {
  expect_none(check_externals(tree(), module_table()));
}

TEST(Repository, NoHeaderIncludesItself) {
  expect_none(check_cycles(tree()));
}

TEST(Repository, LibTorchStaysInItsRings) {
  expect_none(check_torch(tree(), module_table(), kInternalTorchHeaders));
}

TEST(Repository, FilesThatCompileLibTorchStayFew) {
  EXPECT_LE(count_torch_files(tree()), kTorchFileBudget);
}

TEST(Repository, FilesAndFunctionsStayShort) {
  const SizeReport report = check_sizes(tree(), Budget());
  for (const std::string& warning : report.warnings) std::cout << "long: " << warning << '\n';
  expect_none(report.violations);
}

TEST(Repository, TestsAreAtLeastHalfAsLongAsTheProduct) {
  expect_none(check_test_ratio(tree(), 0.5));
}

TEST(Repository, BuildFilesNameNoFlagForNewerProcessors) {
  const TextFiles files = read_build_files(support::source_dir());
  ASSERT_TRUE(files.count("CMakeLists.txt") && files.count("CMakePresets.json") && files.count("dev"))
      << files.size();
  expect_none(check_build_flags(files));
}

TEST(Repository, LibrariesNeitherPrintNorExit) {
  expect_none(check_manners(tree()));
}

TEST(Repository, DocumentsNameOnlyFilesThatExist) {
  for (const char* document : {"README.md", "README.zh-CN.md", "ARCHITECTURE.md", "CHANGELOG.md"}) {
    expect_none(check_named_files(document, text(document), support::source_dir()));
  }
}

TEST(Repository, ArchitectureListsTheFoldersOfTheModuleTable) {
  std::vector<std::string> folders;
  for (const Module& module : module_table().modules) folders.push_back(module.folder);
  expect_none(check_same_list("the folders of ARCHITECTURE.md", folders,
                              table_column(text("ARCHITECTURE.md"), "Folder")));
}

TEST(Repository, ReadmesListTheCommandsOfTheBinary) {
  const std::vector<std::string> commands = commands_of_the_binary();
  ASSERT_FALSE(commands.empty());
  expect_none(
      check_same_list("the commands of README.md", commands, table_column(text("README.md"), "Command")));
  expect_none(check_same_list("the commands of README.zh-CN.md", commands,
                              table_column(text("README.zh-CN.md"), "命令")));
}

// A wheel's libtorch_cpu.so brings an own std::filesystem: whichever library comes first wins for the whole
// process.
TEST(Repository, TheBinarySearchesTheStandardLibraryBeforeLibTorch) {
  const std::string libraries = support::run_process({"readelf", "-d", MASKFIT_BINARY}).out;
  const std::size_t standard = libraries.find("[libstdc++.so");
  const std::size_t torch = libraries.find("[libtorch");
  ASSERT_NE(standard, std::string::npos) << libraries;
  if (libraries.find("[libasan") != std::string::npos)
    GTEST_SKIP() << "a sanitizer's library has to be the first";
  EXPECT_LT(standard, torch) << libraries;
}

TEST(Repository, BothReadmesShowTheSameCommandLines) {
  expect_none(check_same_list("the code blocks of README.zh-CN.md", code_blocks(text("README.md")),
                              code_blocks(text("README.zh-CN.md"))));
}

}  // namespace
}  // namespace maskfit::architecture
