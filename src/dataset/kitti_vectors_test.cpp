// The conversion of MAFA, FDDB and WIDER FACE to KITTI against the test vectors.

#include <gtest/gtest.h>

#include "dataset/frame_example.h"
#include "dataset/kitti_selection.h"
#include "dataset/sample_modifier.h"
#include "formats/coco.h"
#include "tests/support/vectors.h"

namespace maskfit::dataset {
namespace {

using nlohmann::json;

image::Size size_of(const json& input, const char* which) {
  return {input.at(std::string(which) + "_w"), input.at(std::string(which) + "_h")};
}

void expect_near(const Corners& found, const json& expected, double tolerance) {
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(found[i], expected.at(i).get<double>(), tolerance) << i;
}

TEST(KittiVectors, Fddb) {
  MASKFIT_REQUIRE_VECTORS();
  for (const json& vector : support::vector_group("fddb")) {
    SCOPED_TRACE(vector.at("id").get<std::string>());
    const json &input = vector["input"], &expected = vector["expected"];
    base::Findings findings;
    const auto pictures =
        formats::parse_fddb("2002/a\n1\n" + input["line"].get<std::string>() + "\n", "f", &findings);
    ASSERT_EQ(pictures.size(), 1u);
    const formats::FddbEllipse& face = pictures[0].faces.at(0);
    const image::Size from = size_of(input, "image"), to = size_of(input, "out");
    const double tolerance = vector["abs_tol"];
    expect_near(face.tight_box(), expected["tight_box_xyxy"], tolerance);
    const Corners reference = fddb_reference_box(face);
    expect_near(reference, expected["upstream_box_xyxy"], tolerance);
    EXPECT_EQ(reference_label_line(FaceUse::kNoMask, reference, from, to), expected["upstream_label"]);
    const auto decision = decide_picture(KittiSet::kFddb, KittiPart::kTrain,
                                         {{FaceUse::kNoMask, face.tight_box()}}, from, {}, {0, 10}, {});
    ASSERT_EQ(decision.labels.size(), 1u);
    expect_near(decision.labels[0].box_in_stored, expected["tight_clipped_xyxy"], tolerance);
  }
}

void check_mafa(const json& vector, formats::MafaPart part) {
  SCOPED_TRACE(vector.at("id").get<std::string>());
  const json &input = vector["input"], &expected = vector["expected"];
  const formats::MafaFace face = formats::mafa_face(part, input["row"].get<std::vector<double>>());
  const bool train = part == formats::MafaPart::kTrain;
  const Corners box{static_cast<double>(face.face.x), static_cast<double>(face.face.y),
                    static_cast<double>(face.face.x + face.face.width),
                    static_cast<double>(face.face.y + face.face.height)};
  expect_near(box, expected["box_xyxy"], 0);
  for (const KittiRules rules : {KittiRules::kCorrect, KittiRules::kReference}) {
    const FaceUse use = train ? mafa_train_use(face, rules) : mafa_test_use(face, rules);
    if (expected["class"].is_null()) {
      EXPECT_EQ(use, FaceUse::kExcluded);
      continue;
    }
    EXPECT_EQ(use, expected["class"] == "Mask" ? FaceUse::kMask : FaceUse::kNoMask);
    EXPECT_EQ(reference_label_line(use, box, size_of(input, "image"), size_of(input, "out")),
              expected["label"]);
  }
}

TEST(KittiVectors, Mafa) {
  MASKFIT_REQUIRE_VECTORS();
  for (const json& vector : support::vector_group("mafa_train"))
    check_mafa(vector, formats::MafaPart::kTrain);
  for (const json& vector : support::vector_group("mafa_test")) check_mafa(vector, formats::MafaPart::kTest);
}

TEST(KittiVectors, MafaLimits) {
  MASKFIT_REQUIRE_VECTORS();
  for (const json& vector : support::vector_group("mafa_limits")) {
    SCOPED_TRACE(vector.at("id").get<std::string>());
    const json& limits = vector["input"]["limits"];
    FaceCounts taken;
    json written = json::array();
    for (const json& picture : vector["input"]["images"]) {
      std::vector<KittiFace> faces;
      for (const json& name : picture["classes"])
        faces.push_back({name == "Mask" ? FaceUse::kMask : FaceUse::kNoMask, {10, 10, 50, 60}});
      const auto decision = decide_picture(KittiSet::kMafa, KittiPart::kTrain, faces,
                                           {picture["w"], picture["h"]}, taken, {limits[0], limits[1]}, {});
      taken.mask += decision.counts.mask;
      taken.no_mask += decision.counts.no_mask;
      json labels = json::array();
      for (const KittiFace& face : decision.labels)
        labels.push_back(face.use == FaceUse::kMask ? "Mask" : "No-Mask");
      written.push_back(labels);
    }
    EXPECT_EQ(written, vector["expected"]["labels_written"]);
    EXPECT_EQ(json::array({taken.mask, taken.no_mask}), vector["expected"]["counts"]);
  }
}

TEST(KittiVectors, Wider) {
  MASKFIT_REQUIRE_VECTORS();
  for (const json& vector : support::vector_group("wider")) {
    SCOPED_TRACE(vector.at("id").get<std::string>());
    const json &input = vector["input"], &expected = vector["expected"]["upstream"];
    std::string text = "2--Demonstration/a.jpg\n" + std::to_string(input["bbx_gt_rows"].size()) + "\n";
    for (const json& row : input["bbx_gt_rows"]) {
      for (const json& number : row) text += std::to_string(number.get<int>()) + " ";
      text += "\n";
    }
    base::Findings findings;
    const auto pictures = formats::parse_wider_text(text, "w", &findings);
    ASSERT_EQ(pictures.size(), 1u);
    std::vector<KittiFace> faces;
    for (const formats::WiderFace& face : pictures[0].faces) {
      faces.push_back({wider_use(face, KittiRules::kReference),
                       {face.x, face.y, face.x + face.width, face.y + face.height}});
    }
    SelectionOptions options;
    options.rules = KittiRules::kReference;
    const image::Size from = size_of(input, "image"), to = size_of(input, "out");
    const auto decision =
        decide_picture(KittiSet::kWider, KittiPart::kTrain, faces, from, {}, {10, 10}, options);
    EXPECT_EQ(decision.write, expected["kept"].get<bool>());
    if (!decision.write) continue;
    ASSERT_EQ(decision.labels.size(), expected["labels"].size());
    for (std::size_t i = 0; i < decision.labels.size(); ++i) {
      expect_near(decision.labels[i].box_in_stored, expected["boxes"][i], 0);
      EXPECT_EQ(reference_wider_line(decision.labels[i].box_in_stored, from, to), expected["labels"][i]);
    }
    for (const formats::WiderFace& face : pictures[0].faces) {
      if (face.invalid != 0) EXPECT_NE(wider_use(face, KittiRules::kCorrect), FaceUse::kNoMask);
    }
  }
}

TEST(KittiVectors, ResizeBox) {
  MASKFIT_REQUIRE_VECTORS();
  for (const json& vector : support::vector_group("resize_box")) {
    SCOPED_TRACE(vector.at("id").get<std::string>());
    const json& input = vector["input"];
    const auto box = input["box_xyxy"].get<std::vector<double>>();
    EXPECT_EQ(reference_label_line(FaceUse::kMask, {box[0], box[1], box[2], box[3]}, size_of(input, "image"),
                                   size_of(input, "out")),
              vector["expected"]["label_mask"]);
  }
}

TEST(TfrecordVectors, SampleModifier) {
  MASKFIT_REQUIRE_VECTORS();
  for (const json& vector : support::vector_group("sample_modifier")) {
    SCOPED_TRACE(vector.at("id").get<std::string>());
    const json& input = vector["input"];
    SampleModifier modifier;
    modifier.target_of = input["map"].get<std::map<std::string, std::string>>();
    modifier.dominant = input.value("dominant", std::vector<std::string>());
    modifier.filter_only = input.value("filter_only", std::vector<std::string>());
    modifier.num_duplicates = input.value("num_duplicates", 0);
    for (const auto& [source, target] : modifier.target_of)
      modifier.min_imbalance[target] = input.value("min_imbalance", 1.0f);
    EXPECT_EQ(modifier.copies(input["classes"].get<std::vector<std::string>>()),
              vector["expected"]["copies"]);
  }
}

TEST(TfrecordVectors, CocoBox) {
  MASKFIT_REQUIRE_VECTORS();
  for (const json& vector : support::vector_group("coco_box")) {
    SCOPED_TRACE(vector.at("id").get<std::string>());
    const json& input = vector["input"];
    const json file = {
        {"images", {{{"id", 1}, {"file_name", "a.jpg"}, {"width", input["w"]}, {"height", input["h"]}}}},
        {"categories", {{{"id", 1}, {"name", "mask"}}}},
        {"annotations", {{{"id", 1}, {"image_id", 1}, {"category_id", 1}, {"bbox", input["bbox_xywh"]}}}}};
    base::Findings findings;
    const auto images = formats::parse_coco(file.dump(), "f", &findings);
    ASSERT_EQ(images.size(), 1u);
    const boxes::Box box = images[0].objects.at(0).box_in_image;
    EXPECT_EQ(survives_truncation(box), vector["expected"]["kept"].get<bool>());
    if (vector["expected"]["kept"].get<bool>())
      expect_near({box.x1, box.y1, box.x2, box.y2}, vector["expected"]["xyxy"], vector["abs_tol"]);
  }
}

}  // namespace
}  // namespace maskfit::dataset
