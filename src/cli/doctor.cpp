#include <iostream>
#include <memory>

#include "base/error.h"
#include "base/version.h"
#include "cli/command.h"
#include "cli/doctor_report.h"

namespace maskfit::cli {
namespace {

struct Options {
  bool json = false;
};

DoctorReport examine() {
  DoctorReport report;
  report.machine = hardware::inspect_machine(".");
  report.library = tensor::library_facts();
  const hardware::Program program{base::built_with_cuda(), report.library.built_with_cuda,
                                  report.library.cuda_usable, report.library.threads};
  report.advice = hardware::advise(report.machine, program);
  return report;
}

int doctor(const Options& options) {
  const DoctorReport report = examine();
  if (options.json) {
    std::cout << to_json(report).dump(2) << '\n';
  } else {
    std::cout << to_text(report);
  }
  return static_cast<int>(report.fatal() ? base::ExitCode::kMachine : base::ExitCode::kDone);
}

}  // namespace

Command doctor_command() {
  return {"doctor", "What this machine can do, what will not work and what to do about it",
          [](CLI::App& app) -> std::function<int()> {
            auto options = std::make_shared<Options>();
            app.add_flag("--json", options->json, "Print JSON");
            return [options] { return doctor(*options); };
          }};
}

}  // namespace maskfit::cli
