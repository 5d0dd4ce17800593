#include "fetch/transfer.h"

#include <curl/curl.h>

#include <exception>
#include <memory>
#include <mutex>

#include "base/error.h"
#include "base/text.h"
#include "base/version.h"

namespace maskfit::fetch {
namespace {

struct State {
  CURL* handle = nullptr;
  AnswerSink* sink = nullptr;
  base::StopToken stop;
  AnswerHead head;
  std::exception_ptr failure;  // of the sink; C code must not see it
  bool stopped = false;
};

void fill_in(State& state) {
  curl_easy_getinfo(state.handle, CURLINFO_RESPONSE_CODE, &state.head.status);
  const char* url = nullptr;
  curl_easy_getinfo(state.handle, CURLINFO_EFFECTIVE_URL, &url);
  state.head.url = url == nullptr ? "" : url;
}

std::size_t on_header(const char* bytes, std::size_t, std::size_t size, void* user) {
  auto& state = *static_cast<State*>(user);
  const std::string_view line(bytes, size);
  if (line.starts_with("HTTP/")) state.head.headers.clear();  // the next answer of a chain
  const auto colon = line.find(':');
  if (colon != std::string_view::npos) {
    state.head.headers[base::to_lower(line.substr(0, colon))] = base::trim(line.substr(colon + 1));
  }
  return size;
}

std::size_t on_body(const char* bytes, std::size_t, std::size_t size, void* user) {
  auto& state = *static_cast<State*>(user);
  try {
    if (state.head.status == 0) fill_in(state);
    if (state.sink->on_bytes(state.head, {bytes, size})) return size;
    state.stopped = true;
  } catch (...) {
    state.failure = std::current_exception();
  }
  return size == 0 ? 1 : 0;  // anything but `size` ends the transfer
}

int on_progress(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<State*>(user)->stop.stop_requested() ? 1 : 0;
}

Ending ending_of(CURLcode code) {
  switch (code) {
    case CURLE_OK:
      return Ending::kDone;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
      return Ending::kUnreachable;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_ISSUER_ERROR:
      return Ending::kUntrusted;
    case CURLE_TOO_MANY_REDIRECTS:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
      return Ending::kRedirects;
    default:
      return Ending::kDropped;
  }
}

void set_options(CURL* handle, const Request& request) {
  curl_easy_setopt(handle, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);  // SIGINT is interrupt_token()'s
  curl_easy_setopt(handle, CURLOPT_USERAGENT, ("maskfit/" + std::string(base::version())).c_str());
  const bool plain = base::to_lower(request.url.substr(0, 5)) == "http:";
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(handle, CURLOPT_REDIR_PROTOCOLS_STR, plain ? "http,https" : "https");
  curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(handle, CURLOPT_MAXREDIRS, static_cast<long>(request.max_redirects));
  curl_easy_setopt(handle, CURLOPT_COOKIEFILE, "");  // cookies of this transfer, kept in memory
  curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request.connect_seconds * 1000));
  curl_easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(handle, CURLOPT_LOW_SPEED_TIME, static_cast<long>(request.stall_seconds));
  curl_easy_setopt(handle, CURLOPT_SSL_VERIFYPEER, 1L);
  curl_easy_setopt(handle, CURLOPT_SSL_VERIFYHOST, 2L);
  if (!request.user.empty()) {
    curl_easy_setopt(handle, CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BASIC));
    curl_easy_setopt(handle, CURLOPT_USERNAME, request.user.c_str());
    curl_easy_setopt(handle, CURLOPT_PASSWORD, request.password.c_str());
  }
  if (request.first_byte > 0) {
    curl_easy_setopt(handle, CURLOPT_RANGE, fmt::format("{}-", request.first_byte).c_str());
  }
}

}  // namespace

std::string AnswerHead::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

std::optional<std::uint64_t> AnswerHead::content_length() const {
  long long length = 0;
  if (!base::parse_int(header("content-length"), &length) || length < 0) return std::nullopt;
  return static_cast<std::uint64_t>(length);
}

Transferred perform(const Request& request, AnswerSink& sink, base::StopToken stop) {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
  const std::unique_ptr<CURL, void (*)(CURL*)> handle(curl_easy_init(), curl_easy_cleanup);
  MASKFIT_CHECK(handle != nullptr, "libcurl gives no handle");
  set_options(handle.get(), request);

  State state{handle.get(), &sink, stop, {}, nullptr, false};
  curl_slist* list = curl_slist_append(nullptr, "Accept-Encoding: identity");  // bytes as they lie there
  if (!request.if_range.empty()) list = curl_slist_append(list, ("If-Range: " + request.if_range).c_str());
  const std::unique_ptr<curl_slist, void (*)(curl_slist*)> lines(list, curl_slist_free_all);
  curl_easy_setopt(handle.get(), CURLOPT_HTTPHEADER, lines.get());
  char message[CURL_ERROR_SIZE] = "";
  curl_easy_setopt(handle.get(), CURLOPT_ERRORBUFFER, message);
  curl_easy_setopt(handle.get(), CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(handle.get(), CURLOPT_HEADERDATA, &state);
  curl_easy_setopt(handle.get(), CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(handle.get(), CURLOPT_WRITEDATA, &state);
  curl_easy_setopt(handle.get(), CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(handle.get(), CURLOPT_XFERINFOFUNCTION, on_progress);
  curl_easy_setopt(handle.get(), CURLOPT_XFERINFODATA, &state);

  const CURLcode code = curl_easy_perform(handle.get());
  if (state.failure) std::rethrow_exception(state.failure);
  stop.throw_if_requested();
  fill_in(state);
  Transferred result{state.stopped ? Ending::kStopped : ending_of(code), "", std::move(state.head)};
  if (code != CURLE_OK) result.message = message[0] != '\0' ? message : curl_easy_strerror(code);
  return result;
}

}  // namespace maskfit::fetch
