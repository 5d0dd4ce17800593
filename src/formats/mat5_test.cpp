#include "formats/mat5.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/support/mat_writer.h"

namespace maskfit::formats {
namespace {

using namespace support;
using testing::ElementsAre;
using testing::HasSubstr;

std::string refusal(const std::string& bytes, const MatLimits& limits = {}) {
  try {
    read_mat5(bytes, "labels.mat", limits);
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::ExitCode::kRefused);
    EXPECT_EQ(error.where(), "labels.mat");
    return error.what();
  }
  return "";
}

TEST(Mat5, ReadsNumbersTextCellsAndStructs) {
  const auto variables = read_mat5(
      mat_file(mat_numbers({{1, 2, 3}, {4, 5, 6}}, "m") + mat_text("gesicht_ä.jpg", "t") +
               mat_cells({mat_text("a"), mat_numbers({{7}})}, "c") +
               mat_struct({"name", "label"},
                          {mat_text("x"), mat_numbers({{1}}), mat_text("y"), mat_numbers({})}, "s")),
      "f");
  ASSERT_EQ(variables.size(), 4u);
  const MatArray& m = variables[0];
  EXPECT_EQ(m.name, "m");
  EXPECT_THAT(m.dims, ElementsAre(2, 3));
  EXPECT_EQ(m.at(1, 0), 4);
  EXPECT_EQ(m.at(0, 2), 3);
  EXPECT_EQ(variables[1].text, "gesicht_ä.jpg");
  ASSERT_EQ(variables[2].parts.size(), 2u);
  EXPECT_EQ(variables[2].parts[0].text, "a");
  const MatArray* s = find_variable(variables, "s");
  ASSERT_NE(s, nullptr);
  EXPECT_THAT(s->field_names, ElementsAre("name", "label"));
  EXPECT_EQ(s->field(1, "name")->text, "y");
  EXPECT_EQ(s->field(1, "label")->elements(), 0u);
  EXPECT_EQ(s->field(0, "gender"), nullptr);
  EXPECT_EQ(s->field(2, "name"), nullptr);
}

TEST(Mat5, NumbersAreStoredInNarrowerTypesThanTheirClass) {
  const std::string as_uint8 = mat_array(6, 1, 2, "d", mat_element(2, "\xC8\x01"));
  const std::string as_int16 = mat_array(6, 1, 2, "e", mat_element(3, std::string("\xFF\xFF\x02\x00", 4)));
  const auto variables = read_mat5(mat_file(as_uint8 + mat_compressed(as_int16)), "f");
  EXPECT_THAT(variables[0].numbers, ElementsAre(200, 1));
  EXPECT_THAT(variables[1].numbers, ElementsAre(-1, 2));
}

TEST(Mat5, TextInUtf16AndInSeveralRows) {
  const std::string utf16 = mat_array(4, 1, 2, "a", mat_element(4, std::string("\xE4\x00\x61\x00", 4)));
  const std::string pair = mat_array(4, 1, 2, "b", mat_element(17, std::string("\x3D\xD8\x37\xDE", 4)));
  const std::string rows = mat_array(4, 2, 2, "c", mat_element(16, "acbd"));
  const auto variables = read_mat5(mat_file(utf16 + pair + rows), "f");
  EXPECT_EQ(variables[0].text, "äa");
  EXPECT_EQ(variables[1].text, "\xF0\x9F\x98\xB7");
  EXPECT_EQ(variables[2].text, "ab\ncd");
}

TEST(Mat5, SparseArraysAndObjectsAreNamedAndLeftOut) {
  const auto variables = read_mat5(
      mat_file(mat_array(5, 3, 3, "sparse", mat_element(5, "")) + mat_numbers({{1}}, "after")), "f");
  ASSERT_EQ(variables.size(), 2u);
  EXPECT_EQ(variables[0].kind, MatKind::kOther);
  EXPECT_EQ(variables[0].name, "sparse");
  EXPECT_EQ(variables[1].name, "after");
}

TEST(Mat5, BigEndianFiles) {
  const auto be32 = [](std::uint32_t v) {
    std::string s = u32(v);
    return std::string(s.rbegin(), s.rend());
  };
  std::string content = be32(6) + be32(8) + be32(10) + be32(0) + be32(5) + be32(8) + be32(1) + be32(1) +
                        be32(1) + be32(1) + "v" + std::string(7, '\0') + be32(3) + be32(2) +
                        std::string("\x01\x02", 2) + std::string(6, '\0');
  std::string file(124, ' ');
  file +=
      std::string("\x01\x00MI", 4) + be32(14) + be32(static_cast<std::uint32_t>(content.size())) + content;
  const auto variables = read_mat5(file, "f");
  ASSERT_EQ(variables.size(), 1u);
  EXPECT_THAT(variables[0].numbers, ElementsAre(0x0102));
}

TEST(Mat5, OtherVersionsAreRefusedByName) {
  EXPECT_THAT(refusal("\x89HDF\r\n\x1a\n"), HasSubstr("7.3"));
  std::string v73 = "MATLAB 7.3 MAT-file";
  v73.resize(512, ' ');
  EXPECT_THAT(refusal(v73 + "\x89HDF\r\n\x1a\n"), HasSubstr("HDF5"));
  EXPECT_THAT(refusal(""), HasSubstr("no MATLAB file"));
  EXPECT_THAT(refusal(std::string(300, 'x')), HasSubstr("no MATLAB file"));
}

TEST(Mat5, ALieAboutASizeIsRefusedWithItsPlace) {
  const std::string good = mat_numbers({{1, 2}}, "m");
  EXPECT_THAT(refusal(mat_file(good.substr(0, good.size() - 8))), HasSubstr("at byte 128"));
  EXPECT_THAT(refusal(mat_file(mat_array(6, 1000, 1000, "m", mat_element(9, std::string(8, '\0'))))),
              HasSubstr("1 numbers in an array of 1000000"));
  EXPECT_THAT(refusal(mat_file(mat_array(1, 1u << 20, 1u << 10, "c", ""))),
              HasSubstr("arrays where 0 bytes"));
  EXPECT_THAT(refusal(mat_file(mat_array(6, 1u << 31, 1, "m", ""))), HasSubstr("a dimension of"));
}

TEST(Mat5, NestingIsLimited) {
  std::string array = mat_numbers({{1}});
  for (int i = 0; i < 100; ++i) array = mat_cells({array}, "c");
  EXPECT_THAT(refusal(mat_file(array)), HasSubstr("nested"));
}

TEST(Mat5, WhatIsInflatedAndKeptIsLimited) {
  const std::string zeros = mat_array(6, 1, 1u << 20, "z", mat_element(2, std::string(1u << 20, '\0')));
  const std::string file = mat_file(mat_compressed(zeros));
  EXPECT_LT(file.size(), 4096u);
  EXPECT_EQ(refusal(file), "");
  EXPECT_THAT(refusal(file, {.inflated_bytes = 1u << 16}), HasSubstr("longer than 65536 bytes"));
  EXPECT_THAT(refusal(file, {.kept_bytes = 1u << 20}), HasSubstr("holds more than"));
  std::string damaged = file;
  damaged[200] = static_cast<char>(damaged[200] ^ 0x55);
  EXPECT_THAT(refusal(damaged), HasSubstr("broken MATLAB file"));
}

}  // namespace
}  // namespace maskfit::formats
