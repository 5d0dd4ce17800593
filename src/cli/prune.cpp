#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/interrupt.h"
#include "cli/command.h"
#include "cli/prune_request.h"
#include "deploy/forward_speed.h"
#include "network/model_file.h"
#include "prune/pruner.h"
#include "prune/summary.h"
#include "train/evaluate_model.h"

namespace maskfit::cli {
namespace {
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct Arguments {
  std::string model, out;
  std::string threshold, keep_parameters, keep_macs, latency;
  std::string normalizer = "max", criterion = "union";
  prune::PruneOptions options;
  std::string sensitivity, device, precision = "fp32";
  int pictures = 100;
  bool json = false, force = false, no_speed = false;
};

// img/s of a forward pass with one picture, before and after.
struct Speed {
  std::string device;
  double before = 0, after = 0;
};

// mAP on pictures of --sensitivity, before retraining.
struct Accuracy {
  std::int64_t pictures = 0;
  double before = 0, after = 0;
};

void refuse_existing(const Arguments& a) {
  if (a.force || !fs::exists(a.out)) return;
  throw base::Error(base::ExitCode::kFailed, "the file exists", a.out,
                    "give another --out, or replace it with --force");
}

deploy::ForwardSpeedOptions speed_options(const Arguments& a, const std::string& device, double seconds) {
  return {.device = device,
          .precision = model::precision_from_name(a.precision),
          .batch = 1,
          .seconds = seconds,
          .stop = base::interrupt_token()};
}

[[noreturn]] void refuse_goal(const prune::Pruner& pruner, const std::string& goal,
                              const std::string& remedy) {
  const prune::Summary least = prune::summarise(pruner, pruner.kept(pruner.thresholds().back()));
  throw base::Error(
      base::ExitCode::kRefused,
      fmt::format("{} cannot be reached: with these options at least {:.2f} % of the parameters "
                  "and {:.2f} % of the MACs stay",
                  goal, 100 * least.parameter_ratio(), 100 * least.mac_ratio()),
      "", "lower --min-filters or --granularity, exclude less, or " + remedy);
}

double find_size(const prune::Pruner& pruner, double share, bool macs) {
  const auto found = prune::find_threshold(pruner, [&](const prune::Kept& kept) {
    const prune::Summary summary = prune::summarise(pruner, kept);
    return (macs ? summary.mac_ratio() : summary.parameter_ratio()) <= share;
  });
  if (!found) refuse_goal(pruner, fmt::format("{:g} %", 100 * share), "let more stay");
  return *found;
}

double find_speed(const prune::Pruner& pruner, double wanted, const Arguments& a) {
  const std::string device = a.device.empty() ? "cpu" : a.device;
  const auto found = prune::find_threshold(pruner, [&](const prune::Kept& kept) {
    const double speed = deploy::forward_speeds({pruner.pruned(kept)}, speed_options(a, device, 1))[0];
    const double share = prune::summarise(pruner, kept).mac_ratio();
    spdlog::info("{:5.1f} % of the MACs: {:.1f} img/s on {}", 100 * share, speed, device);
    return speed >= wanted;
  });
  if (!found) refuse_goal(pruner, fmt::format("{:.1f} img/s on {}", wanted, device), "ask for less speed");
  return *found;
}

double threshold_for(const prune::Pruner& pruner, const PruneGoal& goal, const Arguments& a) {
  if (goal.threshold) return *goal.threshold;
  if (goal.parameters) return find_size(pruner, *goal.parameters, false);
  if (goal.macs) return find_size(pruner, *goal.macs, true);
  return find_speed(pruner, *goal.pictures_per_second, a);
}

// AP of the network with one group pruned after another, into the rows of the table.
Accuracy measure_sensitivity(const prune::Pruner& pruner, double threshold, const network::Model& model,
                             const Arguments& a, prune::Summary* summary) {
  const train::Evaluator evaluator({.model = a.model,
                                    .data = a.sensitivity,
                                    .split = "",
                                    .spec_file = {},
                                    .device = a.device.empty() ? "cpu" : a.device,
                                    .precision = a.precision,
                                    .max_pictures = a.pictures,
                                    .stop = base::interrupt_token(),
                                    .progress = {}},
                                   model);
  const auto map_of = [&](const prune::Kept& kept) {
    return evaluator.evaluate(pruner.pruned(kept)).evaluation.map;
  };
  Accuracy accuracy{evaluator.pictures(), map_of(pruner.kept(prune::kKeepAll)),
                    map_of(pruner.kept(threshold))};
  for (std::size_t g = 0; g < pruner.map().groups.size(); ++g) {
    const prune::Group& group = pruner.map().groups[g];
    if (!group.kept_whole.empty()) continue;
    const double drop = accuracy.before - map_of(pruner.kept_in_group(g, threshold));
    for (const int layer : group.layers) {
      prune::LayerRow& row = summary->layers[static_cast<std::size_t>(layer)];
      if (row.filters_after < row.filters_before) row.ap_drop = drop;
      spdlog::info("{} pruned alone: mAP {:+.4f}", row.name, -drop);
    }
  }
  return accuracy;
}

std::vector<Speed> measure_speeds(const network::Network& before, const network::Network& after,
                                  const Arguments& a) {
  std::vector<Speed> speeds;
  if (a.no_speed) return speeds;
  const std::vector<std::string> devices =
      a.device.empty() ? deploy::usable_devices() : std::vector<std::string>{a.device};
  for (const std::string& device : devices) {
    const std::vector<double> pair = deploy::forward_speeds({before, after}, speed_options(a, device, 4));
    speeds.push_back({device, pair[0], pair[1]});
  }
  return speeds;
}

std::string text_of(const prune::Summary& summary, double threshold, const std::vector<Speed>& speeds,
                    const std::optional<Accuracy>& accuracy, const Arguments& a) {
  std::string text = prune::to_table(summary);
  text += threshold < 0 ? "no filter had to go\n" : fmt::format("threshold {:.6g}\n", threshold);
  for (const Speed& s : speeds) {
    text += fmt::format("forward on {}, one picture, {}: {:.1f} -> {:.1f} img/s ({:.2f} times)\n", s.device,
                        a.precision, s.before, s.after, s.after / s.before);
  }
  if (accuracy) {
    text += fmt::format("mAP on {} pictures of {}, not yet retrained: {:.4f} -> {:.4f}\n", accuracy->pictures,
                        a.sensitivity, accuracy->before, accuracy->after);
  }
  return text + fmt::format("\n{}: {:.2f} MB, was {:.2f} MB\nretrain it: maskfit train DATASET --from {}\n",
                            a.out, static_cast<double>(fs::file_size(a.out)) / 1e6,
                            static_cast<double>(fs::file_size(a.model)) / 1e6, a.out);
}

std::string json_of(const prune::Summary& summary, double threshold, const std::vector<Speed>& speeds,
                    const std::optional<Accuracy>& accuracy, const Arguments& a) {
  Json json = Json::parse(prune::to_json(summary));
  json["model"] = a.out;
  json["threshold"] = threshold;
  json["speed"] = Json::array();
  for (const Speed& s : speeds) {
    json["speed"].push_back(
        {{"device", s.device}, {"precision", a.precision}, {"before", s.before}, {"after", s.after}});
  }
  if (accuracy) {
    json["mAP"] = {
        {"pictures", accuracy->pictures}, {"before", accuracy->before}, {"after", accuracy->after}};
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

int prune_model(Arguments a) {
  const PruneGoal goal = prune_goal(a.threshold, a.keep_parameters, a.keep_macs, a.latency);
  a.options.normalizer = prune::normalizer_from_name(a.normalizer);
  a.options.criterion = prune::criterion_from_name(a.criterion);
  refuse_existing(a);
  const std::string digest = base::sha256(base::read_file(a.model));
  const network::Model parent = network::read_model(a.model);
  const prune::Pruner pruner(parent.network, a.options);
  const double threshold = threshold_for(pruner, goal, a);
  const network::Model small = prune::pruned_model(parent, digest, pruner, a.options, threshold);
  prune::Summary summary = prune::summarise(pruner, pruner.kept(threshold));
  if (summary.parameters_after == summary.parameters_before) {
    spdlog::warn("nothing was removed; a smaller --keep-params or a larger --threshold takes more");
  }
  std::optional<Accuracy> accuracy;
  if (!a.sensitivity.empty()) {
    accuracy = measure_sensitivity(pruner, threshold, parent, a, &summary);
  }
  const std::vector<Speed> speeds = measure_speeds(parent.network, small.network, a);
  network::write_model(a.out, small);
  std::cout << (a.json ? json_of(summary, threshold, speeds, accuracy, a)
                       : text_of(summary, threshold, speeds, accuracy, a));
  return 0;
}

std::function<int()> declare(CLI::App& app) {
  const auto a = std::make_shared<Arguments>();
  app.add_option("model", a->model, "Model file (*.safetensors)")->required();
  app.add_option("-o,--out", a->out, "The smaller model file")->required();
  app.add_option("--keep-params", a->keep_parameters, "At most this share of the parameters stays: 12%");
  app.add_option("--keep-macs", a->keep_macs, "At most this share of the multiplications stays: 30%");
  app.add_option("--latency", a->latency, "Speed to reach here, one picture a time: 8ms or 120img/s");
  app.add_option("--threshold", a->threshold, "Filters whose normalised norm is not above this go");
  app.add_option("--normalizer", a->normalizer, "What the norms of a layer are divided by: max, L2 or off")
      ->capture_default_str();
  app.add_option("--equalization-criterion", a->criterion,
                 "Layers that must keep the same channels: union, intersection, arithmetic_mean or "
                 "geometric_mean of their norms")
      ->capture_default_str();
  app.add_option("--granularity", a->options.granularity, "Filter counts are multiples of this")
      ->capture_default_str();
  app.add_option("--min-filters", a->options.min_filters, "No layer gets fewer filters than this")
      ->capture_default_str();
  app.add_option("--exclude", a->options.excluded, "Layer that keeps all its filters, as often as needed")
      ->allow_extra_args(false);
  app.add_option("--sensitivity", a->sensitivity,
                 "Also measure the AP that each layer costs when it alone is pruned, on this dataset");
  app.add_option("--sensitivity-pictures", a->pictures, "On so many pictures of it; 0: all")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--device", a->device,
                 "cpu, cuda or cuda:N; default: speeds on the CPU and the GPU, the rest on the CPU");
  app.add_option("--precision", a->precision, "fp32, bf16 or fp16")->capture_default_str();
  app.add_flag("--no-speed", a->no_speed, "Do not measure speeds");
  app.add_flag("--json", a->json, "Print one JSON object instead of a table");
  app.add_flag("--force", a->force, "Replace the output file");
  return [a] { return prune_model(*a); };
}

}  // namespace

Command prune_command() {
  return {"prune", "Make a trained model smaller, to be retrained", declare};
}

}  // namespace maskfit::cli
