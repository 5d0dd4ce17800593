#pragma once

// NAME.part and NAME.part.json: a download that is under way or was interrupted.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace maskfit::fetch {

// What makes two downloads parts of one file.
struct PartState {
  std::string url;                // as asked for
  std::string validator;          // strong ETag or Last-Modified; "" when the server names neither
  std::uint64_t total_bytes = 0;  // 0: not known
  std::string file_name;          // what the server calls it; may be ""
};

// Opens or makes the file; one process at a time may hold it. Throws Error (kFailed) when another one does,
// (kMachine) when the disk is full.
class PartFile {
 public:
  // `path` without ".part". A part of another address is thrown away.
  PartFile(const std::filesystem::path& path, const std::string& url);
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  std::uint64_t size() const { return size_; }
  const PartState& state() const { return state_; }
  void set_state(const PartState& state);  // written when it differs
  void restart();                          // empty again
  void append(std::string_view bytes);
  // Synced, renamed to `target`, the JSON removed. The object is of no use afterwards.
  void finish(const std::filesystem::path& target);
  void discard();  // removes both files
  const std::filesystem::path& part_path() const { return part_path_; }

 private:
  std::filesystem::path part_path_, state_path_;
  PartState state_;
  std::uint64_t size_ = 0;
  int fd_ = -1;
};

}  // namespace maskfit::fetch
