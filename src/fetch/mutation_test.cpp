// Archives from strangers: the walk ends with entries and problems whatever the bytes.

#include <gtest/gtest.h>

#include <fstream>

#include "fetch/address.h"
#include "fetch/archive_reader.h"
#include "tests/support/archive_writer.h"
#include "tests/support/mutation.h"
#include "tests/support/temp_dir.h"

namespace maskfit::fetch {
namespace {

class Reading : public ArchiveVisitor {
 public:
  void on_entry(const ArchiveEntry&, EntryReader& reader) override {
    for (std::string_view block = reader.read(); !block.empty(); block = reader.read()) bytes += block.size();
  }
  bool enter(const ArchiveEntry&) override { return true; }

  std::uint64_t bytes = 0;
};

TEST(Mutations, Archives) {
  const support::TempDir folder;
  const std::string inner = support::make_archive({{"deep.txt", "deep", ""}}, "zip");
  for (const auto& [format, filter] :
       {std::pair("zip", "none"), {"7zip", "none"}, {"gnutar", "gzip"}, {"pax", "xz"}}) {
    const std::string good = support::make_archive(
        {{"a/b.txt", std::string(3000, 'x'), ""}, {"in.zip", inner, ""}, {"link", "", "/etc/passwd"}}, format,
        filter);
    support::expect_survives(
        good,
        [&](const std::string& bytes) {
          std::ofstream(folder / "archive", std::ios::binary) << bytes;
          Reading visitor;
          ArchiveLimits limits;
          limits.total_bytes = 1 << 20;
          walk_archive(folder / "archive", folder.path(), limits, visitor, {});
          EXPECT_LE(visitor.bytes, limits.total_bytes + (1 << 20));
        },
        support::mutation_rounds(150));
  }
}

TEST(Mutations, Addresses) {
  support::expect_survives("https://user:p@[::1]:8443/a/file/d/x_-1/view?dl=0&id=3#top",
                           [](const std::string& url) {
                             direct_address(url);
                             resolve_link(url, "//x/y?z");
                             may_follow(url, url);
                             file_name_of(url);
                           });
  support::expect_survives(R"(attachment; filename="a \\"b\\".zip"; filename*=UTF-8''%E5%8F%A3.zip; size=3)",
                           [](const std::string& header) { file_name_of_disposition(header); });
}

}  // namespace
}  // namespace maskfit::fetch
