#pragma once

// TCP sockets as ranks use them: numbers of bytes, a deadline, no surprises.

#include <chrono>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

namespace maskfit::ranks {

using Deadline = std::chrono::steady_clock::time_point;

// The other end is gone, or nothing came before the deadline. what() says which.
class SocketError : public std::runtime_error {
 public:
  SocketError(const std::string& what, bool too_late) : std::runtime_error(what), late(too_late) {}
  bool late;
};

// Owns a descriptor.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket();
  Socket(Socket&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Socket& operator=(Socket&& other) noexcept;

  int fd() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  // Whoever waits for it wakes up, with an error.
  void shut_down() const;

 private:
  int fd_ = -1;
};

// Listens on the first free port of [port, port + tries); port 0: any. loopback: for this machine alone.
// Throws SocketError.
Socket listen_on(int port, int tries, bool loopback);
int port_of(const Socket& listener);
// Throws SocketError when nobody has called before the deadline.
Socket accept_from(const Socket& listener, Deadline deadline);
// One attempt; not open where nobody listens. Throws SocketError for a name that is none.
Socket connect_to(const std::string& host, int port, Deadline deadline);
// "10.0.0.3" of the other end.
std::string peer_address(const Socket& socket);

void send_all(const Socket& socket, std::span<const std::byte> bytes, Deadline deadline);
void receive_all(const Socket& socket, std::span<std::byte> bytes, Deadline deadline);
// Both at once, so that a ring of ranks that all send does not stand still.
void exchange(const Socket& to, std::span<const std::byte> out, const Socket& from, std::span<std::byte> in,
              Deadline deadline);

}  // namespace maskfit::ranks
