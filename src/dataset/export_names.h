#pragma once

// Names for files in one flat folder, where ids have folders and may be long.

#include <string>
#include <vector>

namespace maskfit::dataset {

// One name for each id, in their order, without an ending: the id's last part where that is unique, else the
// whole id with '_' for '/'. No two are equal, not even on a file system that ignores upper and lower case.
// Names over 200 bytes are cut, at a whole UTF-8 character, and end in a hash of the id. The name of an id
// depends on nothing but the set of ids.
std::vector<std::string> export_names(const std::vector<std::string>& ids);

// The id with '_' for '/', cut as above.
std::string flat_name(const std::string& id);

}  // namespace maskfit::dataset
