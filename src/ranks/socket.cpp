#include "ranks/socket.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace maskfit::ranks {
namespace {

// A machine that loses its power says nothing; these make the kernel ask.
constexpr int kIdleSeconds = 10, kProbeSeconds = 5, kProbes = 3, kUnacknowledgedMs = 25000;
constexpr int kBacklog = 1024;

[[noreturn]] void fail(const std::string& what, bool late = false) {
  throw SocketError(what, late);
}

void set_option(int fd, int level, int option, int value) {
  ::setsockopt(fd, level, option, &value, sizeof(value));
}

void tune(int fd) {
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, kIdleSeconds);
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, kProbeSeconds);
  set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, kProbes);
  set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, kUnacknowledgedMs);
}

int milliseconds_to(Deadline deadline) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1000000000));
}

void wait_for(pollfd* polled, nfds_t count, Deadline deadline) {
  for (;;) {
    const int ready = ::poll(polled, count, milliseconds_to(deadline));
    if (ready > 0) return;
    if (ready == 0) fail("nothing came in time", true);
    if (errno != EINTR) fail(std::strerror(errno));
  }
}

// Bytes sent now; 0: the socket is full.
std::size_t send_some(int fd, std::span<const std::byte> bytes) {
  const ssize_t n = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (n >= 0) return static_cast<std::size_t>(n);
  if (errno == EAGAIN || errno == EINTR) return 0;
  fail(std::strerror(errno));
}

std::size_t receive_some(int fd, std::span<std::byte> bytes) {
  const ssize_t n = ::recv(fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (n > 0) return static_cast<std::size_t>(n);
  if (n == 0) fail("the connection was closed");
  if (errno == EAGAIN || errno == EINTR) return 0;
  fail(std::strerror(errno));
}

}  // namespace

Socket::~Socket() {
  if (fd_ >= 0) ::close(fd_);
}

Socket& Socket::operator=(Socket&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

void Socket::shut_down() const {
  if (fd_ >= 0) ::shutdown(fd_, SHUT_RDWR);
}

Socket listen_on(int port, int tries, bool loopback) {
  for (int i = 0; i < tries; ++i) {
    Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket.open()) fail(std::strerror(errno));
    set_option(socket.fd(), SOL_SOCKET, SO_REUSEADDR, 1);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port == 0 ? 0 : port + i));
    address.sin_addr.s_addr = htonl(loopback ? INADDR_LOOPBACK : INADDR_ANY);
    if (::bind(socket.fd(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) continue;
    if (::listen(socket.fd(), kBacklog) == 0) return socket;
  }
  fail(fmt::format("no port from {} to {} is free", port, port + tries - 1));
}

int port_of(const Socket& listener) {
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  ::getsockname(listener.fd(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

Socket accept_from(const Socket& listener, Deadline deadline) {
  for (;;) {
    pollfd polled{listener.fd(), POLLIN, 0};
    wait_for(&polled, 1, deadline);
    Socket socket(::accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket.open()) continue;
    tune(socket.fd());
    return socket;
  }
}

Socket connect_to(const std::string& host, int port, Deadline deadline) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int trouble = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (trouble != 0) fail(fmt::format("{}: {}", host, ::gai_strerror(trouble)));
  Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int begun = ::connect(socket.fd(), found->ai_addr, found->ai_addrlen);
  const int error = errno;
  ::freeaddrinfo(found);
  if (begun != 0 && error != EINPROGRESS) return {};
  pollfd polled{socket.fd(), POLLOUT, 0};
  if (::poll(&polled, 1, milliseconds_to(deadline)) <= 0) return {};
  int result = 0;
  socklen_t size = sizeof(result);
  ::getsockopt(socket.fd(), SOL_SOCKET, SO_ERROR, &result, &size);
  if (result != 0) return {};
  tune(socket.fd());
  return socket;
}

std::string peer_address(const Socket& socket) {
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  ::getpeername(socket.fd(), reinterpret_cast<sockaddr*>(&address), &size);
  char text[INET_ADDRSTRLEN] = {};
  ::inet_ntop(AF_INET, &address.sin_addr, text, sizeof(text));
  return text;
}

void send_all(const Socket& socket, std::span<const std::byte> bytes, Deadline deadline) {
  exchange(socket, bytes, socket, {}, deadline);
}

void receive_all(const Socket& socket, std::span<std::byte> bytes, Deadline deadline) {
  exchange(socket, {}, socket, bytes, deadline);
}

void exchange(const Socket& to, std::span<const std::byte> out, const Socket& from, std::span<std::byte> in,
              Deadline deadline) {
  while (!out.empty() || !in.empty()) {
    if (!out.empty()) out = out.subspan(send_some(to.fd(), out));
    if (!in.empty()) in = in.subspan(receive_some(from.fd(), in));
    pollfd polled[2];
    nfds_t count = 0;
    if (!out.empty()) polled[count++] = {to.fd(), POLLOUT, 0};
    if (!in.empty()) polled[count++] = {from.fd(), POLLIN, 0};
    if (count > 0) wait_for(polled, count, deadline);
  }
}

}  // namespace maskfit::ranks
