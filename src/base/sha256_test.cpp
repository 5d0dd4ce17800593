#include "base/sha256.h"

#include <gtest/gtest.h>

#include "base/files.h"

namespace maskfit::base {
namespace {

TEST(Sha256, PiecesAreTheWhole) {
  Sha256 digest;
  for (const char* piece : {"ab", "", "c"}) digest.add(piece);
  // FIPS 180-4's example.
  EXPECT_EQ(digest.finish(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Sha256, NothingAddedIsTheDigestOfNothing) {
  EXPECT_EQ(Sha256().finish(), sha256(""));
}

TEST(Sha256, ManyBlocks) {
  const std::string bytes(100'000, 'x');
  Sha256 digest;
  for (std::size_t at = 0; at < bytes.size(); at += 777) digest.add(std::string_view(bytes).substr(at, 777));
  EXPECT_EQ(digest.finish(), sha256(bytes));
}

}  // namespace
}  // namespace maskfit::base
