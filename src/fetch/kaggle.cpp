#include "fetch/kaggle.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "fetch/address.h"

namespace maskfit::fetch {
namespace fs = std::filesystem;
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

KaggleEnvironment kaggle_environment() {
  KaggleEnvironment environment{variable("KAGGLE_USERNAME"), variable("KAGGLE_KEY"), {}};
  const std::string folder = variable("KAGGLE_CONFIG_DIR"), home = variable("HOME");
  if (!folder.empty()) {
    environment.config_folder = folder;
  } else if (!home.empty()) {
    environment.config_folder = fs::path(home) / ".kaggle";
  }
  return environment;
}

std::optional<KaggleToken> find_kaggle_token(const KaggleEnvironment& environment) {
  if (environment.user.empty() != environment.key.empty()) {
    throw base::Error(base::ExitCode::kUsage,
                      environment.user.empty() ? "KAGGLE_KEY is set, KAGGLE_USERNAME is not"
                                               : "KAGGLE_USERNAME is set, KAGGLE_KEY is not",
                      "", "set both, or neither and use ~/.kaggle/kaggle.json");
  }
  if (!environment.user.empty()) {
    return KaggleToken{environment.user, environment.key, "KAGGLE_USERNAME and KAGGLE_KEY"};
  }
  const fs::path file = environment.config_folder / "kaggle.json";
  std::error_code ignored;
  if (environment.config_folder.empty() || !fs::exists(file, ignored)) return std::nullopt;
  const auto json = nlohmann::json::parse(base::read_file(file), nullptr, false);
  const auto text = [&](const char* name) {
    return json.is_object() && json.contains(name) && json[name].is_string() ? json[name].get<std::string>()
                                                                             : std::string();
  };
  KaggleToken token{text("username"), text("key"), file.string()};
  if (token.user.empty() || token.key.empty()) {
    throw base::Error(base::ExitCode::kUsage, "this is no Kaggle token", file.string(),
                      "it holds {\"username\":\"...\",\"key\":\"...\"}; make a new one at "
                      "https://www.kaggle.com/settings, 'Create New Token'");
  }
  return token;
}

std::string kaggle_address(const std::string& dataset) {
  return "https://www.kaggle.com/api/v1/datasets/download/" + dataset;
}

std::string kaggle_dataset_of(const std::string& url) {
  const Address address = parse_address(url);
  if (address.host != "www.kaggle.com" && address.host != "kaggle.com") return "";
  // /datasets/OWNER/NAME or /OWNER/NAME, with /data or /download behind it.
  std::vector<std::string> parts;
  for (const std::string& part : base::split(address.path, '/')) {
    if (!part.empty()) parts.push_back(part);
  }
  if (!parts.empty() && parts.front() == "datasets") parts.erase(parts.begin());
  if (parts.size() == 3 && (parts[2] == "data" || parts[2] == "download")) parts.pop_back();
  const bool named =
      parts.size() == 2 && std::all_of(parts.begin(), parts.end(), [](const std::string& part) {
        return std::all_of(part.begin(), part.end(),
                           [](unsigned char c) { return std::isalnum(c) != 0 || c == '-'; });
      });
  return named ? parts[0] + "/" + parts[1] : "";
}

}  // namespace maskfit::fetch
