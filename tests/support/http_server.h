#pragma once

// A small HTTP/1.1 server on 127.0.0.1 that misbehaves on purpose: the handler writes raw bytes, so that it
// can lie about lengths, stop half-way and reset the connection.

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace maskfit::support {

struct HttpRequest {
  std::string target;                          // "/x?y=z"
  std::map<std::string, std::string> headers;  // lower-case names
  std::string header(const std::string& name) const;
  // The first byte of "Range: bytes=N-", or 0.
  std::uint64_t range_start() const;
};

class HttpConnection {
 public:
  explicit HttpConnection(int fd) : fd_(fd) {}
  // False when the client has gone.
  bool send(std::string_view bytes);
  // Status line and headers ("Content-Length: 5\r\n..." without the empty line), then the body.
  bool answer(int status, const std::string& headers, std::string_view body);
  void reset();  // the client sees a reset connection instead of an orderly end

 private:
  int fd_;
};

class HttpServer {
 public:
  using Handler = std::function<void(const HttpRequest&, HttpConnection&)>;
  // One request a connection, a thread each; the handler must be safe to call from several threads.
  explicit HttpServer(Handler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::string url(const std::string& target = "/") const;  // "http://127.0.0.1:PORT/..."
  int port() const { return port_; }
  std::vector<HttpRequest> requests() const;  // so far, in the order of arrival

 private:
  void serve();
  void handle(int fd);

  Handler handler_;
  int listener_ = -1, port_ = 0;
  std::atomic<bool> closing_{false};
  mutable std::mutex mutex_;
  std::vector<HttpRequest> requests_;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

// The handler of a well-behaved file server: ranges, If-Range, ETag, 416.
void answer_file(const HttpRequest& request, HttpConnection& connection, std::string_view file,
                 const std::string& etag);

}  // namespace maskfit::support
