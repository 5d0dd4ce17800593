#include "tests/support/archive_writer.h"

#include <archive.h>
#include <archive_entry.h>

#include <stdexcept>

namespace maskfit::support {
namespace {

la_ssize_t append(archive*, void* to, const void* bytes, size_t size) {
  static_cast<std::string*>(to)->append(static_cast<const char*>(bytes), size);
  return static_cast<la_ssize_t>(size);
}

void require(archive* handle, int status) {
  if (status >= ARCHIVE_WARN) return;
  const char* text = archive_error_string(handle);
  throw std::runtime_error(text == nullptr ? "libarchive failed" : text);
}

}  // namespace

std::string make_archive(const std::vector<ArchiveMember>& members, const std::string& format,
                         const std::string& filter, const std::string& password) {
  std::string bytes;
  archive* out = archive_write_new();
  require(out, archive_write_set_format_by_name(out, format.c_str()));
  if (filter != "none") require(out, archive_write_add_filter_by_name(out, filter.c_str()));
  if (!password.empty()) {
    require(out, archive_write_set_options(out, "zip:encryption=aes256"));
    require(out, archive_write_set_passphrase(out, password.c_str()));
  }
  archive_write_set_bytes_in_last_block(out, 1);
  require(out, archive_write_open(out, &bytes, nullptr, append, nullptr));
  for (const ArchiveMember& member : members) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, member.name.c_str());
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_filetype(entry, member.link_to.empty() ? AE_IFREG : AE_IFLNK);
    archive_entry_set_size(entry, static_cast<la_int64_t>(member.content.size()));
    if (!member.link_to.empty()) archive_entry_set_symlink(entry, member.link_to.c_str());
    require(out, archive_write_header(out, entry));
    if (!member.content.empty()) archive_write_data(out, member.content.data(), member.content.size());
    archive_entry_free(entry);
  }
  require(out, archive_write_close(out));
  archive_write_free(out);
  return bytes;
}

}  // namespace maskfit::support
