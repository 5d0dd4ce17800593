#include "audit/kinds.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace maskfit::audit {
namespace {

constexpr const char* kSplitAgain = "run `maskfit data split DATASET`: it keeps such pictures together";

constexpr KindInfo kKinds[] = {
    {Kind::kPictureMissing, "picture-missing", Level::kError, "Pictures that are not there",
     "training stops when it comes to read them",
     "put the files back where the manifest says, or let --fix take the samples out", true},
    {Kind::kPictureUnreadable, "picture-unreadable", Level::kError, "Pictures that cannot be decoded",
     "training stops when it comes to read them",
     "copy the files anew from where they came from, or let --fix take the samples out", true},
    {Kind::kPictureSizeDiffers, "picture-size-differs", Level::kError,
     "Pictures whose size is not the one that the dataset says",
     "the file was exchanged after the import, so its boxes lie in the wrong places",
     "import the data again"},
    {Kind::kLeakSame, "leak-same", Level::kError, "The same picture in two splits",
     "the network is examined on what it has learnt by heart; validation figures come out too high",
     "let --fix take the copies out of the training part", true},
    {Kind::kLeakNear, "leak-near", Level::kError, "Nearly the same picture in two splits",
     "the network is examined on what it has learnt by heart; validation figures come out too high",
     kSplitAgain},
    {Kind::kLabelsContradict, "labels-contradict", Level::kError, "Equal pictures with different labels",
     "one of the two labels is wrong, and the network is punished for either answer",
     "look at both, correct one and remove the other picture"},
    {Kind::kNoTraining, "no-training", Level::kError, "No picture to train on",
     "there is nothing to learn from", "run `maskfit data split DATASET --again`"},
    {Kind::kClassNotTrained, "class-not-trained", Level::kError, "A class without a box in the training part",
     "the network cannot learn it", "run `maskfit data split DATASET --again`, or add pictures that show it"},

    {Kind::kSequenceParted, "sequence-parted", Level::kWarning, "Frames of one video in two splits",
     "neighbouring frames are nearly the same picture; validation figures come out too high", kSplitAgain},
    {Kind::kLabelsDiffer, "labels-differ", Level::kWarning, "Nearly equal pictures with different labels",
     "one of the two is labelled wrongly or not wholly", "look at both and correct one"},
    {Kind::kNoValidation, "no-validation", Level::kWarning, "No picture to validate on",
     "nobody will know how good the network is, and its best state cannot be told",
     "run `maskfit data split DATASET`"},
    {Kind::kClassNotValidated, "class-not-validated", Level::kWarning,
     "A class without a box in the validation part", "its average precision cannot be computed",
     "run `maskfit data split DATASET --again`, or add pictures that show it"},
    {Kind::kFewValidated, "few-validated", Level::kWarning, "A class with few boxes in the validation part",
     "its average precision is a matter of luck: with 50 boxes one more or less is two points",
     "validate on a larger part: `maskfit data split DATASET --again --val-percent 30`"},
    {Kind::kSplitClasses, "split-classes", Level::kWarning,
     "The mixture of classes differs between the splits",
     "validation measures another task than the one that is trained",
     "run `maskfit data split DATASET --again`: it draws each class in proportion"},
    {Kind::kSourceOneSplit, "source-one-split", Level::kWarning, "A source that lies in one split only",
     "validation says nothing about a source that is only trained on, and punishes for one that is not",
     "run `maskfit data split DATASET --again`: it draws each source in proportion"},
    {Kind::kSourceLacksClass, "source-lacks-class", Level::kWarning,
     "A source without a single box of a class",
     "if its pictures do show that class, its faces are unlabelled and count as background: the usual reason "
     "for "
     "a low precision of one class",
     "look at its pictures; label the missing faces, or mark them as regions to ignore"},
    {Kind::kSourceTellsClass, "source-tells-class", Level::kWarning, "A source that nearly tells the class",
     "the network may learn what the source looks like (resolution, colours, backgrounds) instead of the "
     "mask",
     "add pictures of the other class from the same source, and look at each source's own figures"},
    {Kind::kSourceBoxStyle, "source-box-style", Level::kWarning, "A source draws boxes of another shape",
     "boxes of one source include what the other leaves out (hair, neck); the network learns the mean of "
     "both and "
     "loses precision at high IoU",
     "compare the pictures; scale the boxes of one source, or validate on the style that is wanted"},
    {Kind::kSharedBoxStyle, "shared-box-style", Level::kWarning,
     "The same picture is boxed differently by two sources",
     "the sources follow different rules for where a face ends; the network learns the mean of both",
     "decide for one style and scale the boxes of the other source"},
    {Kind::kBoxTwoClasses, "box-two-classes", Level::kWarning, "One box with two classes",
     "the network is punished for either answer", "delete the wrong one of the two"},
    {Kind::kBoxRepeated, "box-repeated", Level::kWarning, "The same box twice",
     "one of the two can never be found, which costs average precision", "let --fix remove the copy", true},
    {Kind::kBoxEmpty, "box-empty", Level::kWarning, "Boxes without an area",
     "they can never be found, which costs average precision", "let --fix remove them", true},
    {Kind::kBoxOutside, "box-outside", Level::kWarning, "Boxes that reach over the picture's edge",
     "the part outside cannot be seen, so a perfect answer overlaps such a box only in part",
     "let --fix cut them to the picture", true},
    {Kind::kBoxSpeck, "box-speck", Level::kWarning, "Boxes of a few pixels",
     "nothing can be recognised in them; they teach noise and count as missed",
     "let --fix turn them into regions to ignore", true},
    {Kind::kBoxElongated, "box-elongated", Level::kWarning, "Boxes of an unlikely shape",
     "a face is not three times as long as it is wide: such boxes are mostly slips of the mouse",
     "look at them and draw them anew"},
    {Kind::kFaceUnlabelled, "face-unlabelled", Level::kWarning, "Faces that seem to be unlabelled",
     "an unlabelled face counts as background: the network is punished for finding it",
     "look at them; label them, or mark them as regions to ignore"},
    {Kind::kClassDoubtful, "class-doubtful", Level::kWarning, "Boxes whose class the model doubts",
     "wrong classes teach the opposite of what is meant", "look at them and correct the wrong ones"},
    {Kind::kPictureUniform, "picture-uniform", Level::kWarning, "Pictures that show next to nothing",
     "they teach nothing, and labels on them are wrong", "remove them"},
    {Kind::kPictureTiny, "picture-tiny", Level::kWarning, "Very small pictures",
     "they are enlarged to the network's input and look like no camera picture",
     "remove them if there are many"},
    {Kind::kPictureElongated, "picture-elongated", Level::kWarning, "Pictures of an extreme shape",
     "stretched to the network's input, faces on them become unrecognisable",
     "cut them, or train with letterbox"},
    {Kind::kClassImbalance, "class-imbalance", Level::kWarning,
     "Some classes have far more boxes than others",
     "the network prefers the frequent class; the rare one stays behind",
     "add pictures of the rare class; the loss's class weights and auto-weighting make up for a part"},
    {Kind::kClassRare, "class-rare", Level::kWarning, "A class with few boxes to learn from",
     "the network learns those few faces by heart",
     "add pictures; some hundreds of boxes a class are a start"},
    {Kind::kBoxBelowStride, "box-below-stride", Level::kWarning, "Boxes too small for this network",
     "on the network's input they are smaller than a cell of its output grid: many cannot be found",
     "train with a larger --size, or cut the pictures into tiles"},
    {Kind::kAspectStretched, "aspect-stretched", Level::kWarning,
     "Pictures that are distorted to fit the network", "faces get a shape that the camera will not show",
     "train with letterbox, or choose a --size of their shape"},

    {Kind::kDuplicateSame, "duplicate-same", Level::kNote, "The same picture more than once",
     "its faces count twice in training", "let --fix keep one of each", true},
    {Kind::kDuplicateNear, "duplicate-near", Level::kNote, "Nearly the same picture more than once",
     "its faces count twice in training, and a split must not part them",
     "nothing, as long as `maskfit data split` draws the split"},
    {Kind::kSourceOverlap, "source-overlap", Level::kNote, "Pictures that two sources share",
     "the sources are not independent: holding one out does not test for the new",
     "count on the pictures that only one of them has"},
    {Kind::kSequence, "sequence", Level::kNote, "Frames of a video",
     "many frames of one scene are worth little more than one",
     "keep every tenth frame, and let `maskfit data split` draw the split"},
    {Kind::kPictureTurned, "picture-turned", Level::kNote, "Pictures that EXIF turns",
     "tools that do not read EXIF see them, and their boxes, lying on the side",
     "nothing: maskfit turns them"},
    {Kind::kPictureMended, "picture-mended", Level::kNote, "Pictures that other tools may refuse",
     "maskfit reads them, other programs may not", "save them anew before giving them to other tools"},
    {Kind::kPictureGrey, "picture-grey", Level::kNote, "Grey pictures in a set of colour pictures",
     "if they come from one source or class, the network may learn that grey means that class",
     "nothing, as long as they are spread over the classes"},
    {Kind::kBoxHuge, "box-huge", Level::kNote, "Boxes as large as the picture",
     "a portrait cut to the face teaches little about finding faces", "nothing, unless there are many"},
    {Kind::kBoxCrowd, "box-crowd", Level::kNote, "Pictures with unusually many boxes",
     "in crowds many faces are left out or tiny", "look whether all faces are labelled"},
    {Kind::kNoObject, "no-object", Level::kNote, "Pictures without an object",
     "useful as background if really nobody is on them, else their faces teach that faces are background",
     "look at some of them"},
};

}  // namespace

const char* to_string(Level level) {
  switch (level) {
    case Level::kError:
      return "error";
    case Level::kWarning:
      return "warning";
    case Level::kNote:
      break;
  }
  return "note";
}

std::span<const KindInfo> all_kinds() {
  return kKinds;
}

const KindInfo& info(Kind kind) {
  const auto found = std::find_if(std::begin(kKinds), std::end(kKinds),
                                  [kind](const KindInfo& entry) { return entry.kind == kind; });
  MASKFIT_CHECK(found != std::end(kKinds), "kind={}", static_cast<int>(kind));
  return *found;
}

std::string kinds_as_markdown() {
  std::string text;
  for (const Level level : {Level::kError, Level::kWarning, Level::kNote}) {
    text += fmt::format("{}### {}s\n\n| finding | what it is | consequence | remedy |\n|---|---|---|---|\n",
                        text.empty() ? "" : "\n",
                        level == Level::kError     ? "Error"
                        : level == Level::kWarning ? "Warning"
                                                   : "Note");
    for (const KindInfo& entry : kKinds) {
      if (entry.level != level) continue;
      text +=
          fmt::format("| `{}` | {} | {} | {} |\n", entry.name, entry.title, entry.consequence, entry.remedy);
    }
  }
  return text;
}

}  // namespace maskfit::audit
