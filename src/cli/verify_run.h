#pragma once

// What export and verify do alike: hold a bundle against its trained model, and say so.

#include <filesystem>
#include <string>

#include "export/verify.h"

namespace CLI {
class App;
}

namespace maskfit::cli {

struct VerifyRun {
  std::filesystem::path trained;  // "": the bundle's own
  std::string device = "cpu";
  std::filesystem::path page;  // "": parity.html in the bundle
};

// --tolerance-px, --tolerance-confidence and --tolerance-ap.
void add_tolerance_options(CLI::App& app, exporting::Tolerances& tolerances);

exporting::Forward trained_forward(const network::Model& model, const std::string& device);

// Prints the table, logs what was found, writes the page; the exit code.
int verify_and_report(const std::filesystem::path& bundle, const exporting::PictureSource& pictures,
                      const exporting::VerifyOptions& options, const VerifyRun& run);

}  // namespace maskfit::cli
