#include "fetch/download.h"

#include <algorithm>
#include <chrono>
#include <ctime>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "fetch/address.h"
#include "fetch/disk.h"
#include "fetch/part_file.h"
#include "fetch/transfer.h"
#include "fetch/web_page.h"

namespace maskfit::fetch {
namespace fs = std::filesystem;
namespace {

using base::Error;
using base::ExitCode;

constexpr std::size_t kMaxPageBytes = 1u << 20u;
constexpr int kMaxConfirmations = 2;
constexpr std::chrono::milliseconds kProgressInterval{200};

// What a server calls this version of the file: a strong ETag, else the date of its last change. If-Range
// takes no weak ETag (RFC 9110, 13.1.5).
std::string validator_of(const AnswerHead& head) {
  std::string tag = head.header("etag");
  if (tag.size() >= 2 && tag.front() == '"') return tag;
  return head.header("last-modified");
}

struct ContentRange {
  bool known = false;       // the header could be read
  std::uint64_t first = 0;  // of the bytes that follow; not with 416
  std::uint64_t total = 0;  // 0: "*"
};

// "bytes 5-99/100", "bytes 5-99/*", "bytes */100".
ContentRange parse_content_range(const std::string& header) {
  ContentRange range;
  const auto slash = header.find('/');
  if (!base::to_lower(header).starts_with("bytes ") || slash == std::string::npos) return range;
  const std::string span = base::trim(header.substr(6, slash - 6));
  long long first = 0, total = 0;
  if (span != "*" && !base::parse_int(span.substr(0, span.find('-')), &first)) return range;
  const std::string all = base::trim(header.substr(slash + 1));
  if (all != "*" && !base::parse_int(all, &total)) return range;
  if (first < 0 || total < 0) return range;
  return {true, static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(total)};
}

// Takes the body of one answer: into the part file, or, when it is a page or an error, into memory.
class BodySink : public AnswerSink {
 public:
  BodySink(PartFile& part, const DownloadOptions& options, std::string what)
      : part_(part),
        options_(options),
        what_(std::move(what)),
        asked_for_(part.size()),
        begun_at_(part.size()) {}

  bool on_bytes(const AnswerHead& head, std::string_view bytes) override {
    if (head.status != 200 && head.status != 206) return true;  // the text of an error is of no use
    if (!decided_) {
      first_bytes_ += bytes;
      if (first_bytes_.size() < kSniffBytes) return true;
      return decide(head);
    }
    return take(bytes);
  }

  // The body may be shorter than what decide() waits for.
  bool on_end(const AnswerHead& head) {
    if (decided_ || (head.status != 200 && head.status != 206)) return true;
    return decide(head);
  }

  bool is_page() const { return is_page_; }
  bool mismatched() const { return mismatched_; }  // another range or version came than was asked for
  const std::string& page() const { return page_; }

 private:
  bool decide(const AnswerHead& head) {
    decided_ = true;
    is_page_ = head.status == 200 && looks_like_web_page(first_bytes_, head.header("content-type"));
    if (!is_page_ && !begin(head)) return false;
    const std::string first = std::move(first_bytes_);
    first_bytes_.clear();
    return first.empty() || take(first);
  }

  bool begin(const AnswerHead& head) {
    PartState state = part_.state();
    const std::string validator = validator_of(head);
    if (head.status == 206) {
      const ContentRange range = parse_content_range(head.header("content-range"));
      mismatched_ = !range.known || range.first != asked_for_ ||
                    (!state.validator.empty() && !validator.empty() && validator != state.validator) ||
                    (state.total_bytes > 0 && range.total > 0 && range.total != state.total_bytes);
      if (mismatched_) return false;
      if (range.total > 0) state.total_bytes = range.total;
    } else {
      if (part_.size() > 0 && options_.notice) {
        options_.notice(fmt::format("{}: the server sends the file from its beginning again", what_));
      }
      part_.restart();
      begun_at_ = 0;
      state = part_.state();
      state.total_bytes = head.content_length().value_or(0);
    }
    if (!validator.empty()) state.validator = validator;
    if (const std::string name = file_name_of_disposition(head.header("content-disposition"));
        !name.empty()) {
      state.file_name = name;
    }
    const std::uint64_t total = std::max(state.total_bytes, options_.bytes);
    if (total > part_.size()) {
      require_free(options_.folder, total - part_.size(), options_.spare_disk_bytes,
                   "the download of " + what_);
    }
    part_.set_state(state);
    return true;
  }

  bool take(std::string_view bytes) {
    if (is_page_) {
      page_ += bytes.substr(0, kMaxPageBytes - std::min(kMaxPageBytes, page_.size()));
      return page_.size() < kMaxPageBytes;
    }
    part_.append(bytes);
    const auto now = std::chrono::steady_clock::now();
    if (options_.progress && now - last_progress_ >= kProgressInterval) {
      last_progress_ = now;
      options_.progress({what_, part_.size(), part_.state().total_bytes, begun_at_});
    }
    return true;
  }

  PartFile& part_;
  const DownloadOptions& options_;
  std::string what_;
  std::uint64_t asked_for_, begun_at_;
  std::string first_bytes_, page_;
  bool decided_ = false, is_page_ = false, mismatched_ = false;
  std::chrono::steady_clock::time_point last_progress_{};
};

[[noreturn]] void refuse_status(long status, const std::string& url) {
  const std::string host = parse_address(url).host;
  std::string hint = "open the address in a browser: the file may have moved";
  if (status == 401 || status == 403) {
    hint =
        host.find("kaggle") != std::string::npos
            ? "the token was not accepted, or the dataset's rules were not: open its page in a browser, sign "
              "in, accept the rules and make a new token at https://www.kaggle.com/settings"
            : "the server wants a login or forbids it; open the address in a browser and download there";
  }
  const char* text = status == 401   ? " (not signed in)"
                     : status == 403 ? " (forbidden)"
                     : status == 404 ? " (not found)"
                     : status == 410 ? " (gone)"
                     : status == 429 ? " (too many requests)"
                                     : "";
  throw Error(ExitCode::kFailed, fmt::format("the server answers {}{}", status, text), url, hint);
}

// The whole of one download: tries until the part file is complete.
class Download {
 public:
  Download(std::string url, const DownloadOptions& options, PartFile& part, std::string what)
      : asked_url_(url),
        url_(std::move(url)),
        options_(options),
        part_(part),
        what_(std::move(what)),
        best_(part.size()) {}

  void run() {
    while (!try_once()) {
    }
  }

 private:
  std::string kept() const {
    return part_.size() == 0 ? "nothing came yet; run it again"
                             : fmt::format("{} are kept in {}; the same command goes on from there",
                                           format_bytes(part_.size()), part_.part_path().string());
  }

  // True when the file is complete. Throws when another try is of no use.
  bool try_once() {
    const bool complete = part_.size() > 0 && part_.size() == part_.state().total_bytes;
    if (complete) return true;
    const bool may_resume = !part_.state().validator.empty() || options_.digest;
    if (part_.size() > 0 && !may_resume) part_.restart();  // two versions could be glued together
    Request request{url_, part_.size(), part_.size() > 0 ? part_.state().validator : "", options_.user,
                    options_.password};
    request.max_redirects = options_.max_redirects;
    request.stall_seconds = options_.stall_seconds;
    if (url_ != asked_url_) request.user.clear();  // a confirmed address needs no token
    BodySink sink(part_, options_, what_);
    Transferred answer = perform(request, sink, options_.stop);
    if (answer.ending == Ending::kDone && !sink.on_end(answer.head)) answer.ending = Ending::kStopped;
    if (sink.is_page()) return follow_page(sink.page(), answer.head.url);
    if (sink.mismatched()) {
      part_.restart();
      return again("the file at the server has changed meanwhile", std::nullopt);
    }
    switch (answer.ending) {
      case Ending::kUntrusted:
        throw Error(ExitCode::kFailed, "the server's certificate is not trusted: " + answer.message, url_,
                    "check the clock and the package ca-certificates; on a network that opens TLS, give its "
                    "certificate with CURL_CA_BUNDLE or SSL_CERT_FILE");
      case Ending::kRedirects:
        throw Error(ExitCode::kFailed,
                    "the server sends on and on, or to where maskfit does not go: " + answer.message, url_,
                    "open the address in a browser and copy the address of the file itself");
      case Ending::kUnreachable:
        return again("the server cannot be reached: " + answer.message, std::nullopt);
      case Ending::kDropped:
      case Ending::kStopped:
        return again("the connection broke: " + answer.message, std::nullopt);
      case Ending::kDone:
        break;
    }
    return judge_status(answer.head);
  }

  bool judge_status(const AnswerHead& head) {
    if (head.status == 200 || head.status == 206) {
      const std::uint64_t total = part_.state().total_bytes;
      if (total == 0 || part_.size() == total) return true;
      if (part_.size() > total) part_.restart();
      return again(fmt::format("{} of {} bytes came", part_.size(), total), std::nullopt);
    }
    if (head.status == 416) {
      const ContentRange range = parse_content_range(head.header("content-range"));
      if (range.known && range.total == part_.size() && part_.size() > 0) return true;
      part_.restart();
      return again("the server has fewer bytes than came already", std::nullopt);
    }
    if (!is_passing(head.status)) refuse_status(head.status, head.url);
    return again(fmt::format("the server answers {}", head.status),
                 parse_retry_after(head.header("retry-after"), std::time(nullptr)));
  }

  bool follow_page(const std::string& page, const std::string& page_url) {
    const std::optional<std::string> target = confirmed_address(page, page_url);
    if (target && confirmations_++ < kMaxConfirmations) {
      url_ = *target;
      return false;
    }
    const PageReason reason = page_reason(page, page_url);
    throw Error(ExitCode::kRefused, reason.what, asked_url_, reason.hint);
  }

  // Counts the failure and waits; always false.
  bool again(const std::string& why, std::optional<double> asked_wait) {
    if (part_.size() > best_) {
      best_ = part_.size();
      failures_ = 0;
    }
    if (++failures_ >= options_.retry.tries) {
      throw Error(ExitCode::kFailed,
                  fmt::format("{} ({} tries in a row without anything new)", why, failures_), url_, kept());
    }
    if (asked_wait && *asked_wait > options_.retry.longest_retry_after_seconds) {
      throw Error(ExitCode::kFailed,
                  fmt::format("{} and asks to come back in {}", why, base::format_duration(*asked_wait)),
                  url_, kept());
    }
    const double wait = std::max(asked_wait.value_or(0),
                                 wait_seconds(options_.retry, failures_, std::hash<std::string>{}(url_)));
    if (options_.notice) options_.notice(fmt::format("{}: {}; trying again in {:.1f} s", what_, why, wait));
    sleep_or_stop(wait, options_.stop);
    return false;
  }

  std::string asked_url_, url_;
  const DownloadOptions& options_;
  PartFile& part_;
  std::string what_;
  std::uint64_t best_;
  int failures_ = 0, confirmations_ = 0;
};

// The name while the server's is not known; two addresses whose paths end alike must not share it.
std::string name_before_answer(const std::string& url, const DownloadOptions& options) {
  if (!options.file_name.empty()) return options.file_name;
  std::string name = file_name_of(url);
  if (!name.empty() && parse_address(url).query.empty()) return name;
  return (name.empty() ? "download" : name) + "-" + base::sha256(url).substr(0, 8);
}

bool already_there(const fs::path& file, const DownloadOptions& options, Downloaded* result) {
  std::error_code ignored;
  if (!fs::exists(file, ignored) || options.overwrite) return false;
  const std::uint64_t size = fs::file_size(file, ignored);
  if (options.digest && file_digest(file, options.digest->algorithm, options.stop) == options.digest->hex) {
    *result = {file, size, 0, true, true, file_digest(file, "sha256", options.stop)};
    return true;
  }
  if (!options.digest && options.bytes > 0 && size == options.bytes) {
    *result = {file, size, 0, true, false, file_digest(file, "sha256", options.stop)};
    return true;
  }
  throw Error(
      ExitCode::kFailed, "the file exists already", file.string(),
      options.digest ? "it is not what was published: --force fetches it again" : "--force fetches it again");
}

// Throws away what is not the published file.
void check_published(PartFile& part, const DownloadOptions& options, const std::string& url) {
  if (options.digest) {
    const std::string found = file_digest(part.part_path(), options.digest->algorithm, options.stop);
    if (found != options.digest->hex) {
      part.discard();
      throw Error(ExitCode::kRefused,
                  fmt::format("the file is not the published one: {} {} instead of {}",
                              options.digest->algorithm, found, options.digest->hex),
                  url,
                  "it was removed; if a second download gives the same, the publisher has changed the file");
    }
  } else if (options.bytes > 0 && part.size() != options.bytes) {
    part.discard();
    throw Error(ExitCode::kRefused,
                fmt::format("the file has {} bytes, published are {}", part.size(), options.bytes), url,
                "it was removed; look at the publisher's page whether the file was replaced");
  }
}

}  // namespace

Downloaded download(const std::string& asked, const DownloadOptions& options) {
  const std::string url = direct_address(asked);
  const std::string name = name_before_answer(url, options);
  Downloaded result;
  if (already_there(options.folder / name, options, &result)) return result;
  std::error_code error;
  fs::create_directories(options.folder, error);
  if (error) {
    throw Error(ExitCode::kFailed, "cannot create the folder: " + error.message(), options.folder.string());
  }
  PartFile part(options.folder / name, url);
  result.resumed_at = part.size();
  if (options.bytes > part.size()) {
    require_free(options.folder, options.bytes - part.size(), options.spare_disk_bytes,
                 "the download of " + name);
  }
  try {
    Download(url, options, part, name).run();
    check_published(part, options, asked);
  } catch (const Error&) {
    if (part.size() == 0) part.discard();  // nothing to go on from
    throw;
  }
  if (options.progress) options.progress({name, part.size(), part.size(), result.resumed_at});
  const std::string server_name = options.file_name.empty() ? part.state().file_name : "";
  result.file = options.folder / (server_name.empty() ? name : server_name);
  result.bytes = part.size();
  result.checked = options.digest.has_value();
  result.sha256 = file_digest(part.part_path(), "sha256", options.stop);
  if (!server_name.empty() && !options.overwrite && fs::exists(result.file, error)) {
    throw Error(
        ExitCode::kFailed, "the file exists already", result.file.string(),
        fmt::format("the download is complete in {}; --force puts it there", part.part_path().string()));
  }
  part.finish(result.file);
  return result;
}

}  // namespace maskfit::fetch
