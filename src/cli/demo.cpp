#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/interrupt_notice.h"
#include "cli/progress.h"
#include "dataset/synthetic.h"
#include "deploy/picture_detector.h"
#include "deploy/result_writer.h"
#include "image/draw.h"
#include "network/model_file.h"
#include "train/require_machine.h"
#include "train/train_loop.h"

namespace maskfit::cli {
namespace {
namespace fs = std::filesystem;

constexpr std::int64_t kPicturesLookedAt = 40 * 256;  // over all epochs
constexpr int kSheetColumns = 4, kSheetPictures = 16;
constexpr image::Size kSheetTile{320, 240};

struct Arguments {
  std::string data, out, device = "cpu";
  std::optional<int> epochs;
};

// A network and a run for one core and two minutes: a quarter of the channels, and about ten thousand
// pictures looked at. One thread, because on a network this small two of them spend their time waiting for
// each other.
train::RunRequest demo_request(const Arguments& a, std::size_t training_pictures) {
  train::RunRequest request;
  request.recipe = "scratch";
  request.backbone = "resnet10";
  request.size = "320x192";
  request.batch = 8;
  const auto pictures = static_cast<std::int64_t>(std::max<std::size_t>(1, training_pictures));
  request.epochs = a.epochs ? *a.epochs : std::clamp<std::int64_t>(kPicturesLookedAt / pictures, 6, 60);
  request.assignments = {
      "model_config.width_multiplier=0.25",
      "training_config.ema_decay=0.99",  // the recipe averages over more steps than there are here
      "augmentation_config.mosaic_probability=0",
      "training_config.learning_rate.warmup_cosine_schedule.max_learning_rate=2e-3",
      "evaluation_config.first_validation_epoch=10",
      "evaluation_config.validation_period_during_training=10"};
  if (a.device == "cpu") request.assignments.push_back("training_config.threads=1");
  return request;
}

fs::path demo_data(const Arguments& a, const fs::path& out) {
  if (!a.data.empty()) return a.data;
  const dataset::SyntheticOptions options;
  spdlog::info("drawing {} pictures of faces with and without masks", options.pictures);
  return dataset::write_synthetic(options, out / "data").root;
}

// Detections on pictures of the validation part, side by side.
void write_contact_sheet(const train::PreparedRun& run, const Arguments& a, const fs::path& path) {
  deploy::PictureDetector detector(network::read_model(run.folder.model()), {.device = a.device});
  std::vector<image::Image> sheet;
  const auto& pictures = run.data.val.empty() ? run.data.train : run.data.val;
  const std::size_t stride = std::max<std::size_t>(1, pictures.size() / kSheetPictures);
  for (std::size_t i = 0; i < pictures.size() && sheet.size() < kSheetPictures; i += stride) {
    const std::vector<image::Image> one = {image::read_image(pictures[i].path)};
    sheet.push_back(
        deploy::annotate(one[0], detector.detect(one)[0], detector.class_names(), /*line_width=*/2));
  }
  image::write_image(path, image::contact_sheet(sheet, kSheetColumns, kSheetTile));
}

int demo(const Arguments& a) {
  const fs::path out = a.out.empty() ? train::default_run_folder("demo") : fs::path(a.out);
  const base::StopToken stop = base::interrupt_token();
  train::require_device(a.device);  // before pictures are drawn for nothing
  if (runs::RunFolder::holds_run(out)) {
    throw base::Error(base::ExitCode::kFailed, "the folder holds a run already", out.string(),
                      "give another --out");
  }
  const fs::path data = demo_data(a, out);
  const std::size_t pictures = train::open_named_data(data).train.size();
  const train::PreparedRun run =
      train::prepare_run(demo_request(a, pictures), {.data = data, .out = out, .device = a.device});
  TrainingProgress progress(stderr, is_terminal(stderr));
  const InterruptNotice notice(stop);
  const train::TrainResult result =
      train::train(run, {.device = a.device, .stop = stop, .decoding = {}}, progress);
  if (result.interrupted) return static_cast<int>(base::ExitCode::kInterrupted);
  write_contact_sheet(run, a, out / "detections.jpg");
  std::cout << fmt::format("mAP {:.4f} on {} validation pictures, trained in {}\n", result.last_map,
                           run.data.val.size(), base::format_duration(result.seconds))
            << fmt::format("model       {}\nreport      {}\ndetections  {}\n", run.folder.model().string(),
                           run.folder.report().string(), (out / "detections.jpg").string())
            << fmt::format("try: maskfit infer {} PICTURES -o DIR\n", run.folder.model().string());
  return 0;
}

std::function<int()> declare(CLI::App& app) {
  const auto a = std::make_shared<Arguments>();
  app.add_option("--data", a->data, "Train on this data instead of drawn pictures");
  app.add_option("--out", a->out, "Run folder; default: runs/demo-DATE-TIME");
  app.add_option("--device", a->device, "cpu, cuda or cuda:N")->capture_default_str();
  app.add_option("--epochs", a->epochs, "Length of the run; default: about two minutes on drawn pictures")
      ->check(CLI::Range(1, 1000000));
  return [a] { return demo(*a); };
}

}  // namespace

Command demo_command() {
  return {"demo", "The whole way on drawn pictures in three minutes: data, training, report", declare};
}

}  // namespace maskfit::cli
