#pragma once

// The classes of an import: what the labels call them, what becomes of them, and their order.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "dataset/import.h"
#include "dataset/import_item.h"

namespace maskfit::dataset {

// YOLO's classes without a name, by class and imported folder -> "file:line" of the first box there: folders
// may number their classes differently.
using NumberedClasses = std::map<std::pair<std::string, std::string>, std::string>;

// Throws the error of map_classes() for classes that the map does not have; `numbered` adds to its hint.
[[noreturn]] void refuse_classes(const std::map<std::string, std::int64_t>& unknown, const std::string& where,
                                 const NumberedClasses& numbered);

// Looks for classes that options.classes does not have before any picture is decoded: into some of the labels
// spread over all, and only where one of these has such a class into the rest as well. Throws as
// refuse_classes(). A class that this does not meet is met by map_classes() later.
void check_classes_early(const std::vector<Item>& items, const ImportOptions& options,
                         const std::string& where);

// The order of the dataset's classes where the sources define one: that of a list of theirs (COCO's
// categories, YOLO's names, what `data convert` wrote beside its labels), under the names they are mapped to,
// as far as they occur, and any others behind it, sorted. Nothing where there is no list or lists disagree.
std::vector<std::string> class_order(const std::vector<Source>& sources, const ClassMap& map,
                                     const std::vector<Sample>& samples);

}  // namespace maskfit::dataset
