#include "fetch/disk.h"

#include "base/error.h"

namespace maskfit::fetch {
namespace fs = std::filesystem;

fs::path existing_ancestor(const fs::path& path) {
  std::error_code ignored;
  fs::path at = fs::absolute(path).lexically_normal();
  while (!fs::exists(at, ignored) && at != at.parent_path()) at = at.parent_path();
  return at;
}

std::uint64_t free_bytes(const fs::path& path) {
  std::error_code error;
  const fs::space_info space = fs::space(existing_ancestor(path), error);
  if (error) {
    throw base::Error(base::ExitCode::kMachine, "cannot ask for the free disk space: " + error.message(),
                      path.string());
  }
  return space.available;
}

void require_free(const fs::path& path, std::uint64_t bytes, std::uint64_t spare, const std::string& what) {
  const std::uint64_t available = free_bytes(path);
  if (available >= spare && available - spare >= bytes) return;
  throw base::Error(
      base::ExitCode::kMachine,
      fmt::format("{} needs {} of disk, {} are free", what, format_bytes(bytes), format_bytes(available)),
      path.string(),
      fmt::format("free some space (maskfit leaves {} untouched) or give another folder",
                  format_bytes(spare)));
}

std::string format_bytes(std::uint64_t bytes) {
  const double n = static_cast<double>(bytes);
  if (bytes < (1u << 10)) return fmt::format("{} bytes", bytes);
  if (bytes < (1u << 20)) return fmt::format("{:.1f} KiB", n / (1 << 10));
  if (bytes < (1u << 30)) return fmt::format("{:.1f} MiB", n / (1 << 20));
  return fmt::format("{:.2f} GiB", n / (1 << 30));
}

}  // namespace maskfit::fetch
