// `maskfit data get` as a process: killed with SIGKILL in the middle and resumed, stopped with SIGINT, and in
// front of a server whose certificate nobody signed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "base/files.h"
#include "tests/support/http_server.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace maskfit {
namespace {
namespace fs = std::filesystem;
using namespace std::chrono_literals;
using support::HttpConnection;
using support::HttpRequest;
using testing::HasSubstr;

// Waits for the file to have `bytes`; false after 20 s.
bool wait_for_size(const fs::path& file, std::uint64_t bytes) {
  std::error_code error;
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t size = fs::file_size(file, error);
    if (!error && size >= bytes) return true;
    std::this_thread::sleep_for(1ms);
  }
  return false;
}

std::string content() {
  std::string bytes(4'000'000, '\0');
  std::uint32_t x = 1;
  for (char& c : bytes) c = static_cast<char>((x = x * 1664525u + 1013904223u) >> 24u);
  return bytes;
}

// Sends half of what is left at once and the rest drop by drop, so that a process can be met in the middle.
void answer_slowly(const HttpRequest& request, HttpConnection& c, const std::string& file) {
  const std::uint64_t start = request.range_start();
  const std::string range = "Content-Range: bytes " + std::to_string(start) + "-" +
                            std::to_string(file.size() - 1) + "/" + std::to_string(file.size()) + "\r\n";
  c.answer(start > 0 ? 206 : 200,
           (start > 0 ? range : "") +
               "ETag: \"v1\"\r\nContent-Length: " + std::to_string(file.size() - start) + "\r\n",
           "");
  const std::size_t half = (file.size() - start) / 2;
  c.send(std::string_view(file).substr(start, half));
  for (std::size_t at = start + half; at < file.size() && c.send(std::string_view(file).substr(at, 1000));
       at += 1000) {
    std::this_thread::sleep_for(1ms);
  }
}

std::vector<std::string> get(const std::string& url, const fs::path& to) {
  return {MASKFIT_BINARY, "data", "get", url, "--to", to.string()};
}

TEST(Download, KilledInTheMiddleGoesOnFromThere) {
  const support::TempDir folder;
  const std::string file = content();
  std::atomic<bool> slow{true};
  support::HttpServer server([&](const HttpRequest& request, HttpConnection& c) {
    slow ? answer_slowly(request, c, file) : answer_file(request, c, file, "\"v1\"");
  });
  for (int i = 0; i < 3; ++i) {
    const std::uint64_t before = i == 0 ? 0 : fs::file_size(folder / "big.tar.part");
    const pid_t child = support::start_process(get(server.url("/big.tar"), folder.path()));
    ASSERT_TRUE(wait_for_size(folder / "big.tar.part", before + 200'000));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    EXPECT_FALSE(fs::exists(folder / "big.tar"));
  }
  const std::uint64_t kept = fs::file_size(folder / "big.tar.part");
  slow = false;
  const support::Outcome outcome = support::run_process(get(server.url("/big.tar"), folder.path()));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("gone on from"));
  EXPECT_EQ(base::read_file(folder / "big.tar"), file);
  EXPECT_EQ(server.requests().back().range_start(), kept);
  EXPECT_FALSE(fs::exists(folder / "big.tar.part"));
}

TEST(Download, CtrlCEndsItWith130AndKeepsThePart) {
  const support::TempDir folder;
  const std::string file = content();
  support::HttpServer server(
      [&](const HttpRequest& request, HttpConnection& c) { answer_slowly(request, c, file); });
  const pid_t child = support::start_process(get(server.url("/big.tar"), folder.path()));
  ASSERT_TRUE(wait_for_size(folder / "big.tar.part", 200'000));
  kill(child, SIGINT);
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_GE(fs::file_size(folder / "big.tar.part"), 200'000u);
}

TEST(Download, CertificateThatNobodySignedIsNotTrusted) {
  if (!support::have_program("openssl")) GTEST_SKIP() << "there is no openssl program";
  const support::TempDir folder;
  const std::string key = (folder / "key.pem").string(), certificate = (folder / "cert.pem").string();
  ASSERT_EQ(support::run_process({"openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key,
                                  "-out", certificate, "-subj", "/CN=localhost", "-days", "1"})
                .status,
            0);
  // A port that was free a moment ago.
  const int port = support::HttpServer([](const HttpRequest&, HttpConnection&) {}).port();
  const pid_t child = support::start_process({"openssl", "s_server", "-accept", std::to_string(port), "-key",
                                              key, "-cert", certificate, "-www", "-quiet"});
  ASSERT_GT(child, 0);
  support::Outcome outcome;
  for (int i = 0; i < 50; ++i) {  // until it listens
    std::vector<std::string> words =
        get("https://localhost:" + std::to_string(port) + "/a.zip", folder / "to");
    words.insert(words.end(), {"--tries", "1"});
    outcome = support::run_process(words);
    if (outcome.err.find("cannot be reached") == std::string::npos) break;
    std::this_thread::sleep_for(100ms);
  }
  kill(child, SIGTERM);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("certificate is not trusted"));
  EXPECT_TRUE(fs::is_empty(folder / "to"));
}

}  // namespace
}  // namespace maskfit
