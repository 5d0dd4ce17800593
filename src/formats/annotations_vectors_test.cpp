// The annotation files of MAFA, WIDER FACE and FDDB against the test vectors.

#include <gtest/gtest.h>

#include "formats/fddb.h"
#include "formats/mafa.h"
#include "formats/mat5.h"
#include "formats/widerface.h"
#include "tests/support/vectors.h"

namespace maskfit::formats {
namespace {

using nlohmann::json;

// A MATLAB array as the vectors write it: a struct as a list of objects, a matrix as rows, cells as a list.
json as_json(const MatArray& array) {
  json out = json::array();
  switch (array.kind) {
    case MatKind::kText:
      return array.text;
    case MatKind::kCells:
      for (const MatArray& part : array.parts) out.push_back(as_json(part));
      return out;
    case MatKind::kStruct:
      for (std::size_t i = 0; i < array.elements(); ++i) {
        json element;
        for (const std::string& field : array.field_names) element[field] = as_json(*array.field(i, field));
        out.push_back(element);
      }
      return out;
    default:
      for (std::size_t row = 0; row < array.rows(); ++row) {
        json numbers = json::array();
        for (std::size_t column = 0; column < array.columns(); ++column)
          numbers.push_back(array.at(row, column));
        out.push_back(numbers);
      }
      return out;
  }
}

TEST(AnnotationVectors, MatlabFiles) {
  MASKFIT_REQUIRE_VECTORS();
  for (const json& vector : support::vector_group("mat5")) {
    const auto id = vector.at("id").get<std::string>();
    SCOPED_TRACE(id);
    const std::string bytes = support::decode_base64(vector["input"]["file_base64"]);
    json read;
    for (const MatArray& variable : read_mat5(bytes, id)) read[variable.name] = as_json(variable);
    EXPECT_EQ(read, vector["expected"]);
    base::Findings findings;
    if (vector["expected"].contains("label_train")) {
      const MafaFile mafa = parse_mafa(bytes, id, &findings);
      EXPECT_EQ(mafa.part, MafaPart::kTrain);
      ASSERT_EQ(mafa.pictures.size(), 2u);
      EXPECT_EQ(mafa.pictures[1].faces.at(1).occlusion_degree, 3);
      EXPECT_EQ(mafa.pictures[0].original_name, "add_11.jpg");
    } else {
      const auto wider = parse_wider_mat(bytes, id, &findings);
      ASSERT_EQ(wider.size(), 3u);
      EXPECT_EQ(wider[2].path, "2--Demonstration/2_Demo_b_3.jpg");
      EXPECT_EQ(wider[2].faces.at(0).x, 300.5);
      EXPECT_EQ(wider[1].faces.at(0).occlusion, 2);
    }
    EXPECT_TRUE(findings.empty());
  }
}

}  // namespace
}  // namespace maskfit::formats
