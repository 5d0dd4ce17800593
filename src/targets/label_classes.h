#pragma once

// Which target class a label belongs to (spec 2.1, 5.4): dataset_config.target_class_mapping.

#include <map>
#include <optional>
#include <span>
#include <string>

namespace maskfit::targets {

// Source class (as in the label file) -> target class (as the model calls it).
using ClassMapping = std::map<std::string, std::string>;

// The place of the label's target class in `class_names`; nothing for a label that is not drawn. An empty
// mapping maps every class to itself.
//
// reference_exact: the reference maps in its loader and once more in its rasteriser, so a target class that
// is not itself a key mapping to itself disappears from the targets. With {car: automobile} alone nothing is
// drawn.
//
// Throws base::Error (kRefused) when the mapping leads to a class that is not in class_names.
std::optional<int> drawn_class(const std::string& source_class, const ClassMapping& mapping,
                               std::span<const std::string> class_names, bool reference_exact);

}  // namespace maskfit::targets
