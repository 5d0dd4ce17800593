#include "ranks/place.h"

#include <fmt/format.h>

#include <cstdint>

#include "base/error.h"
#include "base/text.h"

namespace maskfit::ranks {
namespace {

using base::Error;
using base::ExitCode;

constexpr int kFirstDerivedPort = 20000, kDerivedPorts = 20000;

// Reads one starter's variables.
class Variables {
 public:
  Variables(const Environment& get, std::string starter) : get_(get), starter_(std::move(starter)) {}

  std::string text(const char* name) const {
    const char* value = get_(name);
    return value == nullptr ? std::string() : value;
  }
  bool has(const char* name) const { return !text(name).empty(); }
  int number(const char* name, int least) const {
    long long value = 0;
    if (!base::parse_int(text(name), &value) || value < least || value > 1000000) {
      throw Error(ExitCode::kUsage,
                  has(name) ? fmt::format("{}='{}' is no rank or number of ranks", name, text(name))
                            : fmt::format("{} is not set", name),
                  starter_, fmt::format("it should come from {}; or unset its variables", starter_));
    }
    return static_cast<int>(value);
  }
  int number_or(const char* name, int least, int otherwise) const {
    return has(name) ? number(name, least) : otherwise;
  }

 private:
  const Environment& get_;
  std::string starter_;
};

// The same on every rank of a job, another for another job most of the time.
int derived_port(const std::string& job) {
  std::uint32_t hash = 2166136261u;  // FNV-1a
  for (const char c : job) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return kFirstDerivedPort + static_cast<int>(hash % kDerivedPorts);
}

void require_address(const Variables& v, Place& place) {
  if (v.has("MASTER_ADDR")) place.address = v.text("MASTER_ADDR");
  place.port = v.has("MASTER_PORT") ? v.number("MASTER_PORT", 1) : derived_port(place.job);
  if (place.local_ranks == place.ranks || v.has("MASTER_ADDR") || place.starter == "Slurm") return;
  throw Error(ExitCode::kUsage, "the ranks run on several machines, and MASTER_ADDR is not set",
              place.starter, "export MASTER_ADDR=HOST, the machine of rank 0, to all ranks");
}

Place own_place(const Environment& get) {
  const Variables v(get, "maskfit");
  Place place{.rank = v.number("MASKFIT_RANK", 0),
              .ranks = v.number("MASKFIT_RANKS", 1),
              .port = v.number("MASKFIT_PORT", 1),
              .job = v.text("MASKFIT_JOB"),
              .starter = "maskfit"};
  place.local_rank = place.rank, place.local_ranks = place.ranks;
  place.listener = v.number_or("MASKFIT_LISTENER", 0, -1);
  return place;
}

Place torchrun_place(const Environment& get) {
  const Variables v(get, "torchrun");
  Place place{.rank = v.number("RANK", 0),
              .ranks = v.number("WORLD_SIZE", 1),
              .job = v.text("TORCHELASTIC_RUN_ID"),
              .starter = "torchrun"};
  place.local_rank = v.number_or("LOCAL_RANK", 0, place.rank);
  place.local_ranks = v.number_or("LOCAL_WORLD_SIZE", 1, place.ranks);
  require_address(v, place);
  // The port itself is torchrun's own.
  if (v.has("TORCHELASTIC_RUN_ID")) ++place.port;
  return place;
}

Place mpi_place(const Environment& get, const char* rank, const char* ranks, const char* local_rank,
                const char* local_ranks, const char* job) {
  const Variables v(get, "mpirun");
  Place place{
      .rank = v.number(rank, 0), .ranks = v.number(ranks, 1), .job = v.text(job), .starter = "mpirun"};
  place.local_rank = v.number_or(local_rank, 0, place.rank);
  place.local_ranks = v.number_or(local_ranks, 1, place.ranks);
  require_address(v, place);
  return place;
}

Place slurm_place(const Environment& get) {
  const Variables v(get, "Slurm");
  Place place{.rank = v.number("SLURM_PROCID", 0),
              .ranks = v.number(v.has("SLURM_STEP_NUM_TASKS") ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS", 1),
              .job = v.text("SLURM_JOB_ID") + "." + v.text("SLURM_STEP_ID"),
              .starter = "Slurm"};
  place.local_rank = v.number_or("SLURM_LOCALID", 0, place.rank);
  // "4(x2),1": tasks on each node, of which the first has rank 0.
  const std::string tasks = v.text("SLURM_STEP_TASKS_PER_NODE");
  long long local = 0;
  if (base::parse_int(tasks.substr(0, tasks.find_first_of("(,")), &local) && local > 0) {
    place.local_ranks = static_cast<int>(local);
  }
  for (const char* list : {"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST"}) {
    if (!v.has(list)) continue;
    place.address = first_host(v.text(list));
    break;
  }
  require_address(v, place);
  return place;
}

std::optional<Place> any_place(const Environment& get) {
  const Variables v(get, "");
  if (v.has("MASKFIT_RANK")) return own_place(get);
  if (v.has("RANK") && v.has("WORLD_SIZE")) return torchrun_place(get);
  if (v.has("OMPI_COMM_WORLD_RANK")) {
    return mpi_place(get, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
                     "OMPI_COMM_WORLD_LOCAL_SIZE", "PMIX_NAMESPACE");
  }
  if (v.has("SLURM_PROCID") && v.has("SLURM_STEP_ID")) return slurm_place(get);
  if (v.has("PMI_RANK")) {
    return mpi_place(get, "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "PMI_JOBID");
  }
  return std::nullopt;
}

}  // namespace

std::optional<Place> place_from_environment(const Environment& get) {
  std::optional<Place> place = any_place(get);
  if (!place) return place;
  if (place->rank >= place->ranks) {
    throw Error(ExitCode::kUsage, fmt::format("rank {} of {} ranks", place->rank, place->ranks),
                place->starter, "ranks count from 0");
  }
  // maskfit's own launcher may start a single rank, to take the way of several.
  if (place->ranks == 1 && place->starter != "maskfit") return std::nullopt;
  return place;
}

std::string first_host(const std::string& node_list) {
  const std::size_t bracket = node_list.find('['), comma = node_list.find(',');
  if (bracket == std::string::npos || comma < bracket) return node_list.substr(0, comma);
  const std::size_t end = node_list.find_first_of("-,]", bracket);
  if (end == std::string::npos) return node_list.substr(0, bracket);
  const std::size_t close = node_list.find(']', bracket);
  const std::size_t after = close == std::string::npos ? node_list.size() : close + 1;
  const std::size_t next = node_list.find(',', after);
  const std::string suffix =
      node_list.substr(after, next == std::string::npos ? std::string::npos : next - after);
  return node_list.substr(0, bracket) + node_list.substr(bracket + 1, end - bracket - 1) + suffix;
}

}  // namespace maskfit::ranks
