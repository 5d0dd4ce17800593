#pragma once

// The parity gate: is this bundle as good as the model that it was made from?

#include <string>
#include <vector>

#include "export/bundle.h"
#include "export/parity.h"

namespace maskfit::exporting {

struct VerifyOptions {
  Tolerances tolerances;
  int page_pictures = 12;  // side by side on the page
};

struct VerifyRow {
  std::string name;
  double map = 0;          // IoU 0.5, all points
  std::vector<double> ap;  // by class
  bool compared = false;   // box by box with the trained model
  Difference difference;
  bool good = true;
};

struct Verification {
  std::vector<VerifyRow> rows;  // trained, real numbers, integers, as configured for the device
  base::Findings findings;      // kRefused: why the bundle is not good
  bool good = true;
  std::int64_t pictures = 0;
  std::vector<Variant> variants;  // as the rows
};

// `trained`: the bundle's trained model through another implementation than ours. `found`: what read_bundle()
// noted.
Verification verify_bundle(const Bundle& bundle, const base::Findings& found, const Forward& trained,
                           const PictureSource& pictures, const VerifyOptions& options);

std::string verification_table(const Verification& verification, const std::vector<std::string>& class_names);
// One self-contained HTML page: the table, what is wrong, and pictures with the boxes of every variant side
// by side, those that differ most first.
std::string verification_page(const Verification& verification, const Bundle& bundle,
                              const PictureSource& pictures, const VerifyOptions& options);

}  // namespace maskfit::exporting
