#include "formats/tfrecord.h"

#include "base/error.h"
#include "base/files.h"
#include "formats/crc32c.h"
#include "formats/little_endian.h"

namespace maskfit::formats {
namespace {

constexpr std::uint64_t kHeader = 12;  // length and its CRC
constexpr std::uint64_t kFooter = 4;   // CRC of the payload

}  // namespace

void append_record(std::string& file_bytes, std::string_view payload) {
  std::string length;
  append_le(length, static_cast<std::uint64_t>(payload.size()));
  file_bytes += length;
  append_le(file_bytes, mask_crc(crc32c(length)));
  file_bytes += payload;
  append_le(file_bytes, mask_crc(crc32c(payload)));
}

bool RecordReader::next(std::string_view* payload) {
  const std::uint64_t left = bytes_.size() - offset_;
  if (left == 0) return false;
  const auto refuse = [&](const std::string& what) {
    throw base::Error(base::ExitCode::kRefused, fmt::format("the record at byte {} {}", offset_, what), name_,
                      "the file is damaged or was not written to its end; convert or copy it again");
  };
  if (left < kHeader) {
    if (options_.stop_at_torn_tail) return false;
    refuse(fmt::format("is cut off: {} of {} header bytes are there", left, kHeader));
  }
  const std::string_view length_bytes = bytes_.substr(offset_, 8);
  const auto length = load_le<std::uint64_t>(length_bytes);
  if (options_.verify_crc && load_le<std::uint32_t>(bytes_, offset_ + 8) != mask_crc(crc32c(length_bytes))) {
    refuse("has a length whose CRC differs (not a TFRecord file, or a damaged one)");
  }
  if (length > left - kHeader || left - kHeader - length < kFooter) {
    if (options_.stop_at_torn_tail) return false;
    refuse(fmt::format("is cut off: {} payload and {} CRC bytes should follow its header, {} do", length,
                       kFooter, left - kHeader));
  }
  const std::string_view body = bytes_.substr(offset_ + kHeader, length);
  if (options_.verify_crc &&
      load_le<std::uint32_t>(bytes_, offset_ + kHeader + length) != mask_crc(crc32c(body))) {
    refuse(fmt::format("has {} payload bytes whose CRC differs", length));
  }
  *payload = body;
  offset_ += kHeader + length + kFooter;
  return true;
}

std::vector<std::string> read_records(const std::filesystem::path& path, RecordOptions options) {
  const std::string bytes = base::read_file(path);
  RecordReader reader(bytes, path.string(), options);
  std::vector<std::string> records;
  for (std::string_view payload; reader.next(&payload);) records.emplace_back(payload);
  return records;
}

}  // namespace maskfit::formats
