#include "fetch/archive_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/error.h"
#include "base/files.h"
#include "fetch/entry_name.h"
#include "fetch/placer.h"
#include "tests/support/archive_writer.h"
#include "tests/support/temp_dir.h"

namespace maskfit::fetch {
namespace {
namespace fs = std::filesystem;
using support::ArchiveMember;
using support::make_archive;
using testing::ElementsAre;
using testing::HasSubstr;

// Keeps everything.
class Keeper : public ArchiveVisitor {
 public:
  void on_entry(const ArchiveEntry& entry, EntryReader& reader) override {
    std::string& content = files[entry.path];
    for (std::string_view bytes = reader.read(); !bytes.empty(); bytes = reader.read()) content += bytes;
  }
  bool enter(const ArchiveEntry&) override { return true; }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& [name, content] : files) names.push_back(name);
    return names;
  }
  std::map<std::string, std::string> files;
};

class ArchiveTest : public testing::Test {
 protected:
  ArchiveWalk walk(const std::string& bytes, const ArchiveLimits& limits = {}) {
    base::write_file(folder_ / "a.bin", bytes);
    keeper_ = {};
    return walk_archive(folder_ / "a.bin", folder_.path(), limits, keeper_, {});
  }
  // The faults of a walk, in order.
  std::vector<ArchiveFault> faults(const ArchiveWalk& walk) {
    std::vector<ArchiveFault> all;
    for (const ArchiveProblem& problem : walk.problems) all.push_back(problem.fault);
    return all;
  }

  support::TempDir folder_;
  Keeper keeper_;
};

const std::vector<ArchiveMember> kTwo = {{"a/one.txt", "1", ""},
                                         {"a/b/two.bin", std::string(100'000, 'x'), ""}};

TEST_F(ArchiveTest, EveryKindGivesTheSameFiles) {
  for (const auto& [format, filter] : {std::pair{"zip", "none"},
                                       {"7zip", "none"},
                                       {"gnutar", "none"},
                                       {"pax", "gzip"},
                                       {"ustar", "xz"},
                                       {"gnutar", "zstd"},
                                       {"gnutar", "bzip2"}}) {
    const ArchiveWalk result = walk(make_archive(kTwo, format, filter));
    EXPECT_TRUE(result.problems.empty()) << format << " " << filter;
    EXPECT_THAT(keeper_.names(), ElementsAre("a/b/two.bin", "a/one.txt")) << format << " " << filter;
    EXPECT_EQ(keeper_.files["a/b/two.bin"], kTwo[1].content) << format;
    EXPECT_EQ(keeper_.files["a/one.txt"], "1") << format;
  }
}

TEST_F(ArchiveTest, ArchivesInArchivesAreEntered) {
  const std::string inner = make_archive(kTwo, "7zip");
  const std::string middle = make_archive({{"in.7z", inner, ""}, {"x", "y", ""}}, "gnutar", "gzip");
  const ArchiveWalk result = walk(make_archive({{"d/m.tgz", middle, ""}}, "zip"));
  EXPECT_TRUE(result.problems.empty());
  EXPECT_THAT(keeper_.names(),
              ElementsAre("d/m.tgz/in.7z/a/b/two.bin", "d/m.tgz/in.7z/a/one.txt", "d/m.tgz/x"));
  EXPECT_THAT(std::distance(fs::directory_iterator(folder_.path()), {}), 1) << "scratch files were left";
  ArchiveLimits flat;
  flat.depth = 2;
  EXPECT_THAT(faults(walk(make_archive({{"d/m.tgz", middle, ""}}, "zip"), flat)),
              ElementsAre(ArchiveFault::kDepth));
  EXPECT_THAT(keeper_.names(), ElementsAre("d/m.tgz/x"));
}

TEST_F(ArchiveTest, WaysOutOfTheFolderAreRefused) {
  const ArchiveWalk result = walk(make_archive({{"../up", "1", ""},
                                                {"/etc/passwd", "2", ""},
                                                {"a/../../b", "3", ""},
                                                {"C:\\x", "4", ""},
                                                {"..\\y", "5", ""},
                                                {"fine", "6", ""},
                                                {"link", "", "/etc/passwd"}},
                                               "gnutar"));
  EXPECT_THAT(keeper_.names(), ElementsAre("fine"));
  EXPECT_THAT(faults(result), ElementsAre(ArchiveFault::kEscape, ArchiveFault::kLinks));
  EXPECT_EQ(result.problems[0].count, 5u);
}

TEST_F(ArchiveTest, BombIsStopped) {
  ArchiveLimits small;
  small.ratio_from_bytes = 1 << 20;
  for (const char* format : {"zip", "7zip"}) {
    const ArchiveWalk result =
        walk(make_archive({{"zeros", std::string(20 << 20, '\0'), ""}, {"b", "b", ""}}, format), small);
    EXPECT_THAT(faults(result), ElementsAre(ArchiveFault::kBomb)) << format;
    EXPECT_EQ(keeper_.files.count("b"), 0u);
  }
  // The size is not stated up front in a packed tar's packing: counted while it unpacks.
  EXPECT_THAT(
      faults(walk(make_archive({{"zeros", std::string(20 << 20, '\0'), ""}}, "gnutar", "gzip"), small)),
      ElementsAre(ArchiveFault::kBomb));
  ArchiveLimits few;
  few.entries = 1;
  EXPECT_THAT(faults(walk(make_archive(kTwo, "zip"), few)), ElementsAre(ArchiveFault::kBomb));
}

TEST_F(ArchiveTest, BombInsideAnArchiveIsStopped) {
  ArchiveLimits small;
  small.ratio_from_bytes = 1 << 20;
  const std::string bomb = make_archive({{"zeros", std::string(30 << 20, '\0'), ""}}, "zip");
  EXPECT_THAT(faults(walk(make_archive({{"inner.zip", bomb, ""}}, "zip"), small)),
              ElementsAre(ArchiveFault::kBomb));
}

TEST_F(ArchiveTest, TornArchiveGivesWhatComesBefore) {
  std::string noise(200'000, '\0');
  std::uint32_t x = 7;
  for (char& c : noise) c = static_cast<char>((x = x * 1664525u + 1013904223u) >> 24u);
  const std::vector<ArchiveMember> three = {{"1", noise, ""}, {"2", noise, ""}, {"3", noise, ""}};
  for (const auto& [format, filter] : {std::pair{"zip", "none"}, {"gnutar", "none"}, {"gnutar", "gzip"}}) {
    const std::string whole = make_archive(three, format, filter);
    const ArchiveWalk result = walk(whole.substr(0, 350'000));
    EXPECT_THAT(faults(result), ElementsAre(ArchiveFault::kTorn)) << format << " " << filter;
    EXPECT_EQ(keeper_.files["1"], noise) << format << " " << filter;
  }
  const std::string seven = make_archive(three, "7zip");  // its table of contents lies at the end
  EXPECT_FALSE(walk(seven.substr(0, seven.size() / 2)).problems.empty());
  EXPECT_EQ(keeper_.files.size(), 0u);
  EXPECT_THAT(faults(walk("this is no archive")), ElementsAre(ArchiveFault::kUnreadable));
  EXPECT_THAT(walk("").entries, 0u);
}

TEST_F(ArchiveTest, EncryptedFilesAreNamed) {
  const ArchiveWalk result = walk(make_archive(kTwo, "zip", "none", "secret"));
  EXPECT_THAT(faults(result), ElementsAre(ArchiveFault::kEncrypted));
  EXPECT_EQ(result.problems[0].count, 2u);
  EXPECT_THAT(result.problems[0].what, HasSubstr("one.txt"));
  EXPECT_TRUE(keeper_.files.empty());
}

TEST_F(ArchiveTest, NamesOfOtherEncodings) {
  walk(make_archive({{"\xbf\xda\xd5\xd6/1.jpg", "gbk", ""}, {"\xe5\x8f\xa3\xe7\xbd\xa9/2.jpg", "utf", ""}},
                    "zip"));
  EXPECT_THAT(keeper_.names(),
              ElementsAre("\xe5\x8f\xa3\xe7\xbd\xa9/1.jpg", "\xe5\x8f\xa3\xe7\xbd\xa9/2.jpg"));
}

TEST_F(ArchiveTest, CtrlCEndsTheWalk) {
  const std::atomic<bool> stop{true};
  base::write_file(folder_ / "a", make_archive(kTwo, "zip"));
  EXPECT_THROW(walk_archive(folder_ / "a", folder_.path(), {}, keeper_, base::StopToken(&stop)), base::Error);
}

// Every byte of a small archive in turn, and every length of it: no crash, no hang, nothing outside.
TEST_F(ArchiveTest, BentArchivesDoNoHarm) {
  for (const char* format : {"zip", "gnutar", "7zip"}) {
    const std::string whole = make_archive({{"a/one.txt", "some text", ""}, {"b", "more", ""}}, format);
    std::size_t step = std::max<std::size_t>(1, whole.size() / 150);
    for (std::size_t i = 0; i < whole.size(); i += step) {
      std::string bent = whole;
      bent[i] = static_cast<char>(bent[i] ^ 0xff);
      walk(bent);
      for (const auto& [name, content] : keeper_.files) EXPECT_EQ(entry_name(name).path, name);
      walk(whole.substr(0, i));
    }
  }
}

TEST(EntryName, IsMadeSafe) {
  EXPECT_EQ(entry_name("./a//b/./c").path, "a/b/c");
  EXPECT_FALSE(entry_name("./a//b/./c").escapes);
  EXPECT_FALSE(entry_name("a..b/..c").escapes);
  EXPECT_EQ(entry_name("a\\b").path, "a/b");
  for (const char* out : {"..", "a/../b", "/a", "\\a", "c:/a", "C:a"})
    EXPECT_TRUE(entry_name(out).escapes) << out;
  EXPECT_EQ(entry_name("a\nb\x7f").path, "ab");
}

TEST(EntryName, Utf8) {
  EXPECT_TRUE(is_utf8("a\xc3\xa9\xe5\x8f\xa3\xf0\x9f\x98\xb7"));
  for (const char* wrong : {"\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xc3", "\x80"}) {
    EXPECT_FALSE(is_utf8(wrong));
  }
  EXPECT_EQ(to_utf8("\xbf\xda\xd5\xd6"), "\xe5\x8f\xa3\xe7\xbd\xa9");
  EXPECT_EQ(to_utf8("a\xff"), "a%FF");
}

class PlacerTest : public testing::Test {
 protected:
  Placed write(Placer& placer, const std::string& content, const char* target, bool overwrite = false) {
    bool given = false;
    // Both sides of the question are views: a text of one of them would be a copy that is gone when it is
    // read.
    const auto next = [&] {
      return std::exchange(given, true) ? std::string_view() : std::string_view(content);
    };
    return placer.write(next, target, overwrite);
  }
  support::TempDir folder_;
};

TEST_F(PlacerTest, FilesAppearWholeAndDifferentOnesStay) {
  {
    Placer placer(folder_ / "to");
    EXPECT_EQ(write(placer, "one", "a/b.txt"), Placed::kCopied);
    EXPECT_EQ(write(placer, "one", "a/b.txt"), Placed::kWasThere);
    EXPECT_EQ(write(placer, "two", "a/b.txt"), Placed::kDiffers);
    EXPECT_EQ(base::read_file(folder_ / "to/a/b.txt"), "one");
    EXPECT_EQ(write(placer, "two", "a/b.txt", true), Placed::kCopied);
    EXPECT_THROW(placer.write([]() -> std::string_view { throw std::runtime_error("torn"); }, "c", false),
                 std::runtime_error);
    EXPECT_THROW(Placer(folder_ / "to"), base::Error) << "two processes at once";
  }
  EXPECT_FALSE(fs::exists(folder_ / "to/c"));
  EXPECT_FALSE(fs::exists(folder_ / "to/.maskfit-tmp"));
}

TEST_F(PlacerTest, LinksShareTheFileCopiesDoNot) {
  base::write_file(folder_ / "source", "text");
  fs::create_symlink(folder_ / "source", folder_ / "link");
  fs::create_directories(folder_ / "to/.maskfit-tmp");
  base::write_file(folder_ / "to/.maskfit-tmp/0", "left by a killed run");
  Placer placer(folder_ / "to");
  EXPECT_EQ(placer.link(folder_ / "source", "linked", false, false, {}), Placed::kLinked);
  EXPECT_EQ(placer.link(folder_ / "source", "linked", false, false, {}), Placed::kWasThere);
  EXPECT_EQ(placer.link(folder_ / "link", "through", false, false, {}), Placed::kLinked);
  EXPECT_EQ(placer.link(folder_ / "source", "copied", false, true, {}), Placed::kCopied);
  EXPECT_TRUE(fs::equivalent(folder_ / "source", folder_ / "to/linked"));
  EXPECT_FALSE(fs::is_symlink(folder_ / "to/through"));
  EXPECT_FALSE(fs::equivalent(folder_ / "source", folder_ / "to/copied"));
  EXPECT_EQ(base::read_file(folder_ / "to/copied"), "text");
  base::write_file(folder_ / "to/empty", "");
  EXPECT_EQ(placer.link(folder_ / "source", "empty", false, false, {}), Placed::kLinked);
}

}  // namespace
}  // namespace maskfit::fetch
