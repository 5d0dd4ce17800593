// Files from strangers: readers end with a value, a finding or an Error whatever the bytes, and never crash,
// hang or ask for memory that the file does not justify. Seeded, so that a failure repeats; the sanitizer
// build makes it strict.

#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"
#include "base/rng.h"
#include "formats/kitti.h"
#include "formats/pascal_voc.h"
#include "formats/safetensors.h"
#include "formats/tf_example.h"
#include "formats/tfrecord.h"

namespace maskfit::formats {
namespace {

constexpr int kRounds = 3000;

std::size_t place(base::Rng& rng, const std::string& bytes) {
  return static_cast<std::size_t>(rng.uniform_int(0, static_cast<std::int64_t>(bytes.size()) - 1));
}

// One to four changes: a bit, a byte, a cut, a piece doubled, a number made large.
std::string mutated(std::string bytes, base::Rng& rng) {
  for (std::int64_t n = rng.uniform_int(1, 4); n > 0 && !bytes.empty(); --n) {
    const std::size_t at = place(rng, bytes);
    switch (rng.uniform_int(0, 5)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << rng.uniform_int(0, 7)));
        break;
      case 1:
        bytes[at] = static_cast<char>(rng.uniform_int(0, 255));
        break;
      case 2:
        bytes.resize(at);
        break;
      case 3:
        bytes.insert(at, bytes.substr(place(rng, bytes), 16));
        break;
      case 4:
        bytes.erase(at, 5);
        break;
      default:
        bytes.replace(at, 1, "99999999999999999999");
        break;
    }
  }
  return bytes;
}

// Reads `good` and kRounds mutations of it; an Error is as good as a value.
void expect_survives(const std::string& good, const std::function<void(const std::string&)>& read) {
  read(good);
  for (int round = 0; round < kRounds; ++round) {
    base::Rng rng(7, base::Purpose::kTest, 0, static_cast<std::uint64_t>(round));
    const std::string bytes = mutated(good, rng);
    SCOPED_TRACE(testing::Message() << "round " << round);
    try {
      read(bytes);
    } catch (const base::Error& error) {
      EXPECT_STRNE(error.what(), "");
    }
  }
}

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

}  // namespace
}  // namespace maskfit::formats
