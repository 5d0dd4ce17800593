#include "ranks/meeting.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <thread>

#include "base/error.h"

namespace maskfit::ranks {
namespace {

using base::Error;
using base::ExitCode;

constexpr std::uint32_t kMagic = 0x6d66726bu;  // of this protocol and version
constexpr std::chrono::milliseconds kBetweenCalls{100};
constexpr std::chrono::seconds kGreeting{10};  // a caller that says nothing for so long is none of ours

enum class Line : std::uint32_t { kControl, kLifeline, kRing };

struct Hello {
  std::uint32_t magic = kMagic;
  Line line = Line::kControl;
  std::uint32_t rank = 0, ranks = 0;
  std::uint32_t port = 0;  // kControl: where this rank listens for its neighbour
  char job[64] = {};
};

// Where a rank listens; host "": at rank 0's address.
struct Address {
  char host[64] = {};
  std::uint32_t port = 0;
};

Hello hello(const Place& place, Line line, int port = 0) {
  Hello mine{.line = line,
             .rank = static_cast<std::uint32_t>(place.rank),
             .ranks = static_cast<std::uint32_t>(place.ranks),
             .port = static_cast<std::uint32_t>(port)};
  std::strncpy(mine.job, place.job.c_str(), sizeof(mine.job) - 1);
  return mine;
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host.starts_with("127.");
}

template <typename T>
void send_value(const Socket& socket, const T& value, Deadline deadline) {
  send_all(socket, std::as_bytes(std::span(&value, 1)), deadline);
}

template <typename T>
T receive_value(const Socket& socket, Deadline deadline) {
  T value{};
  receive_all(socket, std::as_writable_bytes(std::span(&value, 1)), deadline);
  return value;
}

// One more byte both ways, so that a stranger who answers at this port is not taken for rank 0.
constexpr std::uint32_t kWelcome = kMagic + 1;

class First {
 public:
  First(const Place& place, Deadline deadline) : place_(place), deadline_(deadline) {
    listener_ = place.listener >= 0 ? Socket(place.listener)
                                    : listen_on(place.port, kPortsTried, is_loopback(place.address));
  }

  Meeting meet() {
    const auto others = static_cast<std::size_t>(place_.ranks - 1);
    std::vector<Hello> hellos(others);
    Meeting meeting;
    meeting.control.resize(others);
    meeting.lifelines.resize(others);
    for (int rank = 1; rank < place_.ranks; ++rank) meeting.peers.push_back(rank);
    for (std::size_t open = 0; open < 2 * others;) open += welcome(meeting, hellos) ? 1 : 0;
    tell_neighbours(meeting, hellos);
    meeting.next = connect_to(address_of(meeting.control[0]), static_cast<int>(hellos[0].port), deadline_);
    if (!meeting.next.open()) throw SocketError("rank 1 cannot be called", false);
    send_value(meeting.next, hello(place_, Line::kRing), deadline_);
    while (!meeting.previous.open()) welcome(meeting, hellos);
    return meeting;
  }

 private:
  static std::string address_of(const Socket& socket) { return peer_address(socket); }

  // Takes one call; whether it was of a rank of this job for control or lifeline.
  bool welcome(Meeting& meeting, std::vector<Hello>& hellos) {
    Socket caller;
    try {
      caller = accept_from(listener_, deadline_);
    } catch (const SocketError&) {
      throw missing(meeting);
    }
    Hello theirs;
    try {
      theirs = receive_value<Hello>(caller, std::chrono::steady_clock::now() + kGreeting);
    } catch (const SocketError&) {
      return false;
    }
    if (theirs.magic != kMagic || std::string(theirs.job) != std::string(hello(place_, theirs.line).job)) {
      return false;
    }
    if (static_cast<int>(theirs.ranks) != place_.ranks || theirs.rank == 0 ||
        static_cast<int>(theirs.rank) >= place_.ranks) {
      throw Error(ExitCode::kUsage, fmt::format("rank {} of {} calls where {} ranks are to meet", theirs.rank,
                                                theirs.ranks, place_.ranks));
    }
    if (theirs.line == Line::kRing) {
      meeting.previous = std::move(caller);
      return false;
    }
    const std::size_t index = theirs.rank - 1;
    Socket& place = theirs.line == Line::kControl ? meeting.control[index] : meeting.lifelines[index];
    if (place.open()) throw Error(ExitCode::kUsage, fmt::format("there are two ranks {}", theirs.rank));
    if (theirs.line == Line::kControl) hellos[index] = theirs;
    send_value(caller, kWelcome, deadline_);
    place = std::move(caller);
    return true;
  }

  void tell_neighbours(const Meeting& meeting, const std::vector<Hello>& hellos) {
    for (std::size_t i = 0; i < meeting.control.size(); ++i) {
      Address next;  // the last one's is rank 0, which it knows
      if (i + 1 < meeting.control.size()) {
        const std::string host = peer_address(meeting.control[i + 1]);
        if (!is_loopback(host)) std::strncpy(next.host, host.c_str(), sizeof(next.host) - 1);
        next.port = hellos[i + 1].port;
      }
      send_value(meeting.control[i], next, deadline_);
    }
  }

  Error missing(const Meeting& meeting) const {
    std::vector<int> absent;
    for (std::size_t i = 0; i < meeting.control.size(); ++i) {
      if (!meeting.control[i].open()) absent.push_back(static_cast<int>(i) + 1);
    }
    return Error(ExitCode::kFailed,
                 fmt::format("of {} ranks these have not come: {}", place_.ranks, fmt::join(absent, ", ")),
                 fmt::format("{}:{}", place_.address, port_of(listener_)),
                 "look at their logs; see that their machines reach this one at that port");
  }

  const Place& place_;
  const Deadline deadline_;
  Socket listener_;
};

// Calls rank 0 until it answers; it may start later than this rank, at any of its ports. `port` keeps the one
// that answered.
Socket call_first(const Place& place, const Hello& mine, int* port, Deadline deadline) {
  const int first = *port > 0 ? *port : place.port;
  const int tries = *port > 0 || place.starter == "maskfit" ? 1 : kPortsTried;
  for (;;) {
    for (int i = 0; i < tries; ++i) {
      if (std::chrono::steady_clock::now() > deadline) {
        throw Error(ExitCode::kFailed, fmt::format("rank {} does not reach rank 0", place.rank),
                    fmt::format("{}:{}", place.address, first),
                    "look at rank 0's log; see that this machine reaches it there");
      }
      try {
        Socket socket = connect_to(place.address, first + i, deadline);
        if (!socket.open()) continue;
        send_value(socket, mine, deadline);
        const Deadline answer = std::min(deadline, std::chrono::steady_clock::now() + kGreeting);
        if (receive_value<std::uint32_t>(socket, answer) != kWelcome) continue;
        *port = first + i;
        return socket;
      } catch (const SocketError&) {
        // Somebody else's port, or a machine that is not up yet.
      }
    }
    std::this_thread::sleep_for(kBetweenCalls);
  }
}

Meeting meet_first(const Place& place, Deadline deadline) {
  const Socket listener = listen_on(0, 1, is_loopback(place.address));
  Meeting meeting;
  meeting.peers = {0};
  int port = 0;
  meeting.control.push_back(
      call_first(place, hello(place, Line::kControl, port_of(listener)), &port, deadline));
  meeting.lifelines.push_back(call_first(place, hello(place, Line::kLifeline), &port, deadline));
  const auto next = receive_value<Address>(meeting.control[0], deadline);
  const std::string host = next.host[0] == '\0' ? place.address : std::string(next.host);
  meeting.next = connect_to(host, next.port == 0 ? port : static_cast<int>(next.port), deadline);
  if (!meeting.next.open()) throw SocketError(host + " cannot be called", false);
  send_value(meeting.next, hello(place, Line::kRing), deadline);
  meeting.previous = accept_from(listener, deadline);
  const auto before = receive_value<Hello>(meeting.previous, deadline);
  const auto expected = static_cast<std::uint32_t>(place.rank - 1);
  MASKFIT_CHECK(before.magic == kMagic && before.rank == expected, "rank {} calls, not {}", before.rank,
                expected);
  return meeting;
}

}  // namespace

Meeting meet(const Place& place, std::chrono::milliseconds timeout) {
  const Deadline deadline = std::chrono::steady_clock::now() + timeout;
  try {
    return place.rank == 0 ? First(place, deadline).meet() : meet_first(place, deadline);
  } catch (const SocketError& error) {
    throw Error(ExitCode::kFailed,
                fmt::format("rank {} did not meet the others: {}", place.rank, error.what()),
                fmt::format("{}:{}", place.address, place.port));
  }
}

}  // namespace maskfit::ranks
