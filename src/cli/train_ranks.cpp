#include "cli/train_ranks.h"

#include <spdlog/spdlog.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "ranks/launcher.h"

namespace maskfit::cli {
namespace {

using base::Error;
using base::ExitCode;

[[noreturn]] void refuse(const std::string& what, const std::string& where, const std::string& hint) {
  throw Error(ExitCode::kUsage, what, where, hint);
}

bool is_cuda(const std::string& device) {
  return device.starts_with("cuda");
}

// Processes to start here; 0: none, this one trains.
int wanted_ranks(const RankOptions& o) {
  if (o.gpus && o.ranks) refuse("--gpus and --ranks both say how many", "--ranks", "give one of them");
  if (o.gpus && !o.device.empty() && !is_cuda(o.device)) {
    refuse("--gpus with --device " + o.device, "--gpus", "--ranks N starts N processes on the CPU");
  }
  if (o.ranks && is_cuda(o.device)) {
    refuse("--ranks with --device " + o.device, "--ranks", "--gpus N takes N GPUs, one a process");
  }
  const int count = o.gpus.value_or(o.ranks.value_or(1));
  if (count > 1 && o.device.find(':') != std::string::npos) {
    refuse(o.device + " is one GPU", "--gpus", "give --device cuda; CUDA_VISIBLE_DEVICES chooses which");
  }
  return count > 1 || o.ranks ? count : 0;
}

std::string device_of_rank(const RankOptions& o, int local_rank) {
  if (o.gpus || is_cuda(o.device)) return "cuda:" + std::to_string(local_rank);
  return "cpu";
}

void keep_log(const std::filesystem::path& folder, std::size_t rank, const std::string& log) {
  if (log.empty() || !std::filesystem::is_directory(folder)) return;
  base::write_file(folder / fmt::format("rank-{}.log", rank), log);
}

std::string last_lines(const std::string& log) {
  constexpr std::size_t kTail = 2000;
  return log.size() <= kTail ? log : "... " + log.substr(log.size() - kTail);
}

}  // namespace

RankRole take_role(const RankOptions& o) {
  if (!(o.timeout_seconds > 0) || o.timeout_seconds > 1e7) {
    refuse(fmt::format("{} s is no time to wait", o.timeout_seconds), "--rank-timeout", "e.g. 600");
  }
  RankRole role;
  const int wanted = wanted_ranks(o);
  const auto place = ranks::place_from_environment([](const char* name) { return std::getenv(name); });
  if (!place) {
    role.launches = wanted > 0;
    role.ranks = std::max(1, wanted);
    role.device = o.device.empty() ? (o.gpus ? "cuda" : "cpu") : o.device;
    return role;
  }
  if (place->starter != "maskfit" && wanted > 0) {
    refuse(fmt::format("{} has started {} ranks already", place->starter, place->ranks),
           o.gpus ? "--gpus" : "--ranks", "leave it away; --device cuda gives each rank a GPU");
  }
  role.device = device_of_rank(o, place->local_rank);
  const auto timeout = std::chrono::milliseconds(std::llround(1000 * o.timeout_seconds));
  role.group = std::make_unique<ranks::Group>(*place, ranks::GroupOptions{timeout});
  return role;
}

int run_ranks(int ranks, const std::string& run_folder, bool folder_was_given, base::StopToken stop) {
  ranks::LaunchRequest request{.ranks = ranks, .words = ranks::own_command_line(), .stop = stop};
  if (!folder_was_given) request.words.insert(request.words.end(), {"--out", run_folder});
  const ranks::LaunchResult result = ranks::launch(request);
  for (std::size_t r = 1; r < result.ends.size(); ++r) keep_log(run_folder, r, result.ends[r].log);
  if (result.first_to_fail < 0) return 0;
  const auto failed = static_cast<std::size_t>(result.first_to_fail);
  const ranks::RankEnd& end = result.ends[failed];
  if (end.signal != 0) {
    if (!end.log.empty()) spdlog::error("rank {} wrote last:\n{}", failed, last_lines(end.log));
    throw Error(
        ExitCode::kFailed,
        fmt::format("rank {} was ended by signal {} ({})", failed, end.signal, ::strsignal(end.signal)),
        run_folder,
        end.signal == SIGKILL ? "if nobody killed it, it ran out of memory; a smaller --batch needs "
                                "less. Go on with --resume"
                              : "go on with --resume; if it happens again, please report it");
  }
  // Rank 0 has said why in our own standard error, whichever rank it was.
  const ranks::RankEnd& first = result.ends[0];
  if (first.code == 0 && first.signal == 0) {
    spdlog::error("rank {} ended with exit code {}:\n{}", failed, end.code, last_lines(end.log));
  }
  return first.code != 0 ? first.code : static_cast<int>(ExitCode::kFailed);
}

}  // namespace maskfit::cli
