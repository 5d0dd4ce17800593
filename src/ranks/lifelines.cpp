#include "ranks/lifelines.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace maskfit::ranks {
namespace {

constexpr char kGoodbye = 'g', kFailed = 'f';
constexpr std::uint32_t kLongestText = 4096;
constexpr std::chrono::seconds kTold{2};  // for a message to leave or to arrive

Deadline soon() {
  return std::chrono::steady_clock::now() + kTold;
}

}  // namespace

Lifelines::Lifelines(int own_rank, std::vector<int> ranks, std::vector<Socket> peers,
                     std::function<void()> on_failure)
    : own_rank_(own_rank),
      ranks_(std::move(ranks)),
      peers_(std::move(peers)),
      on_failure_(std::move(on_failure)),
      at_end_(peers_.size(), false) {
  int pair[2];
  MASKFIT_CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0, "{}", std::strerror(errno));
  wake_reader_ = Socket(pair[0]);
  wake_writer_ = Socket(pair[1]);
  watcher_ = std::thread([this] { watch(); });
}

Lifelines::~Lifelines() {
  if (!failure()) tell_others(kGoodbye, "", -1);
  wake_writer_.shut_down();
  watcher_.join();
}

void Lifelines::tell_others(char kind, const std::string& text, int but) noexcept {
  const auto size = static_cast<std::uint32_t>(std::min<std::size_t>(text.size(), kLongestText));
  std::vector<std::byte> frame(1 + sizeof(size) + size);
  frame[0] = static_cast<std::byte>(kind);
  std::memcpy(frame.data() + 1, &size, sizeof(size));
  std::memcpy(frame.data() + 1 + sizeof(size), text.data(), size);
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    if (ranks_[i] == but) continue;
    try {
      send_all(peers_[i], frame, soon());
    } catch (const SocketError&) {
      // It has ended itself.
    }
  }
}

void Lifelines::note(const std::string& why, int from, bool own) {
  {
    const std::lock_guard lock(mutex_);
    if (failure_) return;
    failure_ = why;
  }
  tell_others(kFailed, why, from);
  news_.notify_all();
  if (!own && on_failure_) on_failure_();
}

void Lifelines::fail(const std::string& why) noexcept {
  try {
    note(fmt::format("rank {}: {}", own_rank_, why), -1, /*own=*/true);
  } catch (const std::exception&) {
    // Without memory for a sentence the closed connection says it.
  }
}

std::optional<std::string> Lifelines::failure(std::chrono::milliseconds patience) const {
  std::unique_lock lock(mutex_);
  news_.wait_for(lock, patience, [&] { return failure_.has_value(); });
  return failure_;
}

bool Lifelines::listen(std::size_t peer) {
  try {
    std::byte kind;
    std::uint32_t size = 0;
    receive_all(peers_[peer], {&kind, 1}, soon());
    receive_all(peers_[peer], std::as_writable_bytes(std::span(&size, 1)), soon());
    std::string text(std::min(size, kLongestText), '\0');
    receive_all(peers_[peer], std::as_writable_bytes(std::span(text)), soon());
    if (static_cast<char>(kind) == kFailed) note(text, ranks_[peer], false);
  } catch (const SocketError&) {
    note(fmt::format("rank {} has ended without a word: it was killed, ran out of memory or lost its "
                     "machine",
                     ranks_[peer]),
         ranks_[peer], false);
  }
  return false;  // one message is all that ever comes
}

void Lifelines::watch() {
  for (;;) {
    std::vector<pollfd> polled = {{wake_reader_.fd(), POLLIN, 0}};
    std::vector<std::size_t> peers;
    for (std::size_t i = 0; i < peers_.size(); ++i) {
      if (at_end_[i]) continue;
      polled.push_back({peers_[i].fd(), POLLIN, 0});
      peers.push_back(i);
    }
    if (::poll(polled.data(), polled.size(), -1) < 0) continue;
    if (polled[0].revents != 0) return;
    for (std::size_t i = 0; i < peers.size(); ++i) {
      if (polled[i + 1].revents != 0) at_end_[peers[i]] = !listen(peers[i]);
    }
  }
}

}  // namespace maskfit::ranks
