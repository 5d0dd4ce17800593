// Files from strangers: readers end with a value, a finding or an Error whatever the bytes, and never crash,
// hang or ask for memory that the file does not justify. See tests/support/mutation.h.

#include <gtest/gtest.h>

#include "base/error.h"
#include "formats/calibration_cache.h"
#include "formats/coco.h"
#include "formats/csv_boxes.h"
#include "formats/fddb.h"
#include "formats/key_file.h"
#include "formats/kitti.h"
#include "formats/labelme.h"
#include "formats/mafa.h"
#include "formats/mat5.h"
#include "formats/onnx.h"
#include "formats/pascal_voc.h"
#include "formats/safetensors.h"
#include "formats/tf_example.h"
#include "formats/tfrecord.h"
#include "formats/widerface.h"
#include "formats/yolo.h"
#include "tests/support/mat_writer.h"
#include "tests/support/mutation.h"

namespace maskfit::formats {
namespace {

using support::expect_survives;

TEST(Mutations, Safetensors) {
  Safetensors file;
  file.metadata = {{"k", "v"}};
  file.arrays["a"] = array_of(std::vector<float>{1, 2, 3, 4}, {2, 2});
  file.arrays["b"] = array_of(std::vector<std::uint8_t>{1, 2, 3}, {3});
  expect_survives(encode_safetensors(file), [](const std::string& bytes) { decode_safetensors(bytes, "f"); });
}

TEST(Mutations, TfRecordWithoutItsCrcs) {
  std::string bytes;
  for (const char* payload : {"first", "", "a third, somewhat longer record"}) append_record(bytes, payload);
  expect_survives(bytes, [](const std::string& input) {
    RecordReader reader(input, "f", {.verify_crc = false});
    std::size_t total = 0;
    for (std::string_view payload; reader.next(&payload);) total += payload.size();
    EXPECT_LE(total, input.size());
  });
}

TEST(Mutations, TfExample) {
  expect_survives(encode_example({{"frame/id", BytesList{"images/a"}},
                                  {"target/coordinates_x1", FloatList{1, 2, 3}},
                                  {"target/occlusion", Int64List{-1, 0, 3}}}),
                  [](const std::string& bytes) { decode_example(bytes, "f"); });
}

TEST(Mutations, Kitti) {
  expect_survives("mask 0 0 0 1 2 30 40 0 0 0 0 0 0 0\nno-mask 0.5 1 -1.5 1.25 2 30 40 1 2 3 4 5 6 7 0.9\n",
                  [](const std::string& bytes) {
                    base::Findings findings;
                    for (const KittiLabel& label : parse_kitti(bytes, "f", &findings)) print_kitti(label);
                  });
}

TEST(Mutations, PascalVoc) {
  expect_survives(
      "<annotation><size><width>64</width><height>48</height></size><object><name>mask</"
      "name><bndbox><xmin>1</xmin>"
      "<ymin>2</ymin><xmax>30</xmax><ymax>40</ymax></bndbox></object><object><name>a&amp;b</name></object></"
      "annotation>",
      [](const std::string& bytes) {
        base::Findings findings;
        const auto annotation = parse_pascal_voc(bytes, "f", &findings);
        EXPECT_TRUE(annotation || !findings.empty());
      });
}

std::string mafa_bytes(bool compressed) {
  using namespace support;
  const std::vector<double> row = {54, 47, 130, 120, 1, 20, 60, 90, 61, 2, 3, 1, 4, 3, 5, 6, 7, 8};
  const std::string labels =
      mat_struct({"name", "label"}, {mat_text("test_1.jpg"), mat_numbers({row, row})}, "LabelTest");
  return mat_file(compressed ? mat_compressed(labels) : labels);
}

TEST(Mutations, Mat5) {
  // Small limits, so that a reader that forgets one shows.
  const MatLimits limits{.inflated_bytes = 1 << 20, .kept_bytes = 1 << 20};
  for (const bool compressed : {false, true}) {
    expect_survives(mafa_bytes(compressed), [&](const std::string& bytes) { read_mat5(bytes, "f", limits); });
  }
}

TEST(Mutations, Mafa) {
  expect_survives(mafa_bytes(false), [](const std::string& bytes) {
    base::Findings findings;
    for (const MafaPicture& picture : parse_mafa(bytes, "f", &findings).pictures)
      EXPECT_LE(picture.faces.size(), 2u);
  });
}

TEST(Mutations, WiderMat) {
  using namespace support;
  const std::string file = mat_file(mat_cells({mat_text("0--Parade")}, "event_list") +
                                    mat_cells({mat_cells({mat_text("a")})}, "file_list") +
                                    mat_cells({mat_cells({mat_numbers({{1, 2, 3, 4}})})}, "face_bbx_list") +
                                    mat_cells({mat_cells({mat_numbers({{1}})})}, "occlusion_label_list"));
  expect_survives(file, [](const std::string& bytes) {
    base::Findings findings;
    parse_wider_mat(bytes, "f", &findings);
  });
}

TEST(Mutations, WiderText) {
  expect_survives(
      "0--P/a.jpg\n0\n0 0 0 0 0 0 0 0 0 0\n0--P/b.jpg\n2\n1 2 3 4 0 0 0 0 2 0\n5 6 7 8 2 1 1 1 0 1\n",
      [](const std::string& bytes) {
        base::Findings findings;
        is_wider_text(bytes);
        for (const WiderPicture& picture : parse_wider_text(bytes, "f", &findings))
          EXPECT_FALSE(picture.path.empty());
      });
}

TEST(Mutations, Fddb) {
  expect_survives(
      "2002/08/11/big/img_591\n2\n123.58 85.5 1.26 269.6 161.7  1\n60 40 0.0 100 120 1\n2002/a/i\n0\n",
      [](const std::string& bytes) {
        base::Findings findings;
        is_fddb_text(bytes);
        parse_fddb_paths(bytes);
        for (const FddbPicture& picture : parse_fddb(bytes, "f", &findings)) {
          for (const FddbEllipse& face : picture.faces) face.tight_box();
        }
      });
}

TEST(Mutations, Yolo) {
  expect_survives("0 0.5 0.5 0.2 0.3\n1 0.25 0.5 0.1 0.1 0.9\n0 0.1 0.1 0.9 0.1 0.5 0.9\n",
                  [](const std::string& bytes) {
                    base::Findings findings;
                    is_yolo_text(bytes);
                    parse_yolo(bytes, "f", &findings);
                  });
  expect_survives("path: x\nnc: 2\nnames: ['a, b', c]\n---\nnames:\n  0: d\n  1: \"e\"\n- f\n",
                  [](const std::string& bytes) {
                    EXPECT_LE(parse_yolo_yaml(bytes).size(), bytes.size());
                    parse_yolo_name_list(bytes);
                  });
}

TEST(Mutations, Coco) {
  expect_survives(
      R"({"images": [{"id": 1, "file_name": "a.jpg", "width": 9, "height": 8}], "categories": [{"id": 3, "name": "mask"}],
      "annotations": [{"id": 1, "image_id": 1, "category_id": 3, "bbox": [1, 2.5, 3, 4], "iscrowd": 0},
      {"id": 2, "image_id": 1, "category_id": 3, "segmentation": [[1, 2, 3, 4, 5, 6]]}]})",
      [](const std::string& bytes) {
        base::Findings findings;
        parse_coco(bytes, "f", &findings);
      });
  expect_survives(std::string(2000, '['), [](const std::string& bytes) {
    base::Findings findings;
    EXPECT_THROW(parse_coco(bytes, "f", &findings), base::Error);
  });
}

TEST(Mutations, Labelme) {
  expect_survives(
      R"({"imagePath": "a.jpg", "imageWidth": 9, "shapes": [{"label": "m", "shape_type": "rectangle",
      "points": [[1, 2], [3, 4]]}, {"label": "c", "shape_type": "circle", "points": [[5, 5], [6, 7]]}]})",
      [](const std::string& bytes) {
        base::Findings findings;
        EXPECT_TRUE(parse_labelme(bytes, "f", &findings) || !findings.empty());
      });
}

TEST(Mutations, CsvBoxes) {
  expect_survives(
      "filename,width,height,class,xmin,ymin,xmax,ymax\n\"a, b.jpg\",64,48,mask,1,2,30.5,40\nc.jpg,,,,,,,\n"
      "\"a, b.jpg\",64,48,\"no \"\"mask\"\"\",1,2,3,4\n",
      [](const std::string& bytes) {
        base::Findings findings;
        is_csv_boxes_text(bytes);
        for (const CsvImage& image : parse_csv_boxes(bytes, "f", &findings))
          EXPECT_FALSE(image.file_name.empty());
      });
}

TEST(Mutations, FilesOfDeployment) {
  expect_survives("TRT-8401-EntropyCalibration2\ninput_1: 3c010a14\nconv1: 3e0a0000\n",
                  [](const std::string& bytes) { parse_calibration_cache(bytes, "f"); });
  expect_survives(
      "[property]\nnum-detected-classes=2\n# x\ninfer-dims = 3;544;960\n[class-attrs-all]\neps=0.2\n",
      [](const std::string& bytes) { parse_key_file(bytes, "f"); });
}

TEST(Mutations, Onnx) {
  OnnxModel model;
  model.graph_name = "g";
  model.constants.push_back(onnx_tensor("w", std::vector<float>{1, 2, 3, 4}, {2, 2}));
  model.nodes.push_back({"n", "Conv", {"x", "w"}, {"y"}, {{"group", std::int64_t{1}}}, ""});
  model.inputs.push_back({"x", OnnxType::kFloat32, {std::string("batch"), std::int64_t{2}}});
  expect_survives(encode_onnx(model), [](const std::string& bytes) { decode_onnx(bytes, "f"); });
}

}  // namespace
}  // namespace maskfit::formats
