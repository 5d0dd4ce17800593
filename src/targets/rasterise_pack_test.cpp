#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "targets/rasterise_cuda.h"

namespace maskfit::targets {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(PackTruths, OrdersByPictureClassAndLowerEdge) {
  const std::vector<boxes::Truths> batch = {{{{1, 0, 9, 50}, 1, false},
                                             {{2, 0, 9, 40}, 0, false},
                                             {{3, 0, 9, 30}, 1, false},
                                             {{4, 0, 9, 9}, -1, true}},
                                            {},
                                            {{{5, 0, 9, 10}, 0, false}}};
  const PackedTruths packed = pack_truths(batch, 2);
  std::vector<float> lefts;
  for (const boxes::Box& box : packed.boxes) lefts.push_back(box.x1);
  EXPECT_THAT(lefts, ElementsAre(2, 3, 1, 5));
  EXPECT_THAT(packed.plane_begin, ElementsAre(0, 1, 3, 3, 3, 4, 4));
  ASSERT_EQ(packed.ignored.size(), 1u);
  EXPECT_EQ(packed.ignored[0].x1, 4);
  EXPECT_THAT(packed.ignored_begin, ElementsAre(0, 1, 1, 1));
}

TEST(PackTruths, AnEmptyBatchHasNoPlanes) {
  const PackedTruths packed = pack_truths({}, 2);
  EXPECT_THAT(packed.boxes, IsEmpty());
  EXPECT_THAT(packed.plane_begin, ElementsAre(0));
}

TEST(PackTruths, AClassOutsideTheModelIsOurMistake) {
  const std::vector<boxes::Truths> high = {{{{1, 0, 9, 9}, 2, false}}};
  const std::vector<boxes::Truths> low = {{{{1, 0, 9, 9}, -1, false}}};
  EXPECT_THROW(pack_truths(high, 2), base::CheckFailed);
  EXPECT_THROW(pack_truths(low, 2), base::CheckFailed);
}

}  // namespace
}  // namespace maskfit::targets
