#include "spec/reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/text.h"
#include "tests/support/temp_dir.h"

namespace maskfit::spec {
namespace {

using testing::HasSubstr;

TEST(SpecReference, PageInDocsIsInStepWithTheSchema) {
  const std::string page = base::read_file(support::source_dir() / "docs/spec-reference.md");
  const std::vector<std::string> in_docs = base::split(page, '\n');
  const std::vector<std::string> made = base::split(reference_markdown(), '\n');
  for (std::size_t i = 0; i < std::min(in_docs.size(), made.size()); ++i) {
    ASSERT_EQ(in_docs[i], made[i]) << "line " << i + 1
                                   << "; run: maskfit spec reference > docs/spec-reference.md";
  }
  EXPECT_EQ(in_docs.size(), made.size()) << "run: maskfit spec reference > docs/spec-reference.md";
}

TEST(SpecReference, RowSaysTypeDefaultRangeUnitAndMeaning) {
  EXPECT_THAT(
      reference_markdown(),
      HasSubstr("| `num_epochs` | whole number | required | a whole number, above 0 | epochs | Length of the "
                "run |"));
  EXPECT_THAT(reference_markdown(),
              HasSubstr("| `precision` **+** | name | FP32 | one of FP32, BF16, FP16 |"));
}

TEST(SpecReference, StatusOfAFieldIsNamed) {
  EXPECT_THAT(reference_markdown(), HasSubstr("**Not supported yet**: quantisation-aware training"));
  EXPECT_THAT(reference_markdown(), HasSubstr("**No effect**: the backbones have no dropout"));
}

TEST(SpecReference, EveryKindOfSpecHasItsChapter) {
  const std::string page = reference_markdown();
  const std::size_t train = page.find("## Train spec"), convert = page.find("## dataset_convert spec"),
                    inference = page.find("## Inference spec"),
                    kitti = page.find("| `root_directory_path` |");
  EXPECT_TRUE(train < convert && convert < kitti && kitti < inference);
}

TEST(SpecReference, SectionUsedTwiceIsPrintedOnceAndLinked) {
  const std::string page = reference_markdown();
  const std::string target = "<a id=\"clusteringconfig\"></a>";
  EXPECT_NE(page.find(target), std::string::npos);
  EXPECT_EQ(page.find(target), page.rfind(target));
  const std::string link = "[section](#clusteringconfig)";
  EXPECT_NE(page.find(link), page.rfind(link));
}

}  // namespace
}  // namespace maskfit::spec
