#include "ranks/group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/error.h"
#include "tests/support/rank_threads.h"

namespace maskfit::ranks {
namespace {
using namespace std::chrono_literals;
using support::run_ranks;
using testing::HasSubstr;

TEST(Group, SumsAreTheSameBitsEverywhere) {
  for (const int ranks : {2, 3, 4}) {
    for (const std::size_t size : {0, 1, 2, 5, 1000, 300001}) {
      std::vector<std::vector<float>> results(static_cast<std::size_t>(ranks));
      std::vector<double> doubles(static_cast<std::size_t>(ranks));
      const std::vector<std::string> errors = run_ranks(ranks, [&](Group& group) {
        std::vector<float> values(size);
        for (std::size_t i = 0; i < size; ++i) {
          values[i] = 0.1f * static_cast<float>(i % 97) + static_cast<float>(group.rank());
        }
        group.sum(values);
        double one = group.rank() + 1;
        group.sum(std::span(&one, 1));
        results[static_cast<std::size_t>(group.rank())] = values;
        doubles[static_cast<std::size_t>(group.rank())] = one;
      });
      EXPECT_THAT(errors, testing::Each("")) << ranks << " " << size;
      for (const auto& result : results) EXPECT_EQ(result, results[0]);
      for (std::size_t i = 0; i < size; ++i) {
        ASSERT_NEAR(results[0][i],
                    static_cast<float>(ranks) * 0.1f * static_cast<float>(i % 97) +
                        static_cast<float>(ranks * (ranks - 1) / 2),
                    1e-4)
            << i;
      }
      EXPECT_THAT(doubles, testing::Each(ranks * (ranks + 1) / 2));
    }
  }
}

TEST(Group, LaterSumsKeepTheirOrder) {
  const auto errors = run_ranks(3, [](Group& group) {
    std::vector<std::vector<float>> arrays(20);
    std::vector<std::future<void>> waiting;
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      arrays[i].assign(1000 * (i + 1), static_cast<float>(i));
      waiting.push_back(group.sum_later(arrays[i]));
    }
    EXPECT_FALSE(group.any(false));
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      waiting[i].get();
      EXPECT_THAT(arrays[i], testing::Each(3 * static_cast<float>(i)));
    }
  });
  EXPECT_THAT(errors, testing::Each(""));
}

TEST(Group, BytesGoAroundWhole) {
  const std::string big(3000000, 'x');
  const auto errors = run_ranks(4, [&](Group& group) {
    EXPECT_EQ(group.broadcast(group.is_first() ? big : ""), big);
    EXPECT_EQ(group.broadcast(group.is_first() ? "" : "mine"), "");
    const std::vector<std::string> all = group.gather(std::string(1, static_cast<char>('a' + group.rank())));
    if (group.is_first()) {
      EXPECT_THAT(all, testing::ElementsAre("a", "b", "c", "d"));
    } else {
      EXPECT_TRUE(all.empty());
    }
    EXPECT_TRUE(group.any(group.rank() == 2));
    EXPECT_FALSE(group.any(false));
  });
  EXPECT_THAT(errors, testing::Each(""));
}

TEST(Group, OneRanksErrorIsEverybodysWithItsName) {
  const auto begin = std::chrono::steady_clock::now();
  const auto errors = run_ranks(4, [](Group& group) {
    std::vector<float> values(100000);
    for (int i = 0; i < 100; ++i) {
      if (group.rank() == 2 && i == 50) throw std::runtime_error("no memory left");
      group.sum(values);
    }
  });
  EXPECT_EQ(errors[2], "no memory left");
  for (const int r : {0, 1, 3}) EXPECT_EQ(errors[static_cast<std::size_t>(r)], "rank 2: no memory left") << r;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
}

TEST(Group, WhoWaitsForADeviceIsTold) {
  std::atomic<int> told{0};
  const auto errors = run_ranks(3, [&](Group& group) {
    std::atomic<bool> mine{false};
    group.on_failure([&] {
      ++told;
      mine = true;
    });
    if (group.rank() == 1) throw std::runtime_error("broken");
    while (!mine) std::this_thread::sleep_for(1ms);
    group.throw_if_failed();
  });
  EXPECT_EQ(told, 2);
  EXPECT_EQ(errors[0], "rank 1: broken");
}

TEST(Group, ARankThatHangsEndsTheOthersInTime) {
  const auto errors = run_ranks(
      2,
      [](Group& group) {
        if (group.rank() == 1) std::this_thread::sleep_for(3s);
        float one = 1;
        group.sum(std::span(&one, 1));
      },
      1s);
  EXPECT_THAT(errors[0], HasSubstr("waited 1 s"));
  EXPECT_THAT(errors[1], HasSubstr("rank 0"));
}

TEST(Group, RanksThatDoDifferentThingsAreAMistakeOfOurs) {
  const auto errors = run_ranks(2, [](Group& group) {
    std::vector<float> values(group.rank() == 0 ? 4 : 5);
    group.sum(values);
  });
  EXPECT_THAT(errors[0] + errors[1], HasSubstr("is at call"));
}

TEST(Group, ARankThatDoesNotComeIsNamed) {
  try {
    const Group group({.rank = 0, .ranks = 3, .port = 41000, .job = "lonely"}, {300ms});
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("have not come: 1, 2"));
  }
}

TEST(Group, OneRankAloneNeedsNobody) {
  Group group({});
  float one = 1;
  group.sum(std::span(&one, 1));
  EXPECT_EQ(one, 1);
  EXPECT_TRUE(group.any(true));
  EXPECT_EQ(group.broadcast("x"), "x");
  EXPECT_EQ(group.gather("y"), std::vector<std::string>{"y"});
}

}  // namespace
}  // namespace maskfit::ranks
