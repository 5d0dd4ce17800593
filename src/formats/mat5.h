#pragma once

// MATLAB files of level 5 ("-v6" and "-v7"), read from bytes in memory: as much of the format as annotation
// files use. MATLAB's "MAT-File Format" (The MathWorks) describes it:
//
//   128 bytes of header: text, version 0x0100, "IM" (little endian) or "MI"
//   elements: type u32, size u32, data, padded to 8 bytes; a size in the upper half of the first word means
//             that up to 4 bytes of data follow at once ("small element")
//   type 14, an array: flags, dimensions, name, then data; cells and struct fields are arrays again
//   type 15: the same, compressed with zlib
//
// Files come from strangers: each size is checked against the bytes that are left, arrays may nest kMaxDepth
// deep, and what is inflated and what is kept are bounded (MatLimits), so that a few bytes cannot ask for a
// machine's memory.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace maskfit::formats {

enum class MatKind {
  kNumbers,  // any integer or floating type, logicals too
  kText,     // char
  kCells,
  kStruct,
  kOther,  // sparse, object, function: named, its content is left out
};

struct MatArray {
  std::string name;  // "" inside cells and fields
  MatKind kind = MatKind::kNumbers;
  std::vector<std::size_t> dims;         // at least two: rows, columns
  std::vector<double> numbers;           // kNumbers, column-major; of complex numbers the real part
  std::string text;                      // kText, UTF-8; rows of a matrix are joined by '\n'
  std::vector<MatArray> parts;           // kCells: column-major; kStruct: element by element, field by field
  std::vector<std::string> field_names;  // kStruct

  std::size_t rows() const { return dims.empty() ? 0 : dims[0]; }
  std::size_t columns() const { return dims.size() < 2 ? 0 : dims[1]; }
  std::size_t elements() const;
  // A matrix's number; REQUIRES kNumbers, row < rows(), column < columns().
  double at(std::size_t row, std::size_t column) const { return numbers[column * rows() + row]; }
  // A field of a struct array's element, or null when there is no such field.
  const MatArray* field(std::size_t element, std::string_view field_name) const;
};

struct MatLimits {
  std::size_t inflated_bytes = std::size_t{256} << 20;  // of all compressed variables together
  std::size_t kept_bytes = std::size_t{512} << 20;      // of all arrays together
};

inline constexpr int kMatMaxDepth = 16;

bool is_mat_file(std::string_view bytes);  // by the header; level 5 only

// The variables in the order of the file. `file` names it in errors. Throws base::Error (kRefused) with the
// byte where it goes wrong, for files of level 4, of "-v7.3" (which are HDF5), and beyond the limits.
std::vector<MatArray> read_mat5(std::string_view bytes, const std::string& file,
                                const MatLimits& limits = {});

// The variable of this name, or null.
const MatArray* find_variable(const std::vector<MatArray>& variables, std::string_view name);

}  // namespace maskfit::formats
