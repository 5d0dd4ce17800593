#include "cli/standard_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace maskfit::cli {
namespace {

constexpr std::size_t kBufferSize = 64 * 1024;

}  // namespace

void reserve_standard_descriptors() {
  for (const int wanted : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(wanted, F_GETFD) >= 0) continue;
    // The wrong way round on purpose: reading fails with EBADF, and so does writing. open() gives the lowest
    // free number, which is this one.
    const int opened = ::open("/dev/null", wanted == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    if (opened >= 0 && opened != wanted) ::close(opened);
  }
}

DescriptorBuffer::DescriptorBuffer(int descriptor)
    : descriptor_(descriptor), by_line_(::isatty(descriptor) == 1) {}

DescriptorBuffer::~DescriptorBuffer() {
  sync();
}

int DescriptorBuffer::sync() {
  std::string_view rest = pending_;
  while (!rest.empty() && error_ == 0) {
    const ssize_t n = ::write(descriptor_, rest.data(), rest.size());
    if (n >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno != EINTR) {
      error_ = errno;
    }
  }
  pending_.clear();
  return error_ == 0 ? 0 : -1;
}

bool DescriptorBuffer::append(std::string_view text) {
  pending_ += text;
  const bool line_is_due = by_line_ && text.find('\n') != std::string_view::npos;
  if (line_is_due || pending_.size() >= kBufferSize) sync();
  return error_ == 0;
}

DescriptorBuffer::int_type DescriptorBuffer::overflow(int_type c) {
  if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
  const char character = traits_type::to_char_type(c);
  return append({&character, 1}) ? c : traits_type::eof();
}

std::streamsize DescriptorBuffer::xsputn(const char* text, std::streamsize size) {
  return append({text, static_cast<std::size_t>(size)}) ? size : 0;
}

void require_written(std::ostream& out) {
  out.flush();
  if (out) return;
  const auto* buffer = dynamic_cast<const DescriptorBuffer*>(out.rdbuf());
  const std::string reason = buffer != nullptr ? std::strerror(buffer->error()) : "the stream is broken";
  throw base::Error(
      base::ExitCode::kFailed, "cannot write to stdout: " + reason, "",
      "what the command printed is lost; free the disk, or redirect it elsewhere, and run it again");
}

}  // namespace maskfit::cli
