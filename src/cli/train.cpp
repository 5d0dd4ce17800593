#include "train/train_loop.h"

#include <spdlog/spdlog.h>

#include <iostream>
#include <memory>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/interrupt_notice.h"
#include "cli/progress.h"
#include "train/prepare_run.h"

namespace maskfit::cli {
namespace {

struct Arguments {
  train::RunRequest request;
  std::string data, out, device = "cpu";
  int gpus = 1, keep_checkpoints = 3;
  bool resume = false, force = false, reference_exact = false;
};

void refuse_several_gpus(const Arguments& a) {
  if (a.gpus == 1) return;
  throw base::Error(base::ExitCode::kUsage, fmt::format("training on {} GPUs is not supported yet", a.gpus),
                    "--gpus", "train on one, with --device cuda");
}

train::RunPlace place_of(const Arguments& a) {
  if (a.resume && a.out.empty()) {
    throw base::Error(base::ExitCode::kUsage, "--resume needs the run folder", "--out", "give it with --out");
  }
  return {.data = a.data,
          .out = a.out.empty() ? train::default_run_folder(a.data) : std::filesystem::path(a.out),
          .resume = a.resume,
          .overwrite = a.force ? base::Overwrite::kAllow : base::Overwrite::kRefuse,
          .device = a.device};
}

int run_training(const Arguments& a) {
  refuse_several_gpus(a);
  const base::StopToken stop = base::interrupt_token();
  const train::PreparedRun run = train::prepare_run(a.request, place_of(a));
  spdlog::info("{} training and {} validation pictures, {} classes; run folder {}", run.data.train.size(),
               run.data.val.size(), run.classes.class_names.size(), run.folder.path().string());
  for (const base::Finding& finding : run.data.findings) spdlog::warn("{}", base::to_string(finding));
  TrainingProgress progress(stderr, is_terminal(stderr));
  const InterruptNotice notice(stop);
  const train::TrainResult result = train::train(run,
                                                 {.device = a.device,
                                                  .reference_exact = a.reference_exact,
                                                  .keep_checkpoints = a.keep_checkpoints,
                                                  .stop = stop,
                                                  .decoding = {}},
                                                 progress);
  if (result.interrupted) {
    spdlog::warn("interrupted after step {}; go on with: maskfit train {} --out {} --resume", result.steps,
                 a.data, run.folder.path().string());
    return static_cast<int>(base::ExitCode::kInterrupted);
  }
  spdlog::info("{} epochs in {}; model {}, report {}", result.epochs, base::format_duration(result.seconds),
               run.folder.model().string(), run.folder.report().string());
  return 0;
}

std::function<int()> declare(CLI::App& app) {
  const auto a = std::make_shared<Arguments>();
  train::RunRequest& r = a->request;
  app.add_option("data", a->data, "Dataset, KITTI or VOC folder, or TFRecords as GLOB@IMAGE_FOLDER");
  app.add_option("--spec", r.spec_file,
                 "Spec file (TLT and TAO files work); what it leaves out, its recipe fills in");
  app.add_option("--recipe", r.recipe, "scratch (random weights, the default) or tlt (the reference's)");
  app.add_option("--from", r.from,
                 "Train this model on, with its network as it is: a pruned one stays pruned (load_graph)");
  app.add_option("--teacher", r.teacher,
                 "Learn from this model's answers, too, e.g. the unpruned one (distillation)");
  app.add_option("--backbone", r.backbone, "resnet10, resnet18, resnet34 or resnet50");
  app.add_option("--size", r.size, "Network input WIDTHxHEIGHT, multiples of 16, e.g. 960x544");
  app.add_option("--epochs", r.epochs, "Length of the run");
  app.add_option(
      "--batch", r.batch,
      "Pictures a step; the recipe scratch adapts its learning rate (by the square root) and average");
  app.add_option("--precision", r.precision, "fp32, bf16 or fp16");
  app.add_option("--seed", r.seed, "Seed of everything random");
  app.add_option("--set", r.assignments, "One field of the spec; --set again for another one")
      ->allow_extra_args(false)
      ->option_text("PATH=VALUE");
  app.add_option("--out", a->out, "Run folder; default: runs/NAME-DATE-TIME");
  app.add_flag("--resume", a->resume, "Go on with the run in --out from its newest checkpoint");
  app.add_flag("--force", a->force, "Replace a run that lies in --out");
  app.add_option("--device", a->device, "cpu, cuda or cuda:N")->capture_default_str();
  app.add_option("--gpus", a->gpus, "Number of GPUs")->capture_default_str();
  app.add_option("--keep-checkpoints", a->keep_checkpoints, "How many to keep; 0: all")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  app.add_flag("--reference-exact", a->reference_exact, "The reference's quirks too (docs/numerics.md)");
  return [a] { return run_training(*a); };
}

}  // namespace

Command train_command() {
  return {"train", "Train a detector", declare};
}

}  // namespace maskfit::cli
