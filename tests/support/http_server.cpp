#include "tests/support/http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>

namespace maskfit::support {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

// Up to and with the empty line; "" when the client goes before.
std::string read_head(int fd) {
  std::string head;
  char byte = 0;
  while (head.find("\r\n\r\n") == std::string::npos) {
    if (head.size() > 65536 || ::recv(fd, &byte, 1, 0) != 1) return "";
    head += byte;
  }
  return head;
}

HttpRequest parse(const std::string& head) {
  HttpRequest request;
  const auto first = head.find(' '), second = head.find(' ', first + 1);
  request.target = head.substr(first + 1, second - first - 1);
  for (std::size_t at = head.find("\r\n") + 2; at < head.size();) {
    const auto end = head.find("\r\n", at);
    const auto colon = head.find(": ", at);
    if (end == at || end == std::string::npos) break;
    if (colon < end)
      request.headers[lower(head.substr(at, colon - at))] = head.substr(colon + 2, end - colon - 2);
    at = end + 2;
  }
  return request;
}

}  // namespace

std::string HttpRequest::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

std::uint64_t HttpRequest::range_start() const {
  const std::string range = header("range");
  return range.rfind("bytes=", 0) == 0 ? std::stoull(range.substr(6)) : 0;
}

bool HttpConnection::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

bool HttpConnection::answer(int status, const std::string& headers, std::string_view body) {
  return send("HTTP/1.1 " + std::to_string(status) + " Test\r\nConnection: close\r\n" + headers +
              (headers.empty() || headers.ends_with("\r\n") ? "" : "\r\n") + "\r\n") &&
         send(body);
}

void HttpConnection::reset() {
  const linger at_once{1, 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

HttpServer::HttpServer(Handler handler) : handler_(std::move(handler)) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (listener_ < 0 || ::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(listener_, 16) != 0 ||
      ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw std::runtime_error("cannot listen on 127.0.0.1");
  }
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { serve(); });
}

HttpServer::~HttpServer() {
  closing_ = true;
  acceptor_.join();
  for (std::thread& thread : threads_) thread.join();
  ::close(listener_);
}

std::string HttpServer::url(const std::string& target) const {
  return "http://127.0.0.1:" + std::to_string(port_) + target;
}

std::vector<HttpRequest> HttpServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void HttpServer::serve() {
  while (!closing_) {
    pollfd waiting{listener_, POLLIN, 0};
    if (::poll(&waiting, 1, 20) <= 0) continue;
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd >= 0) threads_.emplace_back([this, fd] { handle(fd); });
  }
}

void HttpServer::handle(int fd) {
  const timeval patience{10, 0};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  const std::string head = read_head(fd);
  if (!head.empty()) {
    const HttpRequest request = parse(head);
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
    }
    HttpConnection connection(fd);
    handler_(request, connection);
  }
  ::close(fd);
}

void answer_file(const HttpRequest& request, HttpConnection& connection, std::string_view file,
                 const std::string& etag) {
  const std::string tag = etag.empty() ? "" : "ETag: " + etag + "\r\n";
  const std::string condition = request.header("if-range");
  const bool ranged = !request.header("range").empty() && (condition.empty() || condition == etag);
  const std::uint64_t start = ranged ? request.range_start() : 0;
  const std::string size = std::to_string(file.size());
  if (ranged && start >= file.size()) {
    connection.answer(416, "Content-Range: bytes */" + size + "\r\nContent-Length: 0\r\n", "");
    return;
  }
  const std::string_view body = file.substr(start);
  const std::string length = "Content-Length: " + std::to_string(body.size()) + "\r\n";
  if (ranged) {
    connection.answer(206,
                      tag + length + "Content-Range: bytes " + std::to_string(start) + "-" +
                          std::to_string(file.size() - 1) + "/" + size + "\r\n",
                      body);
  } else {
    connection.answer(200, tag + length, body);
  }
}

}  // namespace maskfit::support
