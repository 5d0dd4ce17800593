#pragma once

// The rules of each set, for organise_layout.cpp.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "dataset/organise_layout.h"

namespace maskfit::dataset {

// The found files, and which of them a set has claimed already.
class PictureUse {
 public:
  explicit PictureUse(const std::vector<FoundFile>& found) : found_(found), used_(found.size(), false) {}

  std::vector<const FoundFile*> of_kind(FoundKind kind) const;  // not claimed yet
  void claim(const FoundFile* file) { used_[static_cast<std::size_t>(file - found_.data())] = true; }
  std::uint64_t unused() const;

 private:
  const std::vector<FoundFile>& found_;
  std::vector<bool> used_;
};

// What a part's table line is made of: names that lists or numbering give, names that were found.
struct Inventory {
  std::set<std::string> listed, found;
  // The line; `found` counts, `missing` is listed without found.
  PartStatus status(const std::string& set, const std::string& part, std::uint64_t published) const;
};

void lay_out_mafa(PictureUse& use, Layout& layout, OrganiseReport* report);
void lay_out_fddb(PictureUse& use, Layout& layout, OrganiseReport* report);
void lay_out_wider(PictureUse& use, Layout& layout, OrganiseReport* report);
void lay_out_kaggle(PictureUse& use, Layout& layout, OrganiseReport* report);

// Place of a set in public_sets().
std::size_t set_rank(const std::string& set);

}  // namespace maskfit::dataset
