#pragma once

// From the class names that labels use to the ones that a dataset uses.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace maskfit::dataset {

// What becomes of a class of the labels.
struct MappedClass {
  std::string name;
  bool ignore = false;  // the box stays, as a region that is neither an object nor background
  bool operator==(const MappedClass&) const = default;
};

class ClassMap {
 public:
  // The text of --classes, entries separated by commas:
  //   a=b       boxes of a become boxes of b
  //   a=ignore  boxes of a become regions to ignore
  //   a         a stays a
  //   *         every other class stays as it is; *=b and *=ignore work, too
  // "mask" and "no-mask" need no entry, and neither does "DontCare" (ignored, as in KITTI). Upper and lower
  // case are told apart only where an entry does. Throws base::Error (kUsage) for an entry without a name or
  // given twice.
  explicit ClassMap(const std::string& text);
  ClassMap() : ClassMap("") {}
  // Every class under its own name in lower case: what the reference's converter does.
  static ClassMap lower_case();

  // Nothing for a class that the map does not know.
  std::optional<MappedClass> find(const std::string& source) const;

 private:
  std::map<std::string, MappedClass> entries_;   // by exact name
  std::map<std::string, MappedClass> any_case_;  // by name in lower case
  std::optional<MappedClass> others_;            // "*"; an empty name stands for "as it is"
  bool others_lower_case_ = false;
};

// The option to paste that maps these classes (name -> number of boxes), e.g.
// "--classes with_mask=mask,without_mask=no-mask,mask_weared_incorrect=ignore". Well-known other names of the
// product's classes are mapped, badly worn masks ignored, the rest keep their names. Quoted for a shell where
// needed.
std::string suggest_classes_option(const std::map<std::string, std::int64_t>& unknown);

}  // namespace maskfit::dataset
