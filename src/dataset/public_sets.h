#pragma once

// What is publicly known of the face and mask sets that `data get` and `data organise` know by name: where
// they are, how large, under which licence, what belongs to them. Facts of their publishers' pages and of
// published checksums; nothing here was measured by us.

#include <cstdint>
#include <string>
#include <vector>

namespace maskfit::dataset {

struct PublicFile {
  std::string name;                    // for `data get`: "wider-train"
  std::string what;                    // "12,880 training pictures"
  std::string file_name;               // "WIDER_train.zip"
  std::vector<std::string> addresses;  // tried in this order; empty: by hand, or from Kaggle
  std::string kaggle;                  // "owner/name" of a Kaggle dataset; needs a token
  std::uint64_t bytes = 0;             // exact and published; 0 when not
  std::string size;                    // for people: "1.36 GiB", "about 550 MB"
  std::string digest;                  // "sha256:..." as published; "" when none is known
  bool with_set = true;                // fetched by the set's name too
};

struct PublicSet {
  std::string name;     // "widerface"; the folder of the canonical layout
  std::string title;    // "WIDER FACE"
  std::string page;     // to look at in a browser
  std::string licence;  // as published
  std::vector<PublicFile> files;
  std::vector<std::string> by_hand;  // steps in a browser, for what no program may fetch
};

const std::vector<PublicSet>& public_sets();

// The set of this name, or null. Names are lower case; "wider" is understood too.
const PublicSet* find_public_set(const std::string& name);

struct NamedFile {
  const PublicSet* set = nullptr;
  const PublicFile* file = nullptr;
};
// The file of this name; file is null when there is none.
NamedFile find_public_file(const std::string& name);

// All names that `data get` takes: sets, then files.
std::vector<std::string> public_names();

}  // namespace maskfit::dataset
