// The rules and boxes of MAFA's and FDDB's faces against the test vectors.

#include <gtest/gtest.h>

#include "dataset/import_rules.h"
#include "formats/fddb.h"
#include "tests/support/vectors.h"

namespace maskfit::dataset {
namespace {

using nlohmann::json;

void expect_judged(const json& vector, formats::MafaPart part) {
  SCOPED_TRACE(vector.at("id").get<std::string>());
  const formats::MafaFace face = formats::mafa_face(part, vector["input"]["row"].get<std::vector<double>>());
  const boxes::Box box = face.box_in_image();
  EXPECT_EQ(json({box.x1, box.y1, box.x2, box.y2}), vector["expected"]["box_xyxy"]);
  const FaceVerdict verdict = judge(face, part, rules_of(RulePreset::kCorrect));
  if (vector["expected"]["class"].is_null()) {
    EXPECT_NE(verdict.ignored_because, "");
  } else {
    EXPECT_EQ(verdict.ignored_because, "");
    // The converter's spellings.
    EXPECT_EQ(verdict.class_name == kMaskClass ? "Mask" : "No-Mask", vector["expected"]["class"]);
  }
}

TEST(ImportVectors, MafaTrain) {
  MASKFIT_REQUIRE_VECTORS();
  for (const json& vector : support::vector_group("mafa_train"))
    expect_judged(vector, formats::MafaPart::kTrain);
}

TEST(ImportVectors, MafaTest) {
  MASKFIT_REQUIRE_VECTORS();
  for (const json& vector : support::vector_group("mafa_test"))
    expect_judged(vector, formats::MafaPart::kTest);
}

TEST(ImportVectors, FddbTightBoxes) {
  MASKFIT_REQUIRE_VECTORS();
  for (const json& vector : support::vector_group("fddb")) {
    SCOPED_TRACE(vector.at("id").get<std::string>());
    base::Findings findings;
    const auto pictures = formats::parse_fddb(
        "2002/a\n1\n" + vector["input"]["line"].get<std::string>() + "\n", "f", &findings);
    ASSERT_EQ(pictures.size(), 1u);
    const auto box = pictures[0].faces.at(0).tight_box();
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_NEAR(box[i], vector["expected"]["tight_box_xyxy"][i].get<double>(),
                  vector["abs_tol"].get<double>());
    }
  }
}

}  // namespace
}  // namespace maskfit::dataset
