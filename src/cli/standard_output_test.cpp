#include "cli/standard_output.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "base/error.h"
#include "base/files.h"
#include "tests/support/temp_dir.h"

namespace maskfit::cli {
namespace {

std::string lost_reason(std::ostream& out) {
  try {
    require_written(out);
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::ExitCode::kFailed);
    return error.what();
  }
  return "";
}

TEST(StandardOutput, WholeTextArrives) {
  const support::TempDir dir;
  const int file = ::open((dir / "out").c_str(), O_WRONLY | O_CREAT, 0600);
  std::string text;
  {
    DescriptorBuffer buffer(file);
    std::ostream out(&buffer);
    for (int i = 0; i < 50000; ++i) {
      out << i << ' ' << 'x' << '\n';
      text += std::to_string(i) + " x\n";
    }
    EXPECT_EQ(lost_reason(out), "");
    EXPECT_EQ(buffer.error(), 0);
  }
  ::close(file);
  EXPECT_EQ(base::read_file(dir / "out"), text);
}

TEST(StandardOutput, FullDiskIsAnError) {
  const int full = ::open("/dev/full", O_WRONLY);
  if (full < 0) GTEST_SKIP() << "this system has no /dev/full";
  DescriptorBuffer buffer(full);
  std::ostream out(&buffer);
  out << "a few words";  // short enough to stay in the buffer until the end
  EXPECT_EQ(lost_reason(out), "cannot write to stdout: No space left on device");
  ::close(full);
}

TEST(StandardOutput, TheFirstReasonIsKeptWhenMoreIsWrittenAfterIt) {
  DescriptorBuffer buffer(-1);
  std::ostream out(&buffer);
  out << std::string(200000, 'x');
  out << "more";
  EXPECT_EQ(lost_reason(out), "cannot write to stdout: Bad file descriptor");
}

TEST(StandardOutput, ClosedPipeIsAnErrorWhereItsSignalIsIgnored) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  DescriptorBuffer buffer(ends[1]);
  std::ostream out(&buffer);
  out << "x";
  EXPECT_EQ(lost_reason(out), "cannot write to stdout: Broken pipe");
  ::close(ends[1]);
  std::signal(SIGPIPE, before);
}

TEST(StandardOutput, NothingWrittenIsNothingLost) {
  DescriptorBuffer buffer(-1);
  std::ostream out(&buffer);
  EXPECT_EQ(lost_reason(out), "");
}

// In a child, which may close its descriptors.
TEST(StandardDescriptorsDeathTest, AFileOpenedLaterDoesNotBecomeStdout) {
  const support::TempDir dir;
  const std::string path = (dir / "checkpoint").string();
  EXPECT_EXIT(
      {
        ::close(STDIN_FILENO);
        ::close(STDOUT_FILENO);
        reserve_standard_descriptors();
        const int file = ::open(path.c_str(), O_WRONLY | O_CREAT, 0600);
        const bool fails = ::write(STDOUT_FILENO, "x", 1) < 0 && errno == EBADF;
        std::_Exit(file > STDERR_FILENO && fails ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace maskfit::cli
