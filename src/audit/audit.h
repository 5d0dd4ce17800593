#pragma once

// The audit of a dataset: what is wrong with it, what that will cost, and how to mend it.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "audit/kinds.h"
#include "audit/similar.h"
#include "audit/sources.h"
#include "base/interrupt.h"
#include "boxes/box.h"
#include "dataset/dataset.h"
#include "dataset/picture_facts.h"
#include "image/canvas.h"

namespace maskfit::audit {

// A change of the manifest that mends an example without anybody having to look.
struct Repair {
  enum class Action { kNone, kDropSample, kDropBox, kClipBox, kIgnoreBox };
  Action action = Action::kNone;
  std::uint32_t sample = 0;  // index into the dataset
  std::uint32_t box = 0;     // of the sample
};

// One instance of a finding. Pictures that belong together (two copies) are one example.
struct Example {
  std::vector<std::uint32_t> samples;            // may be empty: about the dataset as a whole
  std::vector<std::uint32_t> boxes;              // of samples[0]; which ones it is about
  std::vector<boxes::Box> extra_boxes_in_image;  // of samples[0]; what is not in the labels (a model's finds)
  std::string text;                              // what is so, with the values
  double rank = 0;                               // the worst first
  Repair repair;
};

struct Issue {
  Kind kind = Kind::kNoObject;
  Level level = Level::kNote;     // the kind's, or a warning where an error's share is too small to matter
  std::vector<Example> examples;  // all of them, the worst first

  std::int64_t count() const { return static_cast<std::int64_t>(examples.size()); }
};

// What the pictures are about to be trained with.
struct NetworkView {
  image::Size input{960, 544};
  int stride = 16;
  image::CanvasMode canvas = image::CanvasMode::kStretch;
};

// Boxes that a model finds on a picture, in its own pixels; class_index is a place in the dataset's
// class_names, or -1 for a class that the dataset has not.
using DetectFaces = std::function<boxes::Detections(const image::Image& picture)>;

struct AuditOptions {
  NetworkView network;
  SourceRule sources = SourceRule::kAuto;
  SimilarOptions similar;
  DetectFaces detect;  // empty: no model
  double detect_confidence = 0.6;
  std::filesystem::path cache;  // see FactsOptions
  int threads = 0;
  base::StopToken stop;
  // "reading pictures", ... with how far it is; from one thread at a time.
  std::function<void(const std::string& stage, std::int64_t done, std::int64_t total)> progress;
};

struct Audit {
  std::vector<Issue> issues;        // errors first, in the order of all_kinds(); none without examples
  std::vector<PictureFacts> facts;  // one a sample
  Similarity similar;
  Sources sources;
  NetworkView network;
  std::int64_t decoded = 0, from_cache = 0;

  std::int64_t count(Level level) const;  // kinds of that level that were found
  bool ready() const { return count(Level::kError) == 0; }
};

// A damaged picture is a finding. Throws base::Error (kInterrupted) when stopped.
Audit audit(const dataset::Dataset& data, const AuditOptions& options);

}  // namespace maskfit::audit
