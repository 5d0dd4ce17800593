#pragma once

// One HTTP GET, through libcurl. No retry, no file: what to do with an answer is download.cpp's affair.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/interrupt.h"

namespace maskfit::fetch {

struct Request {
  std::string url;
  std::uint64_t first_byte = 0;  // above 0: "Range: bytes=first_byte-"
  std::string if_range;          // an ETag or a date; "" sends none
  std::string user, password;    // HTTP basic; sent to the first host only, never to where it redirects
  int max_redirects = 10;
  double connect_seconds = 30;
  double stall_seconds = 60;  // ends a transfer that brings less than a byte a second for so long
};

// The last answer's head, redirects behind it.
struct AnswerHead {
  long status = 0;
  std::string url;                                    // after redirects
  std::map<std::string, std::string> headers;         // lower-case names
  std::string header(const std::string& name) const;  // "" when it is not there
  std::optional<std::uint64_t> content_length() const;
};

class AnswerSink {
 public:
  virtual ~AnswerSink() = default;
  // The next bytes of the final answer's body; `head` is the same each time. False ends the transfer
  // (kStopped). Exceptions pass through perform().
  virtual bool on_bytes(const AnswerHead& head, std::string_view bytes) = 0;
};

enum class Ending {
  kDone,         // the whole body came, as far as the protocol can tell
  kDropped,      // the connection broke, stalled, or ended before the announced length
  kUnreachable,  // no connection: name, route, refused
  kUntrusted,    // TLS: the certificate or the handshake
  kRedirects,    // too many of them, or one to where it may not go
  kStopped,      // the sink said so
};

struct Transferred {
  Ending ending = Ending::kDone;
  std::string message;  // libcurl's, for all but kDone
  AnswerHead head;      // status 0 when no answer came
};

// Certificates are checked. http and https only; from https never back to http. Throws Error (kInterrupted).
Transferred perform(const Request& request, AnswerSink& sink, base::StopToken stop);

}  // namespace maskfit::fetch
