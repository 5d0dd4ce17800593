#include <spdlog/spdlog.h>

#include <iostream>
#include <memory>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/version.h"
#include "cli/command.h"
#include "cli/doctor_report.h"

namespace maskfit::cli {
namespace {

struct Options {
  bool json = false;
  bool no_measure = false;
};

// The default network at the reference's size, on the fastest device.
TrainingSpeed measure(const DoctorReport& report) {
  train::SpeedOptions options;
  TrainingSpeed speed{{}, "cpu", "fp32"};
  options.batch = 2;
  if (report.library.cuda_usable) {
    const auto& gpus = report.machine.gpus.gpus;
    speed = {{}, "cuda", gpus.empty() || gpus[0].capability_major >= 8 ? "bf16" : "fp16"};
    options.batch = 24;
  }
  options.device = speed.device;
  options.precision = model::precision_from_name(speed.precision);
  options.stop = base::interrupt_token();
  speed.estimate = train::measure_speed(train::default_network, 960, 544, options);
  return speed;
}

DoctorReport examine(const Options& options) {
  DoctorReport report;
  report.machine = hardware::inspect_machine(".");
  report.library = tensor::library_facts();
  const hardware::Program program{base::built_with_cuda(), report.library.built_with_cuda,
                                  report.library.cuda_usable, report.library.threads};
  report.advice = hardware::advise(report.machine, program);
  if (!options.no_measure && !report.fatal()) {
    spdlog::info("measuring the speed of training, about 10 s (--no-measure leaves it out)");
    report.speed = measure(report);
  }
  return report;
}

int doctor(const Options& options) {
  const DoctorReport report = examine(options);
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
            app.add_flag("--no-measure", options->no_measure, "Do not measure the speed of training");
            return [options] { return doctor(*options); };
          }};
}

}  // namespace maskfit::cli
