#include "cli/work_progress.h"

#include <gtest/gtest.h>

namespace maskfit::cli {
namespace {

TEST(WorkProgress, LineHasShareAndTimeLeft) {
  EXPECT_EQ(work_line("converting", "pictures", 25, 100, 10), "converting 25/100 pictures, 25 %, 0:30 left");
  EXPECT_EQ(work_line("converting", "pictures", 0, 100, 10), "converting 0/100 pictures");
}

TEST(WorkProgress, ShortWorkWritesNothing) {
  std::FILE* file = std::tmpfile();
  {
    WorkProgress progress("reading", "files", file);
    for (int i = 1; i <= 100; ++i) progress.update(i, 100);
  }
  EXPECT_EQ(std::ftell(file), 0);
  std::fclose(file);
}

}  // namespace
}  // namespace maskfit::cli
