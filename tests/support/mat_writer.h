#pragma once

// Small MATLAB files of level 5 for tests, written from the format's description, not with the reader's
// constants.

#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace maskfit::support {

inline std::string u32(std::uint32_t value) {
  return std::string(reinterpret_cast<const char*>(&value), 4);
}

// type, size, data, padding to 8 bytes
inline std::string mat_element(std::uint32_t type, const std::string& data) {
  return u32(type) + u32(static_cast<std::uint32_t>(data.size())) + data +
         std::string((8 - data.size() % 8) % 8, '\0');
}

inline std::string mat_array(std::uint32_t array_class, std::uint32_t rows, std::uint32_t columns,
                             const std::string& name, const std::string& content) {
  return mat_element(14, mat_element(6, u32(array_class) + u32(0)) +
                             mat_element(5, u32(rows) + u32(columns)) + mat_element(1, name) + content);
}

inline std::string mat_text(const std::string& text, const std::string& name = "") {
  return mat_array(4, 1, static_cast<std::uint32_t>(text.size()), name, mat_element(16, text));
}

// Rows of numbers as doubles, column-major.
inline std::string mat_numbers(const std::vector<std::vector<double>>& rows, const std::string& name = "") {
  const std::size_t columns = rows.empty() ? 0 : rows[0].size();
  std::string data;
  for (std::size_t c = 0; c < columns; ++c) {
    for (const auto& row : rows) data.append(reinterpret_cast<const char*>(&row[c]), 8);
  }
  return mat_array(6, static_cast<std::uint32_t>(rows.size()), static_cast<std::uint32_t>(columns), name,
                   mat_element(9, data));
}

// A column of cells.
inline std::string mat_cells(const std::vector<std::string>& arrays, const std::string& name = "") {
  std::string content;
  for (const std::string& array : arrays) content += array;
  return mat_array(1, static_cast<std::uint32_t>(arrays.size()), 1, name, content);
}

// A 1 x n struct array; `values` goes element by element, field by field.
inline std::string mat_struct(const std::vector<std::string>& fields, const std::vector<std::string>& values,
                              const std::string& name) {
  std::string names, content;
  for (const std::string& field : fields) names += field + std::string(32 - field.size(), '\0');
  content = u32(0x00040005) + u32(32) + mat_element(1, names);
  for (const std::string& value : values) content += value;
  return mat_array(2, 1, static_cast<std::uint32_t>(values.size() / fields.size()), name, content);
}

inline std::string mat_file(const std::string& variables) {
  std::string header = "MATLAB 5.0 MAT-file, made for a test";
  header.resize(124, ' ');
  return header + std::string("\x00\x01IM", 4) + variables;
}

// A variable as -v7 stores it.
inline std::string mat_compressed(const std::string& variable) {
  uLongf size = compressBound(static_cast<uLong>(variable.size()));
  std::string packed(size, '\0');
  compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(variable.data()),
            static_cast<uLong>(variable.size()), 9);
  packed.resize(size);
  return u32(15) + u32(static_cast<std::uint32_t>(size)) + packed;
}

}  // namespace maskfit::support
