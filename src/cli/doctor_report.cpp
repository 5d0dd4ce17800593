#include "cli/doctor_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/version.h"

namespace maskfit::cli {
namespace {
using hardware::format_bytes;
using nlohmann::ordered_json;

// "Processor   text": a label only on the first line of a section.
std::string row(const std::string& label, const std::string& text) {
  return fmt::format("{:<12}{}\n", label, text);
}

std::string library_text(const tensor::LibraryFacts& library) {
  if (!library.built_with_cuda) return library.version + " for the CPU";
  return library.version +
         (library.cuda_usable ? " with CUDA, usable here" : " with CUDA, which finds no device here");
}

std::string cpu_text(const hardware::Cpu& cpu, const tensor::LibraryFacts& library) {
  return row("Processor", fmt::format("{}, {} of {} cores usable", cpu.model, cpu.cores, cpu.cores_online)) +
         row("", fmt::format("x86-64-v{}: {}", cpu.level, fmt::join(cpu.instructions, " "))) +
         row("", fmt::format("in use: {} kernels, {} threads", library.cpu_kernels, library.threads));
}

std::string memory_text(const hardware::Memory& memory) {
  std::string text = fmt::format("{} of {} available", format_bytes(memory.available_bytes),
                                 format_bytes(memory.total_bytes));
  if (memory.limit_bytes)
    text += fmt::format(", limited to {} in this container", format_bytes(*memory.limit_bytes));
  return row("Memory", text);
}

// The matrix that `nvidia-smi topo -m` shows.
std::string links_text(const hardware::Gpus& gpus) {
  std::string header = "      ";
  for (const hardware::Gpu& gpu : gpus.gpus) header += fmt::format("{:<6}", fmt::format("GPU{}", gpu.index));
  std::string text = row("Links", header);
  for (std::size_t i = 0; i < gpus.links.size(); ++i) {
    std::string line = fmt::format("{:<6}", fmt::format("GPU{}", gpus.gpus[i].index));
    for (const std::string& link : gpus.links[i]) line += fmt::format("{:<6}", link);
    text += row("", line);
  }
  return text;
}

std::string gpus_text(const hardware::Gpus& gpus) {
  if (gpus.gpus.empty())
    return row("GPU", gpus.reason.empty() ? "none" : fmt::format("none ({})", gpus.reason));
  std::string text =
      row("GPU driver", fmt::format("{}, serves CUDA up to {}", gpus.driver, gpus.cuda_driver));
  for (const hardware::Gpu& gpu : gpus.gpus) {
    text += row(
        fmt::format("GPU {}", gpu.index),
        fmt::format("{}, {} of {} free, compute capability {}.{}, {}", gpu.name, format_bytes(gpu.free_bytes),
                    format_bytes(gpu.total_bytes), gpu.capability_major, gpu.capability_minor, gpu.bus_id));
  }
  return gpus.gpus.size() > 1 ? text + links_text(gpus) : text;
}

std::string speed_text(const TrainingSpeed& speed) {
  const train::SpeedEstimate& estimate = speed.estimate;
  return row(
      "Training",
      fmt::format("about {:.{}f} pictures/s at {}x{}, batch {}, {} on {}{}", estimate.images_per_second,
                  estimate.images_per_second < 1    ? 2
                  : estimate.images_per_second < 20 ? 1
                                                    : 0,
                  estimate.width, estimate.height, estimate.batch, speed.precision, speed.device,
                  estimate.scaled_up ? " (scaled up from a smaller input)" : " (measured)"));
}

std::string advice_text(const std::vector<hardware::Advice>& advice) {
  if (advice.empty()) return "\nNothing stands in the way.\n";
  std::string text = "\nWhat will not work, or not well:\n";
  for (const hardware::Advice& item : advice) {
    text += fmt::format("  {}{}\n    why:  {}\n    what to do:  {}\n", item.fatal ? "[must mend] " : "",
                        item.what, item.why, item.remedy);
  }
  return text;
}

ordered_json gpus_json(const hardware::Gpus& gpus) {
  ordered_json list = ordered_json::array();
  for (const hardware::Gpu& gpu : gpus.gpus) {
    list.push_back({{"index", gpu.index},
                    {"name", gpu.name},
                    {"memory_total_bytes", gpu.total_bytes},
                    {"memory_free_bytes", gpu.free_bytes},
                    {"compute_capability", fmt::format("{}.{}", gpu.capability_major, gpu.capability_minor)},
                    {"bus_id", gpu.bus_id}});
  }
  return {{"driver", gpus.driver},
          {"cuda_driver", gpus.cuda_driver},
          {"devices", std::move(list)},
          {"links", gpus.links},
          {"devices_on_pci_bus", gpus.devices_on_pci_bus},
          {"trouble", gpus.reason}};
}

ordered_json memory_json(const hardware::Memory& memory) {
  return {{"total_bytes", memory.total_bytes},
          {"available_bytes", memory.available_bytes},
          {"limit_bytes", memory.limit_bytes ? ordered_json(*memory.limit_bytes) : ordered_json(nullptr)}};
}

ordered_json speed_json(const std::optional<TrainingSpeed>& speed) {
  if (!speed) return nullptr;
  const train::SpeedEstimate& estimate = speed->estimate;
  return {{"images_per_second", estimate.images_per_second},
          {"device", speed->device},
          {"precision", speed->precision},
          {"width", estimate.width},
          {"height", estimate.height},
          {"batch", estimate.batch},
          {"steps", estimate.steps},
          {"scaled_up", estimate.scaled_up}};
}

}  // namespace

bool DoctorReport::fatal() const {
  return std::any_of(advice.begin(), advice.end(), [](const hardware::Advice& item) { return item.fatal; });
}

std::string to_text(const DoctorReport& report) {
  const hardware::Disk& disk = report.machine.disk;
  return row("maskfit", fmt::format("{}, {}", base::version(), base::build_facts())) +
         row("LibTorch", library_text(report.library)) + cpu_text(report.machine.cpu, report.library) +
         memory_text(report.machine.memory) +
         row("Disk", fmt::format("{} of {} free in {}", format_bytes(disk.free_bytes),
                                 format_bytes(disk.total_bytes), disk.path.string())) +
         gpus_text(report.machine.gpus) + (report.speed ? speed_text(*report.speed) : "") +
         advice_text(report.advice);
}

ordered_json to_json(const DoctorReport& report) {
  const hardware::Cpu& cpu = report.machine.cpu;
  const hardware::Disk& disk = report.machine.disk;
  ordered_json advice = ordered_json::array();
  for (const hardware::Advice& item : report.advice) {
    advice.push_back(
        {{"fatal", item.fatal}, {"what", item.what}, {"why", item.why}, {"remedy", item.remedy}});
  }
  return {
      {"maskfit", {{"version", base::version()}, {"build", base::build_facts()}}},
      {"libtorch",
       {{"version", report.library.version},
        {"built_with_cuda", report.library.built_with_cuda},
        {"cuda_usable", report.library.cuda_usable},
        {"cpu_kernels", report.library.cpu_kernels},
        {"threads", report.library.threads},
        {"config", report.library.config}}},
      {"cpu",
       {{"model", cpu.model},
        {"level", fmt::format("x86-64-v{}", cpu.level)},
        {"instructions", cpu.instructions},
        {"cores_usable", cpu.cores},
        {"cores_online", cpu.cores_online}}},
      {"memory", memory_json(report.machine.memory)},
      {"disk",
       {{"path", disk.path.string()}, {"free_bytes", disk.free_bytes}, {"total_bytes", disk.total_bytes}}},
      {"gpu", gpus_json(report.machine.gpus)},
      {"training_speed", speed_json(report.speed)},
      {"advice", std::move(advice)}};
}

}  // namespace maskfit::cli
