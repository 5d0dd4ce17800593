#include "ranks/group.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "base/background.h"
#include "base/error.h"
#include "ranks/lifelines.h"
#include "ranks/meeting.h"

namespace maskfit::ranks {
namespace {

using base::Error;
using base::ExitCode;

constexpr std::chrono::seconds kNews{3};  // until a broken connection has an explanation

// What a call is and how much it moves, to see ranks that do different things before they mix their bytes.
struct Header {
  std::uint32_t call = 0, kind = 0;
  std::uint64_t bytes = 0;
  bool operator==(const Header&) const = default;
};
enum Kind : std::uint32_t { kSum = 1, kAny = 2, kBroadcast = 3, kGather = 4 };

template <typename T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}
template <typename T>
std::span<std::byte> writable_bytes_of(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

}  // namespace

struct Group::Impl {
  Impl(const Place& place_in, const GroupOptions& options_in) : place(place_in), options(options_in) {
    if (place.ranks == 1) return;
    Meeting meeting = meet(place, options.timeout);
    next = std::move(meeting.next);
    previous = std::move(meeting.previous);
    control = std::move(meeting.control);
    lifelines = std::make_unique<Lifelines>(place.rank, meeting.peers, std::move(meeting.lifelines),
                                            [this] { on_failure(); });
  }
  ~Impl() { lifelines.reset(); }  // its thread uses the members below

  void on_failure() {
    for (const Socket& socket : control) socket.shut_down();
    next.shut_down();
    previous.shut_down();
    const std::lock_guard lock(mutex);
    if (act) act();
  }

  Deadline deadline() const { return std::chrono::steady_clock::now() + options.timeout; }

  [[noreturn]] void explain(const SocketError& error) const {
    if (const auto why = lifelines->failure(error.late ? std::chrono::seconds(0) : kNews)) throw failed(*why);
    if (error.late) {
      throw Error(ExitCode::kFailed,
                  fmt::format("rank {} waited {} s in vain for another rank", place.rank,
                              std::chrono::duration_cast<std::chrono::seconds>(options.timeout).count()),
                  "--rank-timeout",
                  "look for a rank that hangs, a slow disk or a blocked network; or wait longer");
    }
    throw Error(ExitCode::kFailed,
                fmt::format("rank {} has lost its connection to another rank: {}", place.rank, error.what()));
  }

  static Error failed(const std::string& why) {
    return Error(ExitCode::kFailed, why, "", "mend what it says, then go on with --resume");
  }

  // Runs it on the group's thread, with what went wrong explained.
  std::future<void> begin(std::function<void()> job) {
    return worker.add([this, job = std::move(job)] {
      if (const auto why = lifelines->failure()) throw failed(*why);
      try {
        job();
      } catch (const SocketError& error) {
        explain(error);
      }
    });
  }

  void require_same(const Header& mine, const Header& theirs) const {
    MASKFIT_CHECK(mine == theirs, "rank {} is at call {} of kind {} with {} bytes, another at {} {} {}",
                  place.rank, mine.call, mine.kind, mine.bytes, theirs.call, theirs.kind, theirs.bytes);
  }

  void send(const Socket& socket, Kind kind, std::span<const std::byte> bytes) {
    const Header header{calls, kind, bytes.size()};
    send_all(socket, bytes_of(header), deadline());
    send_all(socket, bytes, deadline());
  }

  std::string receive(const Socket& socket, Kind kind) {
    Header header;
    receive_all(socket, writable_bytes_of(header), deadline());
    require_same({calls, kind, header.bytes}, header);
    std::string bytes(header.bytes, '\0');
    receive_all(socket, std::as_writable_bytes(std::span(bytes)), deadline());
    return bytes;
  }

  template <typename T>
  void ring_sum(std::span<T> values);
  std::vector<std::string> gather(Kind kind, std::string mine);
  std::string broadcast(Kind kind, std::string bytes);

  const Place place;
  const GroupOptions options;
  Socket next, previous;        // in the ring
  std::vector<Socket> control;  // rank 0: one to each other rank, in order; elsewhere one to rank 0
  std::uint32_t calls = 0;
  std::mutex mutex;
  std::function<void()> act;
  std::unique_ptr<Lifelines> lifelines;
  base::Worker worker;
};

// Part p of the array is summed on its way round the ring, so that every rank gets the same bits: n - 1 steps
// after which rank r holds the sum of part r + 1, and n - 1 more in which the sums go round.
template <typename T>
void Group::Impl::ring_sum(std::span<T> values) {
  const std::size_t n = static_cast<std::size_t>(place.ranks), r = static_cast<std::size_t>(place.rank);
  const Header mine{++calls, kSum, values.size_bytes()};
  Header theirs;
  exchange(next, bytes_of(mine), previous, writable_bytes_of(theirs), deadline());
  require_same(mine, theirs);
  const auto part = [&](std::size_t p) {
    const std::size_t first = values.size() * p / n, last = values.size() * (p + 1) / n;
    return values.subspan(first, last - first);
  };
  std::vector<T> received(values.size() / n + 1);
  for (std::size_t step = 0; step + 1 < n; ++step) {
    const std::span<T> out = part((r + n - step) % n), sum = part((r + n - step - 1) % n);
    const std::span<T> in = std::span(received).first(sum.size());
    exchange(next, std::as_bytes(out), previous, std::as_writable_bytes(in), deadline());
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += in[i];
  }
  for (std::size_t step = 0; step + 1 < n; ++step) {
    exchange(next, std::as_bytes(part((r + n - step + 1) % n)), previous,
             std::as_writable_bytes(part((r + n - step) % n)), deadline());
  }
}

std::vector<std::string> Group::Impl::gather(Kind kind, std::string mine) {
  ++calls;
  if (place.rank != 0) {
    send(control[0], kind, std::as_bytes(std::span(mine)));
    return {};
  }
  std::vector<std::string> all = {std::move(mine)};
  for (const Socket& socket : control) all.push_back(receive(socket, kind));
  return all;
}

std::string Group::Impl::broadcast(Kind kind, std::string bytes) {
  ++calls;
  if (place.rank != 0) return receive(control[0], kind);
  for (const Socket& socket : control) send(socket, kind, std::as_bytes(std::span(bytes)));
  return bytes;
}

Group::Group(const Place& place, const GroupOptions& options)
    : impl_(std::make_unique<Impl>(place, options)) {}
Group::~Group() {
  on_failure({});
}

int Group::rank() const {
  return impl_->place.rank;
}
int Group::size() const {
  return impl_->place.ranks;
}
const Place& Group::place() const {
  return impl_->place;
}

std::future<void> Group::sum_later(std::span<float> values) {
  if (size() == 1) {
    std::promise<void> done;
    done.set_value();
    return done.get_future();
  }
  return impl_->begin([this, values] { impl_->ring_sum(values); });
}

void Group::sum(std::span<float> values) {
  sum_later(values).get();
}

void Group::sum(std::span<double> values) {
  if (size() > 1) impl_->begin([this, values] { impl_->ring_sum(values); }).get();
}

bool Group::any(bool mine) {
  if (size() == 1) return mine;
  impl_
      ->begin([&] {
        bool yes = false;
        for (const std::string& one : impl_->gather(kAny, mine ? "y" : "n")) yes |= one == "y";
        mine = impl_->broadcast(kAny, yes ? "y" : "n") == "y";
      })
      .get();
  return mine;
}

std::string Group::broadcast(std::string from_first) {
  if (size() == 1) return from_first;
  impl_->begin([&] { from_first = impl_->broadcast(kBroadcast, std::move(from_first)); }).get();
  return from_first;
}

std::vector<std::string> Group::gather(std::string mine) {
  if (size() == 1) return {std::move(mine)};
  std::vector<std::string> all;
  impl_->begin([&] { all = impl_->gather(kGather, std::move(mine)); }).get();
  return all;
}

void Group::fail(const std::string& why) noexcept {
  if (impl_->lifelines) impl_->lifelines->fail(why);
}

void Group::throw_if_failed() const {
  if (!impl_->lifelines) return;
  if (const auto why = impl_->lifelines->failure()) throw Impl::failed(*why);
}

void Group::on_failure(std::function<void()> act) {
  const std::lock_guard lock(impl_->mutex);
  impl_->act = std::move(act);
}

}  // namespace maskfit::ranks
