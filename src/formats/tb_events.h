#pragma once

// TensorBoard event files: a TFRecord file of Event messages (tensorboard.proto), the first of which states
// the version. TensorBoard finds them by "tfevents" in the name and reads all files of a folder in the order
// of their names.

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace maskfit::formats {

struct TbScalar {
  double wall_time = 0;  // seconds since 1970
  std::int64_t step = 0;
  std::string tag;  // "loss/total"; the part before the slash groups the charts
  float value = 0;
};

// Appends to one event file. Every event is written out at once, so that a live TensorBoard sees it and a
// killed run loses at most the event being written. Not thread-safe.
class TbEventWriter {
 public:
  // Creates FOLDER/events.out.tfevents.<seconds>.<host>.<process>.<n>; never appends to a file that exists,
  // so a resumed run gets a new one. Throws base::Error (kFailed) with the system's reason.
  explicit TbEventWriter(const std::filesystem::path& folder);

  void scalar(const std::string& tag, std::int64_t step, float value);
  // Shown as Markdown.
  void text(const std::string& tag, std::int64_t step, const std::string& markdown);
  // `encoded` is a PNG or JPEG of width x height pixels.
  void image(const std::string& tag, std::int64_t step, int width, int height, std::string_view encoded);

  const std::filesystem::path& path() const { return path_; }

 private:
  void write(std::string_view payload);

  std::filesystem::path path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

// The scalars of an event file in file order. Throws base::Error (kRefused) for a damaged record; a torn last
// record (the run was killed, or is writing) ends the list quietly.
std::vector<TbScalar> read_tb_scalars(const std::filesystem::path& path);

}  // namespace maskfit::formats
