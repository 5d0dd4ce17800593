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
#include "cli/train_ranks.h"
#include "spec/print.h"
#include "train/prepare_run.h"

namespace maskfit::cli {
namespace {

struct Arguments {
  train::RunRequest request;
  std::string data, out;
  RankOptions ranks;
  int keep_checkpoints = 3;
  bool resume = false, force = false, reference_exact = false;
};

train::RunPlace place_of(const Arguments& a, const std::string& device) {
  if (a.resume && a.out.empty()) {
    throw base::Error(base::ExitCode::kUsage, "--resume needs the run folder", "--out", "give it with --out");
  }
  return {.data = a.data,
          .out = a.out.empty() ? train::default_run_folder(a.data) : std::filesystem::path(a.out),
          .resume = a.resume,
          .overwrite = a.force ? base::Overwrite::kAllow : base::Overwrite::kRefuse,
          .device = device};
}

// Rank 0 decides about spec and folder; the others get its spec and must have found the same data.
train::PreparedRun prepare_with_ranks(const Arguments& a, const RankRole& role) {
  const train::RunPlace place = place_of(a, role.device);
  if (!role.group) return train::prepare_run(a.request, place);
  ranks::Group& group = *role.group;
  if (group.is_first()) {
    train::RunRequest request = a.request;
    request.ranks = group.size();
    train::PreparedRun run = train::prepare_run(request, place);
    group.broadcast(spec::to_text(run.experiment, {.comments = false}));
    group.broadcast(run.data.digest);
    return run;
  }
  train::PreparedRun run = train::prepare_rank(a.request, place, group.broadcast(""));
  const std::string digest = group.broadcast("");
  if (digest == run.data.digest) return run;
  throw base::Error(base::ExitCode::kRefused, "the dataset is another one than on rank 0", a.data,
                    "every machine needs the same files under this name");
}

int train_as(const RankRole& role, const Arguments& a, base::StopToken stop) {
  const train::PreparedRun run = prepare_with_ranks(a, role);
  const bool first = !role.group || role.group->is_first();
  if (first) {
    spdlog::info("{} training and {} validation pictures, {} classes; run folder {}", run.data.train.size(),
                 run.data.val.size(), run.classes.class_names.size(), run.folder.path().string());
    if (role.group) spdlog::info("{} ranks on {}", role.group->size(), role.device.substr(0, 4));
    for (const base::Finding& finding : run.data.findings) spdlog::warn("{}", base::to_string(finding));
  }
  TrainingProgress progress(stderr, is_terminal(stderr));
  const InterruptNotice notice(stop);
  const train::TrainResult result = train::train(run,
                                                 {.device = role.device,
                                                  .reference_exact = a.reference_exact,
                                                  .keep_checkpoints = a.keep_checkpoints,
                                                  .group = role.group.get(),
                                                  .stop = stop,
                                                  .decoding = {}},
                                                 progress);
  if (result.interrupted) {
    if (first) {
      spdlog::warn("interrupted after step {}; go on with: maskfit train {} --out {} --resume", result.steps,
                   a.data, run.folder.path().string());
    }
    return static_cast<int>(base::ExitCode::kInterrupted);
  }
  if (first) {
    spdlog::info("{} epochs in {}; model {}, report {}", result.epochs, base::format_duration(result.seconds),
                 run.folder.model().string(), run.folder.report().string());
  }
  return 0;
}

int run_training(const Arguments& a) {
  const base::StopToken stop = base::interrupt_token();
  const RankRole role = take_role(a.ranks);
  if (role.launches) {
    return run_ranks(role.ranks, place_of(a, role.device).out.string(), !a.out.empty(), stop);
  }
  try {
    return train_as(role, a, stop);
  } catch (const std::exception& error) {
    if (role.group) role.group->fail(error.what());
    throw;
  }
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
      "Pictures a step and GPU; the recipe scratch adapts its learning rate (by the square root) and "
      "average");
  app.add_option("--precision", r.precision, "fp32, bf16 or fp16");
  app.add_option("--seed", r.seed, "Seed of everything random");
  app.add_option("--set", r.assignments, "One field of the spec; --set again for another one")
      ->allow_extra_args(false)
      ->option_text("PATH=VALUE");
  app.add_option("--out", a->out, "Run folder; default: runs/NAME-DATE-TIME");
  app.add_flag("--resume", a->resume, "Go on with the run in --out from its newest checkpoint");
  app.add_flag("--force", a->force, "Replace a run that lies in --out");
  app.add_option("--device", a->ranks.device, "cpu (the default), cuda or cuda:N");
  app.add_option("--gpus", a->ranks.gpus, "GPUs of this machine to train on together, a process each")
      ->check(CLI::Range(1, 1024));
  app.add_option("--ranks", a->ranks.ranks, "The same with processes on the CPU")->check(CLI::Range(1, 1024));
  app.add_option("--rank-timeout", a->ranks.timeout_seconds,
                 "Seconds that a process waits for the others before it gives up")
      ->capture_default_str();
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
