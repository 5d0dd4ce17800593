#include "cli/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"

namespace maskfit::cli {
namespace {

constexpr int kBarWidth = 20;  // characters between the brackets

std::string bar(double share) {
  const int filled = static_cast<int>(std::clamp(share, 0.0, 1.0) * kBarWidth);
  std::string text(static_cast<std::size_t>(filled), '=');
  if (filled < kBarWidth) text += '>';
  text.resize(kBarWidth, ' ');
  return text;
}

// "mask cov 0.0051 bbox 0.0020", weighted parts, a class after the other.
std::string parts_text(const train::Costs& costs) {
  std::string text, last_class;
  for (const train::CostPart& part : costs.parts) {
    if (part.class_name != last_class) text += "  " + part.class_name;
    last_class = part.class_name;
    text += fmt::format(" {} {:.4f}", part.objective, part.weighted());
  }
  return text;
}

int terminal_columns(std::FILE* stream) {
  winsize size{};
  return ::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

// A slow machine trains less than one picture a second.
int decimals(double images_per_second) {
  return images_per_second < 10 ? 2 : 0;
}

}  // namespace

std::string bar_text(const train::StepReport& r, int columns) {
  const double share = static_cast<double>(r.at.step_in_epoch) / static_cast<double>(r.at.steps_per_epoch);
  std::string text =
      fmt::format("epoch {}/{} [{}] {}/{}  loss {:.4f}{}  lr {:.1e}  {:.{}f} img/s  ETA {}", r.at.epoch,
                  r.at.epochs, bar(share), r.at.step_in_epoch, r.at.steps_per_epoch, r.costs.total,
                  parts_text(r.costs), r.learning_rate, r.images_per_second, decimals(r.images_per_second),
                  base::format_duration(r.eta_seconds));
  if (columns > 0 && static_cast<int>(text.size()) > columns) {
    // What gives way on a narrow terminal is the parts of the loss, the longest piece and the least needed.
    text =
        fmt::format("epoch {}/{} {}/{}  loss {:.4f}  lr {:.1e}  {:.{}f} img/s  ETA {}", r.at.epoch,
                    r.at.epochs, r.at.step_in_epoch, r.at.steps_per_epoch, r.costs.total, r.learning_rate,
                    r.images_per_second, decimals(r.images_per_second), base::format_duration(r.eta_seconds));
    text.resize(std::min<std::size_t>(text.size(), static_cast<std::size_t>(columns)));
  }
  return text;
}

std::string validation_text(const train::ValidationReport& report) {
  const evaluate::Evaluation& e = *report.evaluation;
  std::string text =
      fmt::format("validation after epoch {}: mAP {:.4f}{}  mAP50 {:.4f}  mAP75 {:.4f}  mAP50:95 {:.4f}",
                  report.at.epoch, e.map, report.best ? " (best so far)" : "", e.map50, e.map75, e.map50_95);
  for (const evaluate::ClassResult& c : e.classes) {
    text += fmt::format("\n  {:<16} AP {:.4f}  ({} boxes)", c.name, c.ap, c.truths);
  }
  return text;
}

void TrainingProgress::line(const std::string& text) {
  bar_.clear();
  std::fprintf(bar_.stream(), "%s\n", text.c_str());
  std::fflush(bar_.stream());
}

void TrainingProgress::on_progress(const train::StepReport& report) {
  if (bar_.terminal()) {
    bar_.show(bar_text(report, terminal_columns(bar_.stream()) - 1));
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  if (now - last_plain_ < kPlainLineInterval) return;
  last_plain_ = now;
  line(bar_text(report, 0));
}

void TrainingProgress::on_epoch(const train::EpochReport& report) {
  line(fmt::format("Epoch {}/{}: loss: {:.5f} learning rate: {:.3g} Time taken: {} ETA: {}", report.at.epoch,
                   report.at.epochs, report.mean_loss, report.learning_rate,
                   base::format_duration(report.seconds), base::format_duration(report.eta_seconds)));
}

void TrainingProgress::on_validation(const train::ValidationReport& report) {
  line(validation_text(report));
  for (const std::string& sentence : report.diagnosis) line("  " + sentence);
}

void TrainingProgress::on_notice(train::Notice notice, const std::string& sentence) {
  line(notice == train::Notice::kWarning ? "warning: " + sentence : sentence);
}

}  // namespace maskfit::cli
