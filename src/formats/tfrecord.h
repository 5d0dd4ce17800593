#pragma once

// TFRecord framing (docs/tfrecord-format.md): records one after the other, no header, no footer.
//
//   u64 LE length | u32 LE masked CRC of the 8 length bytes | payload | u32 LE masked CRC of the payload
//
// An empty file holds no records.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace maskfit::formats {

void append_record(std::string& file_bytes, std::string_view payload);

struct RecordOptions {
  bool verify_crc = true;
  // A last record that is cut off ends the file quietly: its writer is busy or was killed.
  bool stop_at_torn_tail = false;
};

// Walks over the records of `file_bytes`; the views point into it. Throws base::Error (kRefused) with the
// byte offset of the record that is cut off or whose CRC differs; what was read before stays valid.
class RecordReader {
 public:
  RecordReader(std::string_view file_bytes, std::string name_for_errors, RecordOptions options = {})
      : bytes_(file_bytes), name_(std::move(name_for_errors)), options_(options) {}

  // False at the end.
  bool next(std::string_view* payload);
  // Where the next record begins.
  std::uint64_t offset() const { return offset_; }

 private:
  std::string_view bytes_;
  std::string name_;
  RecordOptions options_;
  std::uint64_t offset_ = 0;
};

// All records of a file.
std::vector<std::string> read_records(const std::filesystem::path& path, RecordOptions options = {});

}  // namespace maskfit::formats
