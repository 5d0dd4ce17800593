#include "tests/support/vectors.h"

#include <zlib.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <stdexcept>

namespace maskfit::support {
namespace {
namespace fs = std::filesystem;

fs::path folder() {
  if (const char* set = std::getenv("MASKFIT_VECTORS")) return set;
  return fs::path(MASKFIT_SOURCE_DIR) / ".." / "shared" / "spec";
}

nlohmann::json load(const std::string& name) {
  std::ifstream file(folder() / name);
  if (!file) throw std::runtime_error("cannot read " + (folder() / name).string());
  return nlohmann::json::parse(file).at("vectors");
}

const std::vector<nlohmann::json>& all() {
  static const std::vector<nlohmann::json> vectors = [] {
    std::vector<nlohmann::json> list;
    for (const char* name : {"vectors_detectnet.json", "vectors_tools.json"}) {
      for (auto& vector : load(name)) list.push_back(std::move(vector));
    }
    return list;
  }();
  return vectors;
}

std::string inflate_bytes(const std::string& packed) {
  std::string out(std::max<std::size_t>(packed.size() * 8, 1 << 16), '\0');
  for (;;) {
    uLongf size = out.size();
    const int status = uncompress(reinterpret_cast<Bytef*>(out.data()), &size,
                                  reinterpret_cast<const Bytef*>(packed.data()), packed.size());
    if (status == Z_OK) {
      out.resize(size);
      return out;
    }
    if (status != Z_BUF_ERROR) throw std::runtime_error("vectors: bad zlib data");
    out.resize(out.size() * 2);
  }
}

}  // namespace

bool have_vectors() {
  return fs::exists(folder() / "vectors_detectnet.json") && fs::exists(folder() / "vectors_tools.json");
}

std::string vectors_missing_reason() {
  return "no test vectors in " + folder().string() + " (set MASKFIT_VECTORS to their folder)";
}

std::vector<nlohmann::json> vector_group(const std::string& name) {
  std::vector<nlohmann::json> group;
  for (const auto& vector : all()) {
    if (vector.at("group") == name) group.push_back(vector);
  }
  if (group.empty()) throw std::runtime_error("the vector files have no group '" + name + "'");
  return group;
}

std::vector<std::string> vector_group_names() {
  std::set<std::string> names;
  for (const auto& vector : all()) names.insert(vector.at("group").get<std::string>());
  return {names.begin(), names.end()};
}

std::vector<std::string> vector_group_names(const std::string& file) {
  std::set<std::string> names;
  for (const auto& vector : load(file)) names.insert(vector.at("group").get<std::string>());
  return {names.begin(), names.end()};
}

double number(const nlohmann::json& value) {
  if (!value.is_string()) return value.get<double>();
  const auto text = value.get<std::string>();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  throw std::runtime_error("vectors: not a number: " + text);
}

std::string decode_base64(const std::string& text) {
  static const std::string alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  unsigned buffer = 0;
  int bits = 0;
  for (const char c : text) {
    const std::size_t digit = alphabet.find(c);
    if (digit == std::string::npos) continue;  // '=' and line ends
    buffer = (buffer << 6) | static_cast<unsigned>(digit);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      out += static_cast<char>((buffer >> bits) & 0xFF);
    }
  }
  return out;
}

std::vector<float> float32_blob(const std::string& base64) {
  const std::string bytes = inflate_bytes(decode_base64(base64));
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

}  // namespace maskfit::support
