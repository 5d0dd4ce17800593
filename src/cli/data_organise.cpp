#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <iostream>
#include <memory>

#include "base/error.h"
#include "base/interrupt.h"
#include "cli/command.h"
#include "cli/data_report.h"
#include "cli/progress.h"
#include "cli/transfer_progress.h"
#include "dataset/organise.h"

namespace maskfit::cli {
namespace {

struct Options {
  std::vector<std::string> sources;
  std::string to, mode = "link";
  bool dry_run = false, force = false;
};

const char* fault_name(fetch::ArchiveFault fault) {
  switch (fault) {
    case fetch::ArchiveFault::kUnreadable:
      return "cannot be read as an archive";
    case fetch::ArchiveFault::kTorn:
      return "is broken";
    case fetch::ArchiveFault::kEncrypted:
      return "is encrypted: unpack it with its password first";
    case fetch::ArchiveFault::kBomb:
      return "was refused, it looks like an archive bomb";
    case fetch::ArchiveFault::kEscape:
      return "holds paths that lead out of the folder; they were left out";
    case fetch::ArchiveFault::kLinks:
      return "holds links or devices; they were left out";
    case fetch::ArchiveFault::kDepth:
      return "was left out";
  }
  return "";
}

// True when nothing of it keeps a part from being used.
bool is_harmless(fetch::ArchiveFault fault) {
  return fault == fetch::ArchiveFault::kLinks || fault == fetch::ArchiveFault::kEscape;
}

int run(const Options& options) {
  dataset::OrganiseOptions organise;
  organise.sources = {options.sources.begin(), options.sources.end()};
  organise.to = options.to;
  organise.dry_run = options.dry_run;
  organise.copy = options.mode == "copy";
  organise.overwrite = options.force;
  organise.stop = base::interrupt_token();
  TransferProgress progress(stderr, is_terminal(stderr));
  organise.progress = progress.sink();
  const dataset::OrganiseReport report = dataset::organise(organise);
  progress.clear();

  bool faultless = report.not_placed == 0;
  for (const fetch::ArchiveProblem& problem : report.archive_problems) {
    faultless = faultless && is_harmless(problem.fault);
    spdlog::warn("{} {}: {}{}", problem.archive, fault_name(problem.fault), problem.what,
                 problem.count > 1 ? fmt::format(" (and {} more)", problem.count - 1) : "");
  }
  for (const base::Finding& finding : report.findings) {
    if (finding.severity == base::Severity::kRefused) faultless = false;
  }
  log_findings(report.findings, "");
  std::cout << dataset::organise_text(report, options.to, options.dry_run);
  if (report.chosen == 0) {
    throw base::Error(base::ExitCode::kRefused, "nothing of a known set was found", options.sources.front(),
                      "`maskfit data import` takes pictures and labels of any other source");
  }
  return static_cast<int>(faultless ? base::ExitCode::kDone : base::ExitCode::kRefused);
}

}  // namespace

Command data_organise_command() {
  return {"data organise", "Find the public sets in archives and folders of any state and lay them out",
          [](CLI::App& app) -> std::function<int()> {
            auto o = std::make_shared<Options>();
            app.add_option("DIR", o->sources, "Folders or archives to look through")->required();
            app.add_option("--to", o->to, "Folder for the sets")->required();
            app.add_option("--mode", o->mode, "Files on the same disk: link (hard links) or copy")
                ->check(CLI::IsMember({"link", "copy"}))
                ->capture_default_str();
            app.add_flag("--dry-run", o->dry_run, "Only tell what was found and what would be written");
            app.add_flag("--force", o->force, "Replace files in the sets that differ from what was found");
            return [o] { return run(*o); };
          }};
}

}  // namespace maskfit::cli
