#include <spdlog/spdlog.h>

#include <iostream>
#include <memory>

#include "base/error.h"
#include "base/files.h"
#include "cli/command.h"
#include "cli/exported_pictures.h"
#include "cli/verify_run.h"
#include "deploy/network_runner.h"
#include "export/bundle_files.h"

namespace maskfit::cli {
namespace {

struct Arguments {
  std::string bundle, data, split, model, html, device = "cpu";
  std::int64_t pictures = 0;
  exporting::Tolerances tolerances;
};

int verify(const Arguments& a) {
  exporting::check_is_bundle(a.bundle);
  const std::filesystem::path trained = a.model.empty()
                                            ? std::filesystem::path(a.bundle) / exporting::kTrainedFile
                                            : std::filesystem::path(a.model);
  const exporting::PictureSource pictures =
      open_pictures(network::read_model(trained), a.data, a.split, a.pictures);
  return verify_and_report(a.bundle, pictures, {.tolerances = a.tolerances, .page_pictures = 12},
                           {.trained = a.model, .device = a.device, .page = a.html});
}

std::function<int()> declare(CLI::App& app) {
  const auto a = std::make_shared<Arguments>();
  app.add_option("bundle", a->bundle, "Folder that maskfit export wrote")->required();
  app.add_option("data", a->data, "Dataset to compare on")->required();
  app.add_option("--split", a->split, "train, val or test; default: val where the data has one, else all");
  app.add_option("--model", a->model, "Trained model to compare with; default: the one in the bundle");
  app.add_option("--pictures", a->pictures, "Pictures to compare on; 0: all")->capture_default_str();
  app.add_option("--html", a->html, "Where the page goes; default: parity.html in the bundle");
  app.add_option("--device", a->device, "Where the trained model runs: cpu, cuda or cuda:N")
      ->capture_default_str();
  add_tolerance_options(app, a->tolerances);
  return [a] { return verify(*a); };
}

}  // namespace

void add_tolerance_options(CLI::App& app, exporting::Tolerances& tolerances) {
  app.add_option("--tolerance-px", tolerances.box_px, "fp32, fp16: how far a box may move")
      ->capture_default_str();
  app.add_option("--tolerance-confidence", tolerances.confidence,
                 "fp32, fp16: how much a confidence may change")
      ->capture_default_str();
  app.add_option("--tolerance-ap", tolerances.ap_points, "int8: AP points that may be lost")
      ->capture_default_str();
}

exporting::Forward trained_forward(const network::Model& model, const std::string& device) {
  const auto runner = std::make_shared<deploy::NetworkRunner>(model.network, device);
  return [runner](const std::vector<std::span<const float>>& pictures) { return runner->run(pictures); };
}

int verify_and_report(const std::filesystem::path& folder, const exporting::PictureSource& pictures,
                      const exporting::VerifyOptions& options, const VerifyRun& run) {
  base::Findings found;
  exporting::Bundle bundle = exporting::read_bundle(folder, &found);
  if (!run.trained.empty()) bundle.trained = network::read_model(run.trained);
  const exporting::Verification result =
      exporting::verify_bundle(bundle, found, trained_forward(bundle.trained, run.device), pictures, options);
  std::cout << exporting::verification_table(result, bundle.trained.class_names);
  for (const base::Finding& finding : result.findings) {
    if (finding.severity == base::Severity::kRefused) {
      spdlog::error("{}", base::to_string(finding));
    } else {
      spdlog::warn("{}", base::to_string(finding));
    }
  }
  const std::filesystem::path page = run.page.empty() ? folder / "parity.html" : run.page;
  base::write_file(page, exporting::verification_page(result, bundle, pictures, options));
  spdlog::info("page written to {}", page.string());
  if (result.good) {
    spdlog::info("good: the bundle gives the boxes of the trained model on {} pictures", result.pictures);
    return 0;
  }
  spdlog::error("not good: do not deploy this bundle");
  return static_cast<int>(base::ExitCode::kRefused);
}

Command verify_command() {
  return {"verify", "Hold an exported bundle against the model it was made from", declare};
}

}  // namespace maskfit::cli
