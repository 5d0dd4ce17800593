// `maskfit data get` from its words to what it prints; the transfer itself is tested in
// fetch/download_test.cpp.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "base/files.h"
#include "cli/app.h"
#include "cli/transfer_progress.h"
#include "dataset/public_sets.h"
#include "fetch/address.h"
#include "fetch/file_digest.h"
#include "tests/support/archive_writer.h"
#include "tests/support/http_server.h"
#include "tests/support/temp_dir.h"

namespace maskfit::cli {
namespace {

using support::HttpConnection;
using support::HttpRequest;
using testing::HasSubstr;

struct Outcome {
  int code = 0;
  std::string out, err;
};

class DataGet : public testing::Test {
 protected:
  void SetUp() override {
    // Nobody's own token may reach these tests.
    ::setenv("KAGGLE_CONFIG_DIR", folder_.path().c_str(), 1);
    ::unsetenv("KAGGLE_USERNAME");
    ::unsetenv("KAGGLE_KEY");
  }

  Outcome get(std::vector<std::string> words) {
    words.insert(words.begin(), {"data", "get"});
    std::ostringstream out, err;
    testing::internal::CaptureStdout();
    const int code = run(words, command_table(), out, err);
    return {code, testing::internal::GetCapturedStdout() + out.str(), err.str()};
  }

  std::string to() { return (folder_ / "to").string(); }

  support::TempDir folder_;
};

TEST_F(DataGet, FileByItsAddress) {
  support::HttpServer server(
      [](const HttpRequest& r, HttpConnection& c) { answer_file(r, c, "PK..", "\"1\""); });
  const Outcome outcome = get({server.url("/a.zip"), "--to", to(), "--digest", base::sha256("PK..")});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("as published"));
  EXPECT_THAT(outcome.out, HasSubstr("next: maskfit data organise '" + to() + "'"));
  EXPECT_EQ(get({server.url("/b.zip"), "--to", to(), "--digest", base::sha256("other")}).code, 3);
  EXPECT_EQ(get({server.url("/b.zip"), "--to", to(), "--digest", "xyz"}).code, 2);
}

TEST_F(DataGet, ArchiveThatAServerCutShortIsFoundOut) {
  const std::string whole =
      support::make_archive({{"a", std::string(5000, 'a'), ""}, {"b", std::string(5000, 'b'), ""}}, "gnutar");
  support::HttpServer server([&](const HttpRequest& r, HttpConnection& c) {
    answer_file(r, c, r.target == "/whole.tar" ? whole : whole.substr(0, 7000), "\"1\"");
  });
  EXPECT_EQ(get({server.url("/whole.tar"), "--to", to()}).code, 0);
  const Outcome cut = get({server.url("/cut.tar"), "--to", to()});
  EXPECT_EQ(cut.code, 3);
  EXPECT_THAT(cut.err, HasSubstr("the archive that came is broken"));
}

TEST_F(DataGet, ListNamesSizeLicenceAndAddress) {
  const Outcome outcome = get({"list"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, get({"--list"}).out);
  for (const std::string& name : dataset::public_names()) EXPECT_THAT(outcome.out, HasSubstr(name));
  EXPECT_THAT(outcome.out, HasSubstr("CC BY-NC-ND 4.0"));
  EXPECT_THAT(outcome.out, HasSubstr("1.36 GiB"));
}

TEST_F(DataGet, WhatOnlyAPersonMayFetchComesWithSteps) {
  const Outcome mafa = get({"mafa", "--to", to()});
  EXPECT_EQ(mafa.code, 1);
  EXPECT_THAT(mafa.err, HasSubstr("1. open https://imsg.ac.cn"));
  EXPECT_THAT(mafa.err, HasSubstr("into " + to()));
  EXPECT_THAT(mafa.err, HasSubstr("maskfit data organise " + to() + " --to sets"));
  const Outcome kaggle = get({"kaggle", "--to", to()});
  EXPECT_EQ(kaggle.code, 1);
  EXPECT_THAT(kaggle.err, HasSubstr("Create New Token"));
  EXPECT_THAT(kaggle.err, HasSubstr("Download dataset as zip"));
  EXPECT_EQ(get({"https://www.kaggle.com/datasets/a/b"}).code, 1);
  EXPECT_FALSE(std::filesystem::exists(to()));
}

TEST_F(DataGet, WrongWordsAreUsageErrors) {
  EXPECT_EQ(get({}).code, 2);
  const Outcome typo = get({"widerfaec"});
  EXPECT_EQ(typo.code, 2);
  EXPECT_THAT(typo.err, HasSubstr("did you mean 'widerface'?"));
  EXPECT_EQ(get({"ftp://example.org/a.zip"}).code, 2);
  EXPECT_EQ(get({"https://"}).code, 2);
}

TEST(PublicSets, AreWellFormed) {
  for (const std::string& name : dataset::public_names()) {
    EXPECT_TRUE(dataset::find_public_set(name) != nullptr || dataset::find_public_file(name).file != nullptr)
        << name;
  }
  for (const dataset::PublicSet& set : dataset::public_sets()) {
    EXPECT_TRUE(fetch::is_web_address(set.page)) << set.name;
    EXPECT_FALSE(set.licence.empty() || set.by_hand.empty()) << set.name;
    for (const dataset::PublicFile& file : set.files) {
      EXPECT_NE(file.addresses.empty(), file.kaggle.empty()) << file.name;
      EXPECT_EQ(fetch::safe_file_name(file.file_name), file.file_name);
      if (!file.digest.empty()) EXPECT_NO_THROW(fetch::parse_digest(file.digest)) << file.name;
      for (const std::string& address : file.addresses) EXPECT_NO_THROW(fetch::parse_address(address));
    }
  }
  EXPECT_EQ(dataset::find_public_set("wider"), dataset::find_public_set("widerface"));
}

TEST(TransferText, ShowsShareSpeedAndTimeLeft) {
  EXPECT_EQ(transfer_text({"a.zip", 512u << 20u, 1024u << 20u, 256u << 20u}, 8.0),
            "a.zip   50 %  512.0 MiB of 1.00 GiB  32.0 MiB/s  ETA 0:16");
  EXPECT_EQ(transfer_text({"a.zip", 100, 0, 0}, 0), "a.zip  100 bytes");
}

}  // namespace
}  // namespace maskfit::cli
