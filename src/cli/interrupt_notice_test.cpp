#include "cli/interrupt_notice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

namespace maskfit::cli {
namespace {
using namespace std::chrono_literals;

struct Notice {
  std::atomic<bool> stop{false};
  std::atomic<int> said{0};

  std::function<void(const std::string&)> say() {
    return [this](const std::string& sentence) {
      EXPECT_THAT(sentence, testing::HasSubstr("Ctrl-C again"));
      ++said;
    };
  }
};

TEST(InterruptNotice, SpeaksOnceWhenTheStepTakesLonger) {
  Notice n;
  {
    const InterruptNotice notice(base::StopToken(&n.stop), 1ms, n.say());
    n.stop = true;
    for (int i = 0; i < 200 && n.said == 0; ++i) std::this_thread::sleep_for(25ms);
    std::this_thread::sleep_for(120ms);
  }
  EXPECT_EQ(n.said, 1);
}

TEST(InterruptNotice, IsSilentWithoutAStopAndWhenItComesToItsEndAtOnce) {
  Notice n;
  { const InterruptNotice notice(base::StopToken(&n.stop), 1ms, n.say()); }
  EXPECT_EQ(n.said, 0);
  {
    const InterruptNotice notice(base::StopToken(&n.stop), 1h, n.say());
    n.stop = true;
    std::this_thread::sleep_for(120ms);
  }
  EXPECT_EQ(n.said, 0);
}

}  // namespace
}  // namespace maskfit::cli
