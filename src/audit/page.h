#pragma once

// The audit as one HTML page that needs nothing else.

#include <filesystem>
#include <string>

#include "audit/audit.h"

namespace maskfit::audit {

struct PageOptions {
  int examples = 12;         // of each finding with pictures; the rest by name
  int pictures = 400;        // on the whole page: about 10 MB
  int named_examples = 200;  // of each finding by name
  int side = 480;            // pixels of a picture's longer side
};

// `title`: how the user calls the dataset. Reads the pictures of the examples.
std::string render_page(const Audit& audit, const dataset::Dataset& data, const std::string& title,
                        const PageOptions& options = {});

// render_page() to folder/index.html, atomically.
void write_page(const std::filesystem::path& folder, const Audit& audit, const dataset::Dataset& data,
                const std::string& title, const PageOptions& options = {});

}  // namespace maskfit::audit
