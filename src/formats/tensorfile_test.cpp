#include "formats/tensorfile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/support/temp_dir.h"

namespace maskfit::formats {
namespace {

using ::testing::HasSubstr;

class TensorfileTest : public ::testing::Test {
 protected:
  void write(int batches, base::Overwrite overwrite = base::Overwrite::kRefuse) {
    TensorfileWriter writer(path_, {2, 3, 4, 5}, overwrite);
    for (int b = 0; b < batches; ++b) writer.add(batch(b));
    writer.close();
  }
  static std::vector<float> batch(int b) {
    std::vector<float> values(2 * 3 * 4 * 5);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(b) + static_cast<float>(i) / 128;
    return values;
  }
  base::Error refusal() const {
    try {
      TensorfileReader reader(path_);
    } catch (const base::Error& error) {
      return error;
    }
    return {base::ExitCode::kDone, "nothing thrown"};
  }

  support::TempDir dir_;
  const std::filesystem::path path_ = dir_ / "calibration.tensor";
};

TEST_F(TensorfileTest, BatchesComeBackBitForBit) {
  write(3);
  const TensorfileReader reader(path_);
  EXPECT_EQ(reader.count(), 3);
  EXPECT_EQ(reader.shape(), (BatchShape{2, 3, 4, 5}));
  for (int b = 2; b >= 0; --b) EXPECT_EQ(reader.batch(b), batch(b));
}

TEST_F(TensorfileTest, BatchBeyondTheEndNamesBothNumbers) {
  write(2);
  const TensorfileReader reader(path_);
  try {
    reader.batch(2);
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("batch 3 is wanted, the file has 2 batches"));
  }
}

TEST_F(TensorfileTest, ExistingFileIsKept) {
  write(1);
  EXPECT_THROW(write(2), base::Error);
  EXPECT_EQ(TensorfileReader(path_).count(), 1);
  write(2, base::Overwrite::kAllow);
  EXPECT_EQ(TensorfileReader(path_).count(), 2);
}

TEST_F(TensorfileTest, UnfinishedFileLeavesNothing) {
  {
    TensorfileWriter writer(path_, {2, 3, 4, 5}, base::Overwrite::kRefuse);
    writer.add(batch(0));
  }
  EXPECT_TRUE(std::filesystem::is_empty(dir_.path()));
}

TEST_F(TensorfileTest, TornAndForeignFilesAreRefused) {
  EXPECT_THAT(refusal().what(), HasSubstr("cannot read"));
  base::write_file(path_, "not HDF5");
  EXPECT_THAT(refusal().what(), HasSubstr("no HDF5 file"));
  write(3, base::Overwrite::kAllow);
  const std::string bytes = base::read_file(path_);
  base::write_file(path_, std::string_view(bytes).substr(0, bytes.size() / 2));
  EXPECT_EQ(refusal().code(), base::ExitCode::kRefused);
}

}  // namespace
}  // namespace maskfit::formats
