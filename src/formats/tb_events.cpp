#include "formats/tb_events.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>

#include "base/error.h"
#include "base/files.h"
#include "formats/tensorboard.pb.h"
#include "formats/tfrecord.h"

namespace maskfit::formats {
namespace fs = std::filesystem;
namespace {

constexpr int kDtString = 7;       // TensorFlow's DataType
constexpr int kColorspaceRgb = 3;  // TensorBoard's Image
constexpr const char* kVersion = "brain.Event:2";

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string host_name() {
  char name[256] = "localhost";
  ::gethostname(name, sizeof(name) - 1);
  return name;
}

tensorboard::Event event_at(std::int64_t step) {
  tensorboard::Event event;
  event.set_wall_time(now_seconds());
  event.set_step(step);
  return event;
}

tensorboard::Summary::Value* add_value(tensorboard::Event& event, const std::string& tag) {
  auto* value = event.mutable_summary()->add_value();
  value->set_tag(tag);
  return value;
}

}  // namespace

TbEventWriter::TbEventWriter(const fs::path& folder) : file_(nullptr, &std::fclose) {
  std::error_code error;
  fs::create_directories(folder, error);
  const std::string stem = fmt::format("events.out.tfevents.{:010d}.{}.{}",
                                       static_cast<std::int64_t>(now_seconds()), host_name(), ::getpid());
  int opened_errno = EEXIST;
  for (int n = 0; !file_ && opened_errno == EEXIST; ++n) {
    path_ = folder / fmt::format("{}.{}", stem, n);
    file_.reset(std::fopen(path_.c_str(), "wbx"));
    opened_errno = errno;
  }
  if (!file_) {
    throw base::Error(base::ExitCode::kFailed,
                      fmt::format("cannot create the event file: {}", std::strerror(opened_errno)),
                      path_.string());
  }
  tensorboard::Event version;
  version.set_wall_time(now_seconds());
  version.set_file_version(kVersion);
  write(version.SerializeAsString());
}

void TbEventWriter::write(std::string_view payload) {
  std::string record;
  append_record(record, payload);
  if (std::fwrite(record.data(), 1, record.size(), file_.get()) != record.size() ||
      std::fflush(file_.get()) != 0) {
    throw base::Error(base::ExitCode::kFailed,
                      fmt::format("cannot write the event file: {}", std::strerror(errno)), path_.string(),
                      errno == ENOSPC ? "free some disk space and resume" : "");
  }
}

void TbEventWriter::scalar(const std::string& tag, std::int64_t step, float value) {
  tensorboard::Event event = event_at(step);
  add_value(event, tag)->set_simple_value(value);
  write(event.SerializeAsString());
}

void TbEventWriter::text(const std::string& tag, std::int64_t step, const std::string& markdown) {
  tensorboard::Event event = event_at(step);
  auto* value = add_value(event, tag);
  value->mutable_metadata()->mutable_plugin_data()->set_plugin_name("text");
  auto* tensor = value->mutable_tensor();
  tensor->set_dtype(kDtString);
  tensor->mutable_tensor_shape()->add_dim()->set_size(1);
  tensor->add_string_val(markdown);
  write(event.SerializeAsString());
}

void TbEventWriter::image(const std::string& tag, std::int64_t step, int width, int height,
                          std::string_view encoded) {
  tensorboard::Event event = event_at(step);
  auto* image = add_value(event, tag)->mutable_image();
  image->set_width(width);
  image->set_height(height);
  image->set_colorspace(kColorspaceRgb);
  image->set_encoded_image_string(encoded.data(), encoded.size());
  write(event.SerializeAsString());
}

std::vector<TbScalar> read_tb_scalars(const fs::path& path) {
  const std::string bytes = base::read_file(path);
  RecordReader reader(bytes, path.string(), {.verify_crc = true, .stop_at_torn_tail = true});
  std::vector<TbScalar> scalars;
  for (std::string_view payload; reader.next(&payload);) {
    tensorboard::Event event;
    if (!event.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) {
      throw base::Error(base::ExitCode::kRefused,
                        fmt::format("the record before byte {} is no event", reader.offset()), path.string());
    }
    for (const auto& value : event.summary().value()) {
      if (!value.has_simple_value()) continue;
      scalars.push_back({event.wall_time(), event.step(), value.tag(), value.simple_value()});
    }
  }
  return scalars;
}

}  // namespace maskfit::formats
