#pragma once

// The numeric test vectors, read from $MASKFIT_VECTORS (by default ../shared/spec beside the checkout).

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace maskfit::support {

// All vectors of one group, from vectors_detectnet.json or vectors_tools.json. A test that calls this handles
// the group: tests/golden/vector_groups_test.cpp searches the sources for vector_group("...") and fails for a
// group of the files that nobody handles. Throws std::runtime_error for a group that the files do not have.
// Skip the test first when !have_vectors().
std::vector<nlohmann::json> vector_group(const std::string& name);

bool have_vectors();
// The reason to print when a test is skipped: where was looked.
std::string vectors_missing_reason();
// All group names in both files, or in one of them.
std::vector<std::string> vector_group_names();
std::vector<std::string> vector_group_names(const std::string& file);

// Numbers may be the strings "nan", "inf", "-inf".
double number(const nlohmann::json& value);
// "zlib+base64 of little-endian float32" blobs.
std::vector<float> float32_blob(const std::string& base64);
std::string decode_base64(const std::string& text);

}  // namespace maskfit::support

#define MASKFIT_REQUIRE_VECTORS() \
  if (!::maskfit::support::have_vectors()) GTEST_SKIP() << ::maskfit::support::vectors_missing_reason()
