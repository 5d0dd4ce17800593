#include "dataset/class_map.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <string_view>

#include "base/error.h"
#include "base/text.h"

namespace maskfit::dataset {
namespace {

constexpr const char* kIgnore = "ignore";
constexpr const char* kOthers = "*";

[[noreturn]] void usage(const std::string& what) {
  throw base::Error(base::ExitCode::kUsage, what, "--classes",
                    "write it as with_mask=mask,without_mask=no-mask,other=ignore");
}

// Letters and digits only, in lower case: "With_Mask" and "with mask" are one name.
std::string plain(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || byte >= 0x80) out += static_cast<char>(std::tolower(byte));
  }
  return out;
}

bool is_one_of(const std::string& name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// How public face-mask sets call what maskfit calls mask and no-mask.
std::string synonym_target(const std::string& source) {
  const std::string name = plain(source);
  for (const char* part : {"incorrect", "wrong", "improper", "partial", "uncertain", "unsure"}) {
    if (name.find(part) != std::string::npos) return kIgnore;
  }
  if (is_one_of(name, {"mask", "masked", "withmask", "facemask", "maskon", "masks", "goodmask", "good",
                       "wearingmask", "wearmask", "maskface", "maskedface", "correctmask", "properlywornmask",
                       "maskwearedcorrect"})) {
    return "mask";
  }
  if (is_one_of(name, {"nomask", "unmasked", "withoutmask", "nomasks", "maskoff", "none", "bad", "face",
                       "notmasked", "nonmask", "nonmasked", "notwearingmask", "nomaskface", "unmaskedface",
                       "barface", "bareface"})) {
    return "no-mask";
  }
  return "";
}

bool needs_quotes(const std::string& text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) == 0 &&
           std::string_view("_-=,.").find(c) == std::string_view::npos;
  });
}

std::string classes_option(const std::map<std::string, std::int64_t>& unknown, bool swapped) {
  std::string text;
  for (const auto& [name, boxes] : unknown) {
    const std::string target = name == "0"   ? (swapped ? "no-mask" : "mask")
                               : name == "1" ? (swapped ? "mask" : "no-mask")
                                             : synonym_target(name);
    text += fmt::format("{}{}{}{}", text.empty() ? "" : ",", name, target.empty() ? "" : "=", target);
  }
  return needs_quotes(text) ? fmt::format("--classes '{}'", text) : "--classes " + text;
}

}  // namespace

ClassMap::ClassMap(const std::string& text) {
  any_case_ = {{"mask", {"mask", false}}, {"no-mask", {"no-mask", false}}, {"dontcare", {"dontcare", true}}};
  if (base::trim(text).empty()) return;
  for (const std::string& entry : base::split(text, ',')) {
    const std::size_t equals = entry.rfind('=');
    const std::string source = base::trim(entry.substr(0, equals));
    const std::string target = equals == std::string::npos ? "" : base::trim(entry.substr(equals + 1));
    if (source.empty()) usage(fmt::format("the entry '{}' names no class", entry));
    if (equals != std::string::npos && target.empty())
      usage(fmt::format("'{}' is mapped to nothing", source));
    const bool ignore = target == kIgnore;
    // An ignored box keeps the name that its labels gave it.
    const MappedClass mapped{target.empty() || ignore ? source : target, ignore};
    if (source == kOthers) {
      if (others_) usage("'*' is given twice");
      others_ = {target.empty() || ignore ? "" : target, ignore};
      continue;
    }
    if (!entries_.emplace(source, mapped).second) usage(fmt::format("'{}' is given twice", source));
    any_case_[base::to_lower(source)] = mapped;
    if (!ignore) any_case_.emplace(base::to_lower(mapped.name), mapped);
  }
}

ClassMap ClassMap::lower_case() {
  ClassMap map;
  map.others_ = MappedClass{"", false};
  map.others_lower_case_ = true;
  return map;
}

std::optional<MappedClass> ClassMap::find(const std::string& source) const {
  if (const auto found = entries_.find(source); found != entries_.end()) return found->second;
  if (const auto found = any_case_.find(base::to_lower(source)); found != any_case_.end())
    return found->second;
  if (!others_) return std::nullopt;
  MappedClass mapped = *others_;
  if (mapped.name.empty()) mapped.name = others_lower_case_ ? base::to_lower(source) : source;
  return mapped;
}

std::string suggest_classes_option(const std::map<std::string, std::int64_t>& unknown) {
  const std::string option = classes_option(unknown, false);
  // YOLO's numbers tell nothing; which is which has to be seen on a picture, and both options are given to
  // paste.
  if (!unknown.contains("0") || !unknown.contains("1")) return option;
  return option + " or, with 0 and 1 the other way round, " + classes_option(unknown, true);
}

}  // namespace maskfit::dataset
