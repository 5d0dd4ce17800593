#include "ranks/place.h"

#include <gtest/gtest.h>

#include <map>

#include "base/error.h"

namespace maskfit::ranks {
namespace {

using Values = std::map<std::string, std::string>;

std::optional<Place> place(const Values& values) {
  return place_from_environment([&](const char* name) -> const char* {
    const auto found = values.find(name);
    return found == values.end() ? nullptr : found->second.c_str();
  });
}

TEST(Place, NobodyStartedRanks) {
  EXPECT_FALSE(place({}));
  EXPECT_FALSE(place({{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "5"}}));
  // The batch script of a Slurm job has the number of tasks, but is none of them.
  EXPECT_FALSE(place({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}, {"SLURM_JOB_ID", "5"}}));
}

TEST(Place, Torchrun) {
  const Values values = {{"RANK", "5"},        {"WORLD_SIZE", "8"},       {"LOCAL_RANK", "1"},
                         {"MASTER_ADDR", "h"}, {"LOCAL_WORLD_SIZE", "4"}, {"MASTER_PORT", "29500"}};
  Place p = *place(values);
  EXPECT_EQ(p.rank, 5);
  EXPECT_EQ(p.ranks, 8);
  EXPECT_EQ(p.local_rank, 1);
  EXPECT_EQ(p.local_ranks, 4);
  EXPECT_EQ(p.address, "h");
  EXPECT_EQ(p.port, 29500);
  Values elastic = values;
  elastic["TORCHELASTIC_RUN_ID"] = "none";
  EXPECT_EQ(place(elastic)->port, 29501) << "29500 is torchrun's";
}

TEST(Place, OpenMpi) {
  const Values one = {{"OMPI_COMM_WORLD_RANK", "1"},
                      {"OMPI_COMM_WORLD_SIZE", "2"},
                      {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                      {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                      {"PMIX_NAMESPACE", "prterun-1"}};
  EXPECT_EQ(place(one)->address, "127.0.0.1");
  Values other = one;
  other["OMPI_COMM_WORLD_RANK"] = "0";
  EXPECT_EQ(place(one)->port, place(other)->port);
  other["OMPI_COMM_WORLD_LOCAL_SIZE"] = "1";
  EXPECT_THROW(place(other), base::Error) << "several machines need an address";
  other["MASTER_ADDR"] = "node1";
  EXPECT_EQ(place(other)->address, "node1");
}

TEST(Place, Slurm) {
  const Values values = {{"SLURM_PROCID", "3"},
                         {"SLURM_NTASKS", "16"},
                         {"SLURM_STEP_NUM_TASKS", "8"},
                         {"SLURM_STEP_ID", "0"},
                         {"SLURM_JOB_ID", "77"},
                         {"SLURM_LOCALID", "3"},
                         {"SLURM_STEP_TASKS_PER_NODE", "4(x2)"},
                         {"SLURM_NODELIST", "gpu[003-010,12]"}};
  const Place p = *place(values);
  EXPECT_EQ(p.rank, 3);
  EXPECT_EQ(p.ranks, 8);
  EXPECT_EQ(p.local_ranks, 4);
  EXPECT_EQ(p.address, "gpu003");
  EXPECT_GE(p.port, 20000);
}

TEST(Place, WhatIsNoNumberIsRefusedByName) {
  try {
    place({{"RANK", "x"}, {"WORLD_SIZE", "2"}});
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_NE(std::string(error.what()).find("RANK='x'"), std::string::npos) << error.what();
  }
  EXPECT_THROW(place({{"RANK", "2"}, {"WORLD_SIZE", "2"}, {"MASTER_PORT", "5"}}), base::Error);
}

TEST(Place, FirstHost) {
  EXPECT_EQ(first_host("a"), "a");
  EXPECT_EQ(first_host("a,b"), "a");
  EXPECT_EQ(first_host("a[1,3-5]"), "a1");
  EXPECT_EQ(first_host("a[01-02]-ib,b"), "a01-ib");
  EXPECT_EQ(first_host("b,a[1-2]"), "b");
}

}  // namespace
}  // namespace maskfit::ranks
