// Downloads from a real server on this machine that drops, truncates, redirects and lies.

#include "fetch/download.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>

#include "base/error.h"
#include "base/files.h"
#include "tests/support/http_server.h"
#include "tests/support/temp_dir.h"

namespace maskfit::fetch {
namespace {
namespace fs = std::filesystem;
using support::HttpConnection;
using support::HttpRequest;
using support::HttpServer;
using testing::HasSubstr;

std::string random_bytes(std::size_t n) {
  std::string bytes(n, '\0');
  std::uint32_t x = 12345;
  for (char& c : bytes) c = static_cast<char>((x = x * 1664525u + 1013904223u) >> 24u);
  return bytes;
}

const std::string& content() {
  static const std::string bytes = random_bytes(300'000);
  return bytes;
}

constexpr char kTag[] = "\"v1\"";

class DownloadTest : public testing::Test {
 protected:
  DownloadOptions options() {
    DownloadOptions options;
    options.folder = folder_ / "in";
    options.retry.first_wait_seconds = 0.01;
    options.retry.tries = 4;
    options.notice = [this](const std::string& sentence) { notices_.push_back(sentence); };
    return options;
  }

  // The error of a download that must fail.
  base::Error failure(const std::string& url, const DownloadOptions& options) {
    try {
      download(url, options);
    } catch (const base::Error& error) {
      return error;
    }
    ADD_FAILURE() << "the download of " << url << " did not fail";
    return base::Error(base::ExitCode::kDone, "");
  }

  std::vector<std::string> files() {
    std::vector<std::string> names;
    if (fs::exists(folder_ / "in")) {
      for (const auto& entry : fs::directory_iterator(folder_ / "in"))
        names.push_back(entry.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  support::TempDir folder_;
  std::vector<std::string> notices_;
};

TEST_F(DownloadTest, GivesTheFileAndItsDigestAndLeavesNothingElse) {
  HttpServer server(
      [](const HttpRequest& request, HttpConnection& c) { answer_file(request, c, content(), kTag); });
  const Downloaded done = download(server.url("/sets/WIDER%20train.zip"), options());
  EXPECT_EQ(done.file, folder_ / "in/WIDER train.zip");
  EXPECT_EQ(base::read_file(done.file), content());
  EXPECT_EQ(done.sha256, base::sha256(content()));
  EXPECT_FALSE(done.checked);
  EXPECT_EQ(files(), std::vector<std::string>{"WIDER train.zip"});
  EXPECT_EQ(server.requests().at(0).header("accept-encoding"), "identity");
}

TEST_F(DownloadTest, DroppedConnectionIsResumedWhereItBroke) {
  std::atomic<int> n{0};
  HttpServer server([&](const HttpRequest& request, HttpConnection& c) {
    if (n++ > 1) return answer_file(request, c, content(), kTag);
    const std::size_t start = request.range_start(), end = start + 100'000;
    c.send("HTTP/1.1 " + std::string(start > 0 ? "206" : "200") + " x\r\nETag: " + kTag +
           "\r\nContent-Length: " + std::to_string(content().size() - start) +
           (start > 0 ? "\r\nContent-Range: bytes " + std::to_string(start) + "-299999/300000" : "") +
           "\r\n\r\n");
    c.send(std::string_view(content()).substr(start, end - start));
    if (start > 0) c.reset();
  });
  const Downloaded done = download(server.url("/a.zip"), options());
  EXPECT_EQ(base::read_file(done.file), content());
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 3u);
  EXPECT_EQ(requests[1].header("range"), "bytes=100000-");
  EXPECT_EQ(requests[1].header("if-range"), kTag);
  EXPECT_EQ(notices_.size(), 2u);
}

TEST_F(DownloadTest, NextRunGoesOnFromWhatAnEarlierOneLeft) {
  std::atomic<bool> broken{true};
  HttpServer server([&](const HttpRequest& request, HttpConnection& c) {
    if (!broken) return answer_file(request, c, content(), kTag);
    c.answer(200, "ETag: \"v1\"\r\nContent-Length: 300000\r\n", std::string_view(content()).substr(0, 5000));
  });
  DownloadOptions two_tries = options();
  two_tries.retry.tries = 2;
  const base::Error error = failure(server.url("/a.zip"), two_tries);
  EXPECT_EQ(error.code(), base::ExitCode::kFailed);
  EXPECT_THAT(error.hint(), HasSubstr("a.zip.part"));
  EXPECT_EQ(files(), (std::vector<std::string>{"a.zip.part", "a.zip.part.json"}));
  broken = false;
  const Downloaded done = download(server.url("/a.zip"), options());
  EXPECT_EQ(done.resumed_at, 5000u);
  EXPECT_EQ(base::read_file(done.file), content());
  EXPECT_EQ(server.requests().back().header("range"), "bytes=5000-");
  EXPECT_EQ(files(), std::vector<std::string>{"a.zip"});
}

TEST_F(DownloadTest, ChangedFileAtTheServerBeginsAgain) {
  const std::string newer = random_bytes(200'000) + "new";
  std::atomic<int> n{0};
  HttpServer server([&](const HttpRequest& request, HttpConnection& c) {
    if (n++ == 0) {
      c.answer(200, "ETag: \"v1\"\r\nContent-Length: 300000\r\n",
               std::string_view(content()).substr(0, 70'000));
    } else {
      answer_file(request, c, newer, "\"v2\"");
    }
  });
  EXPECT_EQ(base::read_file(download(server.url("/a.zip"), options()).file), newer);
}

TEST_F(DownloadTest, RangeOfAnotherVersionInspiteOfIfRangeIsNotGluedOn) {
  const std::string newer(250'000, 'n');
  std::atomic<int> n{0};
  HttpServer server([&](const HttpRequest& request, HttpConnection& c) {
    if (n++ == 0) {
      c.answer(200, "ETag: \"v1\"\r\nContent-Length: 300000\r\n",
               std::string_view(content()).substr(0, 70'000));
      return;
    }
    HttpRequest careless = request;  // a server that does not know If-Range
    careless.headers.erase("if-range");
    answer_file(careless, c, newer, "\"v2\"");
  });
  EXPECT_EQ(base::read_file(download(server.url("/a.zip"), options()).file), newer);
}

TEST_F(DownloadTest, WithoutAVersionNothingIsResumed) {
  std::atomic<int> n{0};
  HttpServer server([&](const HttpRequest& request, HttpConnection& c) {
    if (n++ == 0) {
      c.answer(200, "Content-Length: 300000\r\n", std::string_view(content()).substr(0, 70'000));
    } else {
      answer_file(request, c, content(), "");
    }
  });
  EXPECT_EQ(base::read_file(download(server.url("/a.zip"), options()).file), content());
  EXPECT_EQ(server.requests().back().header("range"), "");
}

TEST_F(DownloadTest, WeakTagIsNotUsedTheDateIs) {
  std::atomic<int> n{0};
  const std::string date = "Wed, 21 Oct 2015 07:28:00 GMT";
  HttpServer server([&](const HttpRequest& request, HttpConnection& c) {
    if (n++ == 0) {
      c.answer(200, "ETag: W/\"x\"\r\nLast-Modified: " + date + "\r\nContent-Length: 300000\r\n",
               std::string_view(content()).substr(0, 70'000));
    } else {
      answer_file(request, c, content(), date);
    }
  });
  EXPECT_EQ(base::read_file(download(server.url("/a.zip"), options()).file), content());
  EXPECT_EQ(server.requests().at(1).header("if-range"), date);
}

TEST_F(DownloadTest, LengthThatIsNeverReachedEndsWithBothNumbers) {
  HttpServer server(
      [](const HttpRequest&, HttpConnection& c) { c.answer(200, "Content-Length: 9999\r\n", "short body"); });
  const base::Error error = failure(server.url("/a.zip"), options());
  EXPECT_EQ(error.code(), base::ExitCode::kFailed);
  EXPECT_THAT(error.what(), HasSubstr("4 tries"));
  EXPECT_EQ(server.requests().size(), 4u + 0u);
}

TEST_F(DownloadTest, LengthThatIsTooSmallIsFoundOutByThePublishedSizeOrDigest) {
  HttpServer server(
      [](const HttpRequest&, HttpConnection& c) { c.answer(200, "Content-Length: 1000\r\n", content()); });
  DownloadOptions known = options();
  known.bytes = content().size();
  EXPECT_THAT(failure(server.url("/a.zip"), known).what(), HasSubstr("1000 bytes, published are 300000"));
  known.bytes = 0;
  known.digest = Digest{"sha256", base::sha256(content())};
  const base::Error error = failure(server.url("/a.zip"), known);
  EXPECT_EQ(error.code(), base::ExitCode::kRefused);
  EXPECT_THAT(error.what(), HasSubstr(base::sha256(content())));
  EXPECT_TRUE(files().empty());
}

TEST_F(DownloadTest, PublishedDigestIsCheckedAndAFinishedFileIsNotFetchedAgain) {
  HttpServer server(
      [](const HttpRequest& request, HttpConnection& c) { answer_file(request, c, content(), kTag); });
  DownloadOptions known = options();
  known.digest = parse_digest("SHA256:" + base::sha256(content()));
  EXPECT_TRUE(download(server.url("/a.zip"), known).checked);
  EXPECT_TRUE(download(server.url("/a.zip"), known).was_there);
  EXPECT_EQ(server.requests().size(), 1u);
  base::write_file(folder_ / "in/a.zip", "something else");
  EXPECT_THAT(failure(server.url("/a.zip"), known).hint(), HasSubstr("--force"));
  known.overwrite = true;
  download(server.url("/a.zip"), known);
  EXPECT_EQ(base::read_file(folder_ / "in/a.zip"), content());
}

TEST_F(DownloadTest, PartThatIsCompleteAlreadyIsFinishedOn416) {
  HttpServer server(
      [](const HttpRequest& request, HttpConnection& c) { answer_file(request, c, content(), kTag); });
  base::write_file(folder_ / "in/a.zip.part", content());
  base::write_file(folder_ / "in/a.zip.part.json",
                   "{\"url\": \"" + server.url("/a.zip") + "\", \"validator\": \"\\\"v1\\\"\"}");
  EXPECT_EQ(base::read_file(download(server.url("/a.zip"), options()).file), content());
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST_F(DownloadTest, PartThatIsLongerThanTheFileBeginsAgain) {
  HttpServer server(
      [](const HttpRequest& request, HttpConnection& c) { answer_file(request, c, content(), kTag); });
  base::write_file(folder_ / "in/a.zip.part", content() + "and more");
  base::write_file(folder_ / "in/a.zip.part.json",
                   "{\"url\": \"" + server.url("/a.zip") + "\", \"validator\": \"\\\"v1\\\"\"}");
  EXPECT_EQ(base::read_file(download(server.url("/a.zip"), options()).file), content());
}

TEST_F(DownloadTest, PartOfAnotherAddressOrWithBrokenNotesBeginsAgain) {
  HttpServer server(
      [](const HttpRequest& request, HttpConnection& c) { answer_file(request, c, content(), kTag); });
  for (const char* notes : {"{\"url\": \"http://elsewhere/a.zip\", \"validator\": \"\\\"v1\\\"\"}",
                            "{\"url\": [1]}", "not json", "{\"total_bytes\": -7}"}) {
    base::write_file(folder_ / "in/a.zip.part", "bytes of something else");
    base::write_file(folder_ / "in/a.zip.part.json", notes);
    DownloadOptions again = options();
    again.overwrite = true;
    EXPECT_EQ(base::read_file(download(server.url("/a.zip"), again).file), content()) << notes;
  }
}

TEST_F(DownloadTest, TooManyRequestsWaitsAsLongAsAsked) {
  std::atomic<int> n{0};
  HttpServer server([&](const HttpRequest& request, HttpConnection& c) {
    if (n++ == 0) {
      c.answer(429, "Retry-After: 1\r\nContent-Length: 4\r\n", "wait");
    } else {
      answer_file(request, c, content(), kTag);
    }
  });
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(base::read_file(download(server.url("/a.zip"), options()).file), content());
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(950));
}

TEST_F(DownloadTest, WaitOfADayIsNotWaitedFor) {
  HttpServer server([](const HttpRequest&, HttpConnection& c) {
    c.answer(429, "Retry-After: 86400\r\nContent-Length: 0\r\n", "");
  });
  EXPECT_THAT(failure(server.url("/a.zip"), options()).what(), HasSubstr("24:00:00"));
  EXPECT_TRUE(files().empty());
}

TEST_F(DownloadTest, ServerErrorsAreTriedAgainOthersAreNot) {
  std::atomic<int> n{0};
  HttpServer server([&](const HttpRequest& request, HttpConnection& c) {
    if (request.target == "/gone") return void(c.answer(404, "Content-Length: 0\r\n", ""));
    if (request.target == "/never") return void(c.answer(500, "Content-Length: 5\r\n", "sorry"));
    const int status[] = {500, 502, 503};
    if (n < 3) return void(c.answer(status[n++], "Content-Length: 5\r\n", "sorry"));
    answer_file(request, c, content(), kTag);
  });
  EXPECT_EQ(base::read_file(download(server.url("/a.zip"), options()).file), content());
  const std::size_t before = server.requests().size();
  EXPECT_THAT(failure(server.url("/gone"), options()).what(), HasSubstr("404 (not found)"));
  EXPECT_EQ(server.requests().size(), before + 1);
  EXPECT_THAT(failure(server.url("/never"), options()).what(), HasSubstr("500"));
  EXPECT_EQ(server.requests().size(), before + 5);
}

TEST_F(DownloadTest, RedirectsAreFollowedUpToALimit) {
  HttpServer server([](const HttpRequest& request, HttpConnection& c) {
    if (request.target == "/loop") return void(c.answer(302, "Location: /loop\r\nContent-Length: 0\r\n", ""));
    if (request.target == "/file") return void(c.answer(302, "Location: /ftp\r\nContent-Length: 0\r\n", ""));
    if (request.target == "/ftp")
      return void(c.answer(302, "Location: file:///etc/passwd\r\nContent-Length: 0\r\n", ""));
    if (request.target == "/a.zip")
      return void(c.answer(301, "Location: /b\r\nContent-Length: 7\r\n", "<html>!"));
    answer_file(request, c, content(), kTag);
  });
  const Downloaded done = download(server.url("/a.zip"), options());
  EXPECT_EQ(done.file.filename(), "a.zip");
  EXPECT_EQ(base::read_file(done.file), content());
  EXPECT_THAT(failure(server.url("/loop"), options()).what(), HasSubstr("redirects"));
  EXPECT_EQ(failure(server.url("/file"), options()).code(), base::ExitCode::kFailed);
  EXPECT_EQ(files(), std::vector<std::string>{"a.zip"});
}

TEST_F(DownloadTest, PasswordDoesNotGoToAnotherHost) {
  HttpServer storage(
      [](const HttpRequest& request, HttpConnection& c) { answer_file(request, c, content(), kTag); });
  const std::string there = "http://localhost:" + std::to_string(storage.port()) + "/signed";
  HttpServer api([&](const HttpRequest&, HttpConnection& c) {
    c.answer(302, "Location: " + there + "\r\nContent-Length: 0\r\n", "");
  });
  DownloadOptions with_token = options();
  with_token.user = "ann";
  with_token.password = "secret";
  download(api.url("/api/v1/datasets/download/o/n"), with_token);
  EXPECT_EQ(api.requests().at(0).header("authorization"), "Basic YW5uOnNlY3JldA==");
  EXPECT_EQ(storage.requests().at(0).header("authorization"), "");
}

TEST_F(DownloadTest, DispositionNamesTheFileButNotAnotherFolder) {
  HttpServer server([](const HttpRequest&, HttpConnection& c) {
    c.answer(200,
             "Content-Disposition: attachment; filename=\"../../../WIDER_val.zip\"\r\nContent-Length: 3\r\n",
             "PK.");
  });
  const Downloaded done = download(server.url("/download?id=abc"), options());
  EXPECT_EQ(done.file, folder_ / "in/WIDER_val.zip");
  EXPECT_EQ(files(), std::vector<std::string>{"WIDER_val.zip"});
}

TEST_F(DownloadTest, WebPageInsteadOfAFileIsNoticed) {
  HttpServer plain([](const HttpRequest&, HttpConnection& c) {
    c.answer(200, "Content-Type: text/plain\r\n",
             "\xef\xbb\xbf  <!DOCTYPE HTML><html><title> Sign in\n to  go on </title></html>");
  });
  const base::Error error = failure(plain.url("/a.zip"), options());
  EXPECT_EQ(error.code(), base::ExitCode::kRefused);
  EXPECT_THAT(error.what(), HasSubstr("this is a web page ('Sign in to go on'), not an archive"));
  EXPECT_TRUE(files().empty());
}

std::string drive_page(const std::string& action) {
  return "<!DOCTYPE html><html><head><title>Google Drive - Virus scan warning</title></head><body><form "
         "id=\"download-form\" action=\"" +
         action +
         "\" method=\"get\"><input type=\"submit\" value=\"Download "
         "anyway\"/><input type=\"hidden\" name=\"id\" value=\"abc\"><input type=\"hidden\" name=\"confirm\" "
         "value=\"t&amp;1\"></form></body></html>";
}

TEST_F(DownloadTest, ConfirmationFormIsAnsweredAndResumedBehindIt) {
  std::atomic<int> n{0};
  HttpServer server([&](const HttpRequest& request, HttpConnection& c) {
    if (request.target == "/uc?id=abc") {
      const std::string page = drive_page("/download");
      c.answer(200, "Content-Type: text/html\r\nSet-Cookie: a=b\r\n", page);
    } else if (n++ == 0) {
      c.answer(
          200,
          "ETag: \"v1\"\r\nContent-Disposition: attachment; filename=\"W.zip\"\r\nContent-Length: 300000\r\n",
          std::string_view(content()).substr(0, 90'000));
    } else {
      answer_file(request, c, content(), kTag);
    }
  });
  DownloadOptions one_try = options();
  one_try.retry.tries = 1;
  failure(server.url("/uc?id=abc"), one_try);
  // The second run meets the page again, with a part of the file lying there: the page must not replace it.
  const Downloaded done = download(server.url("/uc?id=abc"), options());
  EXPECT_EQ(done.resumed_at, 90'000u);
  EXPECT_EQ(done.file, folder_ / "in/W.zip");
  EXPECT_EQ(base::read_file(done.file), content());
  EXPECT_EQ(server.requests().back().target, "/download?id=abc&confirm=t%261");
  EXPECT_EQ(server.requests().back().header("range"), "bytes=90000-");
}

TEST_F(DownloadTest, FormThatLeadsToAnotherHostIsNotAnswered) {
  HttpServer server([](const HttpRequest&, HttpConnection& c) {
    c.answer(200, "Content-Type: text/html\r\n", drive_page("http://localhost:1/download"));
  });
  EXPECT_EQ(failure(server.url("/uc?id=abc"), options()).code(), base::ExitCode::kRefused);
}

TEST_F(DownloadTest, PageWithoutEndOfConfirmationsGivesUp) {
  HttpServer server([](const HttpRequest&, HttpConnection& c) {
    c.answer(200, "Content-Type: text/html\r\n", drive_page("/download"));
  });
  EXPECT_EQ(failure(server.url("/uc?id=abc"), options()).code(), base::ExitCode::kRefused);
  EXPECT_EQ(server.requests().size(), 3u);
}

TEST_F(DownloadTest, NoRoomIsSaidBeforeAnythingIsWritten) {
  HttpServer server([](const HttpRequest&, HttpConnection& c) {
    c.answer(200, "Content-Length: 4000000000000000\r\n", content());
  });
  const base::Error error = failure(server.url("/a.zip"), options());
  EXPECT_EQ(error.code(), base::ExitCode::kMachine);
  EXPECT_THAT(error.what(), HasSubstr("GiB"));
  EXPECT_TRUE(files().empty());
}

TEST_F(DownloadTest, CtrlCKeepsWhatCame) {
  std::atomic<bool> stop{false};
  HttpServer server([&](const HttpRequest&, HttpConnection& c) {
    c.answer(200, "ETag: \"v1\"\r\nContent-Length: 300000\r\n",
             std::string_view(content()).substr(0, 90'000));
    stop = true;
    std::this_thread::sleep_for(std::chrono::seconds(2));
  });
  DownloadOptions stoppable = options();
  stoppable.stop = base::StopToken(&stop);
  EXPECT_EQ(failure(server.url("/a.zip"), stoppable).code(), base::ExitCode::kInterrupted);
  EXPECT_EQ(fs::file_size(folder_ / "in/a.zip.part"), 90'000u);
}

TEST_F(DownloadTest, StalledServerIsLeftAfterAWhile) {
  std::atomic<int> n{0};
  HttpServer server([&](const HttpRequest& request, HttpConnection& c) {
    if (n++ > 0) return answer_file(request, c, content(), kTag);
    c.answer(200, "ETag: \"v1\"\r\nContent-Length: 300000\r\n", "PK");
    std::this_thread::sleep_for(std::chrono::seconds(4));
  });
  DownloadOptions impatient = options();
  impatient.stall_seconds = 1;
  EXPECT_EQ(base::read_file(download(server.url("/a.zip"), impatient).file), content());
}

TEST_F(DownloadTest, NobodyAtTheOtherEnd) {
  int port = 0;
  {
    port = HttpServer([](const HttpRequest&, HttpConnection&) {}).port();
  }
  const base::Error error = failure("http://127.0.0.1:" + std::to_string(port) + "/a.zip", options());
  EXPECT_EQ(error.code(), base::ExitCode::kFailed);
  EXPECT_THAT(error.what(), HasSubstr("cannot be reached"));
  EXPECT_TRUE(files().empty());
}

TEST_F(DownloadTest, ChunkedBodyAndBodyUntilTheConnectionEndsAreWhole) {
  HttpServer server([](const HttpRequest& request, HttpConnection& c) {
    if (request.target == "/close.zip") return void(c.answer(200, "", content()));
    c.answer(200, "Transfer-Encoding: chunked\r\n", "");
    c.send("5\r\nPKabc\r\n3\r\ndef\r\n0\r\n\r\n");
  });
  EXPECT_EQ(base::read_file(download(server.url("/chunks.zip"), options()).file), "PKabcdef");
  EXPECT_EQ(base::read_file(download(server.url("/close.zip"), options()).file), content());
}

TEST_F(DownloadTest, TornChunkIsNoEnd) {
  HttpServer server([](const HttpRequest&, HttpConnection& c) {
    c.answer(200, "Transfer-Encoding: chunked\r\n", "");
    c.send("ff\r\nPKabc");
  });
  EXPECT_EQ(failure(server.url("/a.zip"), options()).code(), base::ExitCode::kFailed);
}

TEST_F(DownloadTest, SecondProcessOnTheSameFileIsTold) {
  HttpServer server([&](const HttpRequest&, HttpConnection& c) {
    c.answer(200, "Content-Length: 3\r\n", "");
    EXPECT_THAT(failure("http://127.0.0.1:1/a.zip", options()).what(), HasSubstr("another process"));
    c.send("PK!");
  });
  EXPECT_EQ(base::read_file(download(server.url("/a.zip"), options()).file), "PK!");
}

TEST_F(DownloadTest, EmptyFileIsAFile) {
  HttpServer server(
      [](const HttpRequest&, HttpConnection& c) { c.answer(200, "Content-Length: 0\r\n", ""); });
  EXPECT_EQ(download(server.url("/a.txt"), options()).bytes, 0u);
}

}  // namespace
}  // namespace maskfit::fetch
