#pragma once

// Standard output that does not lose anything quietly: a pipe that closed, a full disk behind `>` or a
// descriptor that was closed by the caller ends in an error instead of exit code 0.

#include <ostream>
#include <streambuf>
#include <string>

namespace maskfit::cli {

// Opens descriptors 0, 1 and 2 where the caller closed them, such that using them fails. Otherwise the next
// file that the program opens, a checkpoint say, would become its standard output. Call first thing in main.
void reserve_standard_descriptors();

// Writes to a descriptor and remembers why it could not. On a terminal each line appears at once.
class DescriptorBuffer : public std::streambuf {
 public:
  explicit DescriptorBuffer(int descriptor);
  ~DescriptorBuffer() override;

  // errno of the first write that failed; 0 when all went well.
  int error() const { return error_; }

 protected:
  int_type overflow(int_type c) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;

 private:
  bool append(std::string_view text);

  int descriptor_;
  bool by_line_;
  int error_ = 0;
  std::string pending_;
};

// Flushes `out`. Throws base::Error (kFailed) with the system's reason when anything written to it was lost.
void require_written(std::ostream& out);

}  // namespace maskfit::cli
