#pragma once

// Which of how many processes this one is, as whoever started it says in the environment.

#include <functional>
#include <optional>
#include <string>

namespace maskfit::ranks {

struct Place {
  int rank = 0, ranks = 1;
  int local_rank = 0, local_ranks = 1;  // among those of this machine
  std::string address = "127.0.0.1";    // of rank 0's machine
  int port = 0;                         // where rank 0 listens, or the first of kPortsTried
  int listener = -1;                    // rank 0: a socket that listens already, see launcher.h; else -1
  std::string job;                      // ranks of another job are turned away
  std::string starter;                  // "maskfit", "torchrun", "mpirun", "Slurm"
};

// torchrun keeps MASTER_PORT itself and other jobs may hold a port: rank 0 takes the first free one of so
// many.
inline constexpr int kPortsTried = 16;

using Environment = std::function<const char*(const char* name)>;  // std::getenv

// Looked for in this order: maskfit's own launcher (MASKFIT_RANK ...), torchrun (RANK, WORLD_SIZE,
// LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR, MASTER_PORT), Open MPI (OMPI_COMM_WORLD_*), MPICH and Intel MPI
// (PMI_RANK, PMI_SIZE, MPI_LOCALRANKID), Slurm's srun (SLURM_PROCID, SLURM_STEP_NUM_TASKS or SLURM_NTASKS,
// SLURM_LOCALID; not the batch script itself, which has no SLURM_STEP_ID). MASTER_ADDR and MASTER_PORT win
// over what MPI and Slurm say. Nothing where nobody started ranks, or where there is one alone. Throws
// base::Error (kUsage) naming the variable that is missing or no number.
std::optional<Place> place_from_environment(const Environment& get);

// The first host of a Slurm list: "gpu[003-010,12],x1" -> "gpu003".
std::string first_host(const std::string& node_list);

}  // namespace maskfit::ranks
