#include "postprocess/nms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/rng.h"

namespace maskfit::postprocess {
namespace {

using ::testing::ElementsAre;

std::vector<int> indices(const std::vector<Kept>& kept) {
  std::vector<int> list;
  for (const Kept& one : kept) list.push_back(one.index);
  return list;
}

TEST(Nms, NothingGivesNothing) {
  EXPECT_TRUE(nms({}, {}, 0.5f, 0).empty());
}

TEST(Nms, AnEqualOverlapIsKept) {
  // Inclusive pixels: 10x10 boxes shifted by 5 overlap by 5*10 of 150, a third.
  const std::vector<boxes::Box> boxes = {{0, 0, 9, 9}, {5, 0, 14, 9}};
  const std::vector<float> scores = {0.9f, 0.8f};
  EXPECT_THAT(indices(nms(boxes, scores, 1.0f / 3, 0)), ElementsAre(0, 1));
  EXPECT_THAT(indices(nms(boxes, scores, 0.33f, 0)), ElementsAre(0));
}

TEST(Nms, AScoreAtTheThresholdIsDropped) {
  const std::vector<boxes::Box> boxes = {{0, 0, 9, 9}};
  EXPECT_TRUE(nms(boxes, std::vector<float>{0.25f}, 0.5f, 0.25f).empty());
}

TEST(Nms, ASuppressedBoxDoesNotSuppress) {
  // 0 kills 1; 2 overlaps only 1 and survives.
  const std::vector<boxes::Box> boxes = {{0, 0, 99, 99}, {40, 0, 139, 99}, {80, 0, 179, 99}};
  EXPECT_THAT(indices(nms(boxes, std::vector<float>{0.9f, 0.8f, 0.7f}, 0.3f, 0)), ElementsAre(0, 2));
}

TEST(Nms, KeptBoxesNeverOverlapAndEveryDroppedOneHasAKiller) {
  base::Rng rng(9, base::Purpose::kTest);
  std::vector<boxes::Box> boxes;
  std::vector<float> scores;
  for (int i = 0; i < 400; ++i) {
    const float x = rng.uniform(0, 300), y = rng.uniform(0, 300);
    boxes.push_back({x, y, x + rng.uniform(20, 80), y + rng.uniform(20, 80)});
    scores.push_back(static_cast<float>(rng.uniform_int(1, 20)) / 20);  // many ties
  }
  const std::vector<Kept> kept = nms(boxes, scores, 0.4f, 0);
  std::vector<bool> is_kept(boxes.size());
  for (std::size_t i = 0; i < kept.size(); ++i) {
    is_kept[kept[i].index] = true;
    EXPECT_EQ(kept[i].score, scores[kept[i].index]);
    if (i > 0) EXPECT_LE(kept[i].score, kept[i - 1].score);
    for (std::size_t j = 0; j < i; ++j) {
      EXPECT_LE(boxes::iou_inclusive(boxes[kept[i].index], boxes[kept[j].index]), 0.4f);
    }
  }
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    if (is_kept[i]) continue;
    EXPECT_TRUE(std::any_of(kept.begin(), kept.end(), [&](const Kept& k) {
      return k.score >= scores[i] && boxes::iou_inclusive(boxes[k.index], boxes[i]) > 0.4f;
    })) << i;
  }
}

TEST(Nms, ReferenceScoreIsReadAtThePermutedPlace) {
  const std::vector<boxes::Box> boxes = {{0, 0, 9, 9}, {100, 0, 109, 9}};
  const std::vector<Kept> kept = nms(boxes, std::vector<float>{0.5f, 0.9f}, 0.5f, 0);
  ASSERT_THAT(indices(kept), ElementsAre(1, 0));
  EXPECT_FLOAT_EQ(kept[0].score, 0.9f);
  EXPECT_FLOAT_EQ(kept[0].reference_score, 0.5f) << "place 1 of (0.9, 0.5)";
}

TEST(VotedBox, AveragesOverlappingBoxesByCoverage) {
  Candidates candidates;
  candidates.boxes_in_network = {{0, 0, 10, 10}, {1, 0, 11, 10}, {50, 50, 60, 60}};
  candidates.coverage = {0.6f, 0.2f, 1.0f};
  EXPECT_EQ(voted_box(candidates, 0, 0.6f), (boxes::Box{0.25f, 0, 10.25f, 10}));
  EXPECT_EQ(voted_box(candidates, 0, 0.9f), candidates.boxes_in_network[0]) << "0.82 is under the limit";
}

TEST(VotedBox, ADegenerateBoxVotesForItself) {
  Candidates candidates;
  candidates.boxes_in_network = {{5, 5, 5, 5}};
  candidates.coverage = {0.5f};
  EXPECT_EQ(voted_box(candidates, 0, 0.5f), candidates.boxes_in_network[0]);
}

TEST(Nms, RefusesUnequalLengths) {
  EXPECT_THROW(nms(std::vector<boxes::Box>(2), std::vector<float>(1), 0.5f, 0), base::CheckFailed);
}

}  // namespace
}  // namespace maskfit::postprocess
