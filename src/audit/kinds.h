#pragma once

// Everything that the audit can find, each with what it will cost and how to mend it. The table is the one
// list: the page, the JSON and docs/data-check.md come from it (a test compares).

#include <span>
#include <string>

namespace maskfit::audit {

enum class Level {
  kError,    // training should not go ahead: its result, or its figures, would be wrong
  kWarning,  // it can, but look at this first
  kNote,     // good to know
};
const char* to_string(Level level);  // "error", "warning", "note"

enum class Kind {
  // pictures
  kPictureMissing,
  kPictureUnreadable,
  kPictureSizeDiffers,
  kPictureTiny,
  kPictureElongated,
  kPictureUniform,
  kPictureGrey,
  kPictureTurned,
  kPictureMended,
  // labels
  kBoxEmpty,
  kBoxOutside,
  kBoxRepeated,
  kBoxTwoClasses,
  kBoxSpeck,
  kBoxElongated,
  kBoxHuge,
  kBoxCrowd,
  kNoObject,
  // duplicates and leaks
  kLeakSame,
  kLeakNear,
  kLabelsContradict,
  kLabelsDiffer,
  kDuplicateSame,
  kDuplicateNear,
  kSourceOverlap,
  kSequence,
  kSequenceParted,
  // splits and sources
  kNoTraining,
  kNoValidation,
  kClassNotTrained,
  kClassNotValidated,
  kFewValidated,
  kSplitClasses,
  kSourceOneSplit,
  kSourceLacksClass,
  kSourceTellsClass,
  kSourceBoxStyle,
  kSharedBoxStyle,
  // training with this network
  kClassImbalance,
  kClassRare,
  kBoxBelowStride,
  kAspectStretched,
  // with a model
  kFaceUnlabelled,
  kClassDoubtful,
};

struct KindInfo {
  Kind kind;
  const char* name;  // "leak-near", in JSON and in the page's anchors
  Level level;
  const char* title;        // of the heading
  const char* consequence;  // one sentence: what it does to training or to its figures
  const char* remedy;       // one sentence: what to do
  bool fixable = false;     // --fix mends it
};

// In the order in which they are shown within their level.
std::span<const KindInfo> all_kinds();
const KindInfo& info(Kind kind);

// The body of docs/data-check.md's tables: one section a level.
std::string kinds_as_markdown();

}  // namespace maskfit::audit
