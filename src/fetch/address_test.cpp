#include "fetch/address.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/files.h"
#include "fetch/disk.h"
#include "fetch/file_digest.h"
#include "fetch/kaggle.h"
#include "fetch/retry.h"
#include "fetch/web_page.h"
#include "tests/support/temp_dir.h"

namespace maskfit::fetch {
namespace {

TEST(Address, Parts) {
  const Address a = parse_address("HTTPS://user:pass@Example.ORG:8443/a/b.zip?x=1#top");
  EXPECT_EQ(a.scheme + " " + a.host + " " + a.port + " " + a.path + " " + a.query,
            "https example.org 8443 /a/b.zip x=1");
  EXPECT_EQ(parse_address("http://h").path, "/");
  for (const char* wrong : {"", "ftp://h/x", "http://", "file:///etc/passwd", "https:///x", "h/x"}) {
    EXPECT_THROW(parse_address(wrong), base::Error) << wrong;
  }
  EXPECT_THROW(parse_address("http://h/" + std::string(100'000, 'a')), base::Error);
}

TEST(Address, LinksOfABrowserBecomeLinksOfTheFile) {
  const std::string drive = "https://drive.usercontent.google.com/download?id=1_a-B&export=download";
  EXPECT_EQ(direct_address("https://drive.google.com/file/d/1_a-B/view?usp=sharing"), drive);
  EXPECT_EQ(direct_address("https://drive.google.com/open?id=1_a-B"), drive);
  EXPECT_EQ(direct_address("https://drive.google.com/uc?export=download&id=1_a-B"), drive);
  EXPECT_EQ(direct_address("https://www.dropbox.com/s/x/a.zip?dl=0"),
            "https://www.dropbox.com/s/x/a.zip?dl=1");
  EXPECT_EQ(direct_address("https://github.com/o/r/blob/main/a.zip"),
            "https://github.com/o/r/raw/main/a.zip");
  EXPECT_EQ(direct_address("https://drive.google.com/drive/folders/1x"),
            "https://drive.google.com/drive/folders/1x");
  EXPECT_EQ(direct_address("https://example.org/open?id=1"), "https://example.org/open?id=1");
}

TEST(Address, Links) {
  EXPECT_EQ(resolve_link("http://h:1/a/b?c", "/x"), "http://h:1/x");
  EXPECT_EQ(resolve_link("http://h:1/a/b?c", "x?y"), "http://h:1/a/x?y");
  EXPECT_EQ(resolve_link("http://h:1/a/b?c", "?y"), "http://h:1/a/b?y");
  EXPECT_EQ(resolve_link("https://h/a", "//other/x"), "https://other/x");
  EXPECT_TRUE(may_follow("https://drive.google.com/x", "https://drive.usercontent.google.com/y"));
  EXPECT_FALSE(may_follow("https://drive.google.com/x", "http://drive.google.com/y"));
  EXPECT_FALSE(may_follow("https://evilgoogle.com/x", "https://drive.google.com/y"));
  EXPECT_FALSE(may_follow("https://h/x", "javascript:alert(1)"));
}

TEST(Address, FileNamesAreSafe) {
  EXPECT_EQ(file_name_of("https://h/a/b%20c.zip?x"), "b c.zip");
  EXPECT_EQ(file_name_of("https://h/"), "");
  EXPECT_EQ(file_name_of("https://h/a/..%2f..%2fpasswd"), "passwd");
  EXPECT_EQ(safe_file_name("..\\..\\a.zip"), "a.zip");
  EXPECT_EQ(safe_file_name(".bashrc"), "bashrc");
  EXPECT_EQ(safe_file_name(".."), "");
  EXPECT_EQ(safe_file_name("a\n\x01:b?.zip"), "a_b_.zip");
  const std::string longest = safe_file_name(std::string(199, 'a') + "\xe5\x8f\xa3.tar.gz");
  EXPECT_LE(longest.size(), 200u);
  EXPECT_TRUE(longest.ends_with("a.gz")) << longest;
  EXPECT_EQ(file_name_of_disposition("attachment; filename=\"a b.zip\"; size=3"), "a b.zip");
  EXPECT_EQ(file_name_of_disposition("attachment; filename=x.zip; filename*=UTF-8''%E5%8F%A3.zip"),
            "\xe5\x8f\xa3.zip");
  EXPECT_EQ(file_name_of_disposition("inline"), "");
}

TEST(WebPage, IsToldFromDataByItsFirstBytes) {
  EXPECT_TRUE(looks_like_web_page(" \r\n<!doctype HTML>", ""));
  EXPECT_TRUE(looks_like_web_page("<div>", "text/html; charset=utf-8"));
  EXPECT_FALSE(looks_like_web_page("PK\x03\x04", "text/html"));
  EXPECT_FALSE(looks_like_web_page("<annotation>", "text/xml"));
  EXPECT_FALSE(looks_like_web_page("", "text/html"));
}

TEST(WebPage, OldConfirmationLink) {
  EXPECT_EQ(confirmed_address("<a id=x href=\"/uc?export=download&amp;confirm=Qx&amp;id=1\">go</a>",
                              "https://drive.google.com/uc?id=1"),
            "https://drive.google.com/uc?export=download&confirm=Qx&id=1");
  EXPECT_EQ(confirmed_address("<p>nothing</p>", "https://drive.google.com/uc?id=1"), std::nullopt);
  EXPECT_EQ(confirmed_address(
                "<form id=download-form action=/x method=post><input type=hidden name=a value=b></form>",
                "https://h/"),
            std::nullopt);
}

TEST(WebPage, KnownPagesAreExplained) {
  const std::string quota =
      "<html><title>Google Drive - Quota exceeded</title>Too many users have viewed or "
      "downloaded this file recently.";
  EXPECT_NE(page_reason(quota, "https://drive.google.com/uc").what.find("limit"), std::string::npos);
  EXPECT_NE(page_reason("", "https://drive.google.com/drive/folders/1x").what.find("folder"),
            std::string::npos);
  EXPECT_EQ(page_title("<TITLE>A &amp; B</TITLE>"), "A & B");
  EXPECT_EQ(page_title("<title>" + std::string(5000, 'x')), "");
}

TEST(WebPage, BrokenPagesDoNoHarm) {
  for (const char* page : {"<", "<form", "<form id=", "<!--", "<input type=\"hidden",
                           "<form id=download-form><input type=hidden name=\"a"}) {
    EXPECT_EQ(confirmed_address(page, "https://h/x"), std::nullopt) << page;
  }
}

TEST(Retry, WaitsDoubleUpToALimit) {
  RetryPolicy policy;
  policy.first_wait_seconds = 1;
  policy.longest_wait_seconds = 8;
  for (int i = 1; i < 40; ++i) {
    const double most = std::min(8.0, std::pow(2.0, i - 1));
    EXPECT_GE(wait_seconds(policy, i, 7), most / 2);
    EXPECT_LE(wait_seconds(policy, i, 7), most);
  }
  EXPECT_NE(wait_seconds(policy, 3, 1), wait_seconds(policy, 3, 2));
}

TEST(Retry, RetryAfterIsANumberOrADate) {
  EXPECT_EQ(parse_retry_after(" 120 ", 0), 120.0);
  EXPECT_EQ(parse_retry_after("Wed, 21 Oct 2015 07:28:00 GMT", 1445412480 - 30), 30.0);
  EXPECT_EQ(parse_retry_after("Wed, 21 Oct 2015 07:28:00 GMT", 1445412480 + 30), 0.0);
  for (const char* wrong : {"", "soon", "-3", "1e9x"})
    EXPECT_EQ(parse_retry_after(wrong, 0), std::nullopt) << wrong;
}

TEST(Kaggle, TokenFromEnvironmentBeforeFile) {
  const support::TempDir folder;
  EXPECT_FALSE(find_kaggle_token({"", "", folder.path()}));
  base::write_file(folder / "kaggle.json", R"({"username":"ann","key":"k"})");
  EXPECT_EQ(find_kaggle_token({"", "", folder.path()})->user, "ann");
  EXPECT_EQ(find_kaggle_token({"bob", "b", folder.path()})->user, "bob");
  EXPECT_THROW(find_kaggle_token({"bob", "", folder.path()}), base::Error);
  for (const char* wrong :
       {"", "{}", "[]", R"({"username":1,"key":"k"})", R"({"username":"ann","key":""})"}) {
    base::write_file(folder / "kaggle.json", wrong);
    EXPECT_THROW(find_kaggle_token({"", "", folder.path()}), base::Error) << wrong;
  }
}

TEST(Kaggle, PagesAreDatasets) {
  EXPECT_EQ(kaggle_dataset_of("https://www.kaggle.com/datasets/andrewmvd/face-mask-detection"),
            "andrewmvd/face-mask-detection");
  EXPECT_EQ(kaggle_dataset_of("https://www.kaggle.com/andrewmvd/face-mask-detection/data"),
            "andrewmvd/face-mask-detection");
  EXPECT_EQ(kaggle_dataset_of("https://www.kaggle.com/api/v1/datasets/download/a/b"), "");
  EXPECT_EQ(kaggle_dataset_of("https://example.org/a/b"), "");
}

TEST(FileDigest, EqualsTheOneOfTheBytes) {
  const support::TempDir folder;
  const std::string bytes(3'000'000, 'x');
  base::write_file(folder / "a", bytes);
  EXPECT_EQ(file_digest(folder / "a", "sha256"), base::sha256(bytes));
  base::write_file(folder / "a", "abc");
  EXPECT_EQ(file_digest(folder / "a", "md5"), "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_THROW(file_digest(folder / "b", "sha256"), base::Error);
  EXPECT_EQ(parse_digest("900150983cd24fb0d6963f7d28e17f72").algorithm, "md5");
  for (const char* wrong :
       {"", "abc", "sha1:900150983cd24fb0d6963f7d28e17f72", "zz0150983cd24fb0d6963f7d28e17f72"}) {
    EXPECT_THROW(parse_digest(wrong), base::Error) << wrong;
  }
}

TEST(Disk, AsksTheNearestFolderThatExists) {
  const support::TempDir folder;
  EXPECT_GT(free_bytes(folder / "not/there/yet"), 0u);
  EXPECT_EQ(existing_ancestor(folder / "not/there"), folder.path());
  EXPECT_THROW(require_free(folder.path(), ~std::uint64_t{0} / 2, 0, "it"), base::Error);
  EXPECT_NO_THROW(require_free(folder.path(), 1, 0, "it"));
  EXPECT_EQ(format_bytes(1023), "1023 bytes");
  EXPECT_EQ(format_bytes(1465602149), "1.36 GiB");
}

}  // namespace
}  // namespace maskfit::fetch
