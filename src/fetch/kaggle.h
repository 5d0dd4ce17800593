#pragma once

// Kaggle's token, as its own client reads it, and the address of a dataset's archive.

#include <filesystem>
#include <optional>
#include <string>

namespace maskfit::fetch {

struct KaggleToken {
  std::string user, key;
  std::string source;  // where it was found, for messages; never the key
};

struct KaggleEnvironment {
  std::string user, key;                // KAGGLE_USERNAME, KAGGLE_KEY
  std::filesystem::path config_folder;  // KAGGLE_CONFIG_DIR, else ~/.kaggle
};
KaggleEnvironment kaggle_environment();  // of this process

// The environment's pair before the file's; nothing when there is neither. Throws Error (kUsage) for a
// kaggle.json that cannot be understood and for half a pair.
std::optional<KaggleToken> find_kaggle_token(const KaggleEnvironment& environment);

// "andrewmvd/face-mask-detection" -> the address that answers with the whole dataset as one zip file.
std::string kaggle_address(const std::string& dataset);
// The OWNER/NAME of a page like https://www.kaggle.com/datasets/OWNER/NAME, or "".
std::string kaggle_dataset_of(const std::string& url);

}  // namespace maskfit::fetch
