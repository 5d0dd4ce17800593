#pragma once

// The run's report: one HTML file that needs nothing else, no host, no script library. Readable on a phone,
// in light and dark, printed, and without scripts (they only add values under the pointer).

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "boxes/box.h"
#include "evaluate/evaluate.h"
#include "image/image.h"
#include "report/chart.h"

namespace maskfit::report {

// "Pictures per second": "1,063".
struct Fact {
  std::string name, value;
};

struct FactGroup {
  std::string title;  // "Run", "Data", "Network", "Machine"
  std::vector<Fact> facts;
};

// One picture with what is there and what was found. Boxes in pixels of `image`, which may be of any size; it
// is scaled to at most 720 px for the page.
struct Picture {
  std::string id;
  image::Image image;
  boxes::Truths truths;
  boxes::Detections detections;  // all; those under the confusion threshold are not drawn
};

// Everything is optional: an empty part leaves its section out.
struct Report {
  std::string title;                    // "demo-2024-05-01"
  std::string subtitle;                 // "resnet18, 640x640, 120 epochs on masks640"
  std::vector<Fact> headline;           // large numbers beside the mAP, such as time and pictures per second
  std::vector<std::string> notes;       // sentences to read first: diagnosis of zero AP, interrupted run
  std::vector<Series> losses;           // x: epoch
  std::optional<Series> learning_rate;  // x: epoch
  std::vector<Series> ap;               // x: epoch; one a class, and the mean
  std::optional<evaluate::Evaluation> evaluation;
  std::vector<Picture> worst;  // as many as are to be shown, the worst first
  std::vector<Picture> examples;
  std::vector<FactGroup> facts;
  std::string spec_text;  // the effective spec, shown folded
};

std::string render(const Report& report);

// render() to a file, atomically. Throws base::Error when it cannot be written.
void write(const std::filesystem::path& path, const Report& report);

}  // namespace maskfit::report
