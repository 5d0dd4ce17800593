#include "train/time_spent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace maskfit::train {
namespace {

void wait_ms(int ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

TEST(TimeSpent, AddsUpSpansOfOneNameInTheOrderOfFirstUse) {
  TimeSpent spent;
  spent.begin("steps");
  wait_ms(20);
  {
    const Span inside(spent, "validation", "steps");
    wait_ms(20);
  }
  wait_ms(20);
  spent.end();
  wait_ms(20);
  EXPECT_GE(spent.seconds("steps"), 0.04);
  EXPECT_GE(spent.seconds("validation"), 0.02);
  EXPECT_LT(spent.seconds("validation"), spent.seconds("steps") + 0.02);
  EXPECT_THAT(spent.sentence(), testing::MatchesRegex("steps [0-9.]+ s, validation [0-9.]+ s"));
}

TEST(TimeSpent, LeavesOutWhatIsNotWorthMentioning) {
  TimeSpent spent;
  EXPECT_EQ(spent.sentence(), "");
  spent.begin("nothing");
  spent.end();
  EXPECT_EQ(spent.sentence(), "");
  EXPECT_EQ(spent.seconds("unknown"), 0);
}

}  // namespace
}  // namespace maskfit::train
