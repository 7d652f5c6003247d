// SPDX-License-Identifier: Apache-2.0
// What each launcher's variables mean.
#include "ubique/dist/place.h"

#include <doctest/doctest.h>

#include <map>

#include "ubique/base/error.h"

using namespace ubique;
using dist::Place;

namespace {

using Variables = std::map<std::string, std::string>;

Place place_of(const Variables& variables) {
  return dist::read_place([&](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  });
}

std::string refusal(const Variables& variables) {
  try {
    place_of(variables);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::Usage);
    return error.what();
  }
  return "accepted";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("place: no variable, LOCAL_RANK=0 alone and a world of one are one process") {
  for (const auto& variables :
       {Variables{}, Variables{{"LOCAL_RANK", "0"}}, Variables{{"WORLD_SIZE", "1"}, {"RANK", "0"}},
        Variables{{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}}}) {
    CHECK(place_of(variables).size == 1);
    CHECK(place_of(variables).rank == 0);
  }
}

TEST_CASE("place: torchrun's variables, whose agent keeps the store") {
  const auto place = place_of({{"RANK", "5"},
                               {"WORLD_SIZE", "8"},
                               {"LOCAL_RANK", "1"},
                               {"LOCAL_WORLD_SIZE", "4"},
                               {"MASTER_ADDR", "head"},
                               {"MASTER_PORT", "1234"},
                               {"TORCHELASTIC_USE_AGENT_STORE", "True"},
                               {"TORCHELASTIC_RESTART_COUNT", "2"}});
  CHECK(place.rank == 5);
  CHECK(place.size == 8);
  CHECK(place.local_rank == 1);
  CHECK(place.local_size == 4);
  CHECK(place.host == "head");
  CHECK(place.port == 1234);
  CHECK(place.launcher_listens);
  CHECK(place.attempt == "2");
  CHECK(place.launcher == "torchrun");
}

TEST_CASE("place: srun's variables name the first host, and each job has a port of its own") {
  Variables variables = {{"SLURM_PROCID", "3"},
                         {"SLURM_STEP_NUM_TASKS", "4"},
                         {"SLURM_LOCALID", "1"},
                         {"SLURM_STEP_TASKS_PER_NODE", "2(x2)"},
                         {"SLURM_STEP_NODELIST", "gpu[07-08]"},
                         {"SLURM_JOB_ID", "4711"}};
  const auto place = place_of(variables);
  CHECK(place.launcher == "SLURM");
  CHECK(place.rank == 3);
  CHECK(place.local_size == 2);
  CHECK(place.host == "gpu07");
  variables["SLURM_JOB_ID"] = "4712";
  CHECK(place_of(variables).port != place.port);
}

TEST_CASE("place: Open MPI and PMI on one machine need no address") {
  const auto open_mpi = place_of({{"OMPI_COMM_WORLD_RANK", "1"},
                                  {"OMPI_COMM_WORLD_SIZE", "2"},
                                  {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                                  {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}});
  CHECK(open_mpi.launcher == "Open MPI");
  CHECK(open_mpi.host == "127.0.0.1");
  const auto pmi = place_of({{"PMI_RANK", "1"},
                             {"PMI_SIZE", "2"},
                             {"MPI_LOCALRANKID", "0"},
                             {"MPI_LOCALNRANKS", "1"},
                             {"MASTER_ADDR", "node1"}});
  CHECK(pmi.launcher == "PMI");
  CHECK(pmi.rank == 1);
  CHECK(pmi.host == "node1");
}

TEST_CASE("place: variables that contradict each other are refused with what to do") {
  CHECK(contains(refusal({{"WORLD_SIZE", "2"}}), "without RANK"));
  CHECK(contains(refusal({{"LOCAL_RANK", "1"}}), "without WORLD_SIZE"));
  CHECK(contains(refusal({{"WORLD_SIZE", "two"}, {"RANK", "0"}}), "'two'"));
  CHECK(contains(refusal({{"WORLD_SIZE", "2"}, {"RANK", "2"}, {"MASTER_ADDR", "a"}}), "too large"));
  CHECK(contains(refusal({{"WORLD_SIZE", "2"}, {"RANK", "1"}}), "MASTER_ADDR"));
  CHECK(contains(
      refusal({{"WORLD_SIZE", "2"}, {"RANK", "1"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "70000"}}),
      "70000"));
}

TEST_CASE("place: the loopback is no address under which other machines find this one") {
  CHECK_FALSE(dist::own_address_towards("127.0.0.1").has_value());
  CHECK_FALSE(dist::own_address_towards("no.such.host.invalid").has_value());
}

TEST_CASE("place: the first host of a SLURM list") {
  CHECK(dist::first_host("a") == "a");
  CHECK(dist::first_host("a,b") == "a");
  CHECK(dist::first_host("node[3,7-9]") == "node3");
  CHECK(dist::first_host("node[07-12,20],gpu3") == "node07");
  CHECK(dist::first_host("r[1-2].local,b") == "r1.local");
  CHECK(dist::first_host("a,b[1-2]") == "a");
}
