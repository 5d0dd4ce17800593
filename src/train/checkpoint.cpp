#include "train/checkpoint.h"

#include <cstdlib>

#include "base/error.h"
#include "base/text.h"
#include "formats/safetensors.h"

namespace maskfit::train {
namespace {

using base::Error;
using base::ExitCode;

constexpr const char* kFormat = "maskfit-checkpoint";
constexpr const char* kVersion = "1";
constexpr std::string_view kTextPrefix = "text/";
constexpr std::string_view kNumbersPrefix = "numbers/";

std::string hexadecimal(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) text += fmt::format("{}{:a}", text.empty() ? "" : " ", value);
  return text;
}

std::vector<double> from_hexadecimal(const std::string& text, const std::string& where) {
  std::vector<double> values;
  for (const std::string& word : base::split_words(text)) {
    char* end = nullptr;
    values.push_back(std::strtod(word.c_str(), &end));  // reads hexadecimal, inf and nan
    if (*end != '\0') throw Error(ExitCode::kRefused, fmt::format("'{}' is not a number", word), where);
  }
  return values;
}

[[noreturn]] void missing(const std::string& name, const std::string& what) {
  throw Error(ExitCode::kRefused, fmt::format("the checkpoint {} '{}'", what, name), "",
              "it belongs to another network or recipe: resume with the run's own spec, or begin a new run");
}

}  // namespace

const std::vector<double>& Checkpoint::numbers_of(const std::string& name, std::size_t size) const {
  const auto found = numbers.find(name);
  if (found == numbers.end()) missing(name, "has no");
  if (found->second.size() != size) {
    missing(name, fmt::format("has {} values, not {}, in", found->second.size(), size));
  }
  return found->second;
}

const network::Array& Checkpoint::array(const std::string& name) const {
  const auto found = arrays.find(name);
  if (found == arrays.end()) missing(name, "has no array");
  return found->second;
}

std::string encode_checkpoint(const Checkpoint& checkpoint) {
  formats::Safetensors file;
  file.metadata = {{"format", kFormat}, {"version", kVersion}, {"step", std::to_string(checkpoint.step)}};
  for (const auto& [name, text] : checkpoint.texts) file.metadata[std::string(kTextPrefix) + name] = text;
  for (const auto& [name, values] : checkpoint.numbers) {
    file.metadata[std::string(kNumbersPrefix) + name] = hexadecimal(values);
  }
  for (const auto& [name, array] : checkpoint.arrays) {
    file.arrays.emplace(name, formats::array_of(std::span<const float>(array.values), array.shape));
  }
  return formats::encode_safetensors(file);
}

Checkpoint decode_checkpoint(std::string_view bytes, const std::string& name_for_errors) {
  const formats::Safetensors file = formats::decode_safetensors(bytes, name_for_errors);
  const auto entry = [&](const char* name) {
    const auto found = file.metadata.find(name);
    return found == file.metadata.end() ? std::string() : found->second;
  };
  if (entry("format") != kFormat) {
    throw Error(ExitCode::kRefused, "this is not a checkpoint of maskfit", name_for_errors);
  }
  if (entry("version") != kVersion) {
    throw Error(ExitCode::kRefused,
                fmt::format("the checkpoint has version {}, not {}", entry("version"), kVersion),
                name_for_errors, "resume with the version of maskfit that wrote it");
  }
  Checkpoint checkpoint;
  long long step = 0;
  if (!base::parse_int(entry("step"), &step) || step < 0) {
    throw Error(ExitCode::kRefused, fmt::format("'{}' is not a step", entry("step")), name_for_errors);
  }
  checkpoint.step = step;
  for (const auto& [name, text] : file.metadata) {
    if (name.starts_with(kTextPrefix)) checkpoint.texts[name.substr(kTextPrefix.size())] = text;
    if (name.starts_with(kNumbersPrefix)) {
      checkpoint.numbers[name.substr(kNumbersPrefix.size())] = from_hexadecimal(text, name_for_errors);
    }
  }
  for (const auto& [name, array] : file.arrays) {
    checkpoint.arrays[name] = {array.shape, formats::f32_values(file, name, name_for_errors)};
  }
  return checkpoint;
}

}  // namespace maskfit::train
