// SPDX-License-Identifier: Apache-2.0
// Out-of-memory of one process of several: all of them take smaller micro-batches together.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "tests/base/child.h"
#include "tests/engine/runs.h"
#include "ubique/dist/world.h"

using namespace ubique;
using namespace ubique::engine;
using namespace ubique::test;

namespace {

ToyOptions plain_with(std::int64_t most) {
  return {.batch_norm = false, .dropout = 0, .most_samples = most};
}

TrainResult train_plain(ToyTask& task, bool asked, const std::filesystem::path& folder) {
  task.data = ToyDataset(20, 0);
  auto plan = toy_plan(4, 2);
  plan.micro_batch_asked = asked;
  return train(task, plan, toy_options(folder));
}

/// What rank `rank` of two does; 0 if it took steps of 2 samples in the end.
int train_rank(int rank, int port, bool asked, const std::filesystem::path& folder) {
  at::set_num_threads(1);
  dist::Place place;
  place.rank = place.local_rank = rank;
  place.size = place.local_size = 2;
  place.host = "127.0.0.1";
  place.port = port;
  dist::join(place);
  ToyTask task(toy_recipe(2), plain_with(rank == 1 ? 3 : 1000));
  const auto result = train_plain(task, asked, folder);
  dist::world().gather("done");
  return result.steps == 6 ? 0 : 1;
}

}  // namespace

TEST_CASE("trainer: one rank out of memory makes all ranks take smaller micro-batches" *
          doctest::skip(!dist::has_gloo())) {
  if (device_name() != "cpu") return;
  const ScratchFolder scratch;
  ToyTask alone(toy_recipe(2), plain_with(3));  // the same reduction in one process
  const auto expected = train_plain(alone, true, scratch / "alone");
  CHECK(expected.steps == 6);
  for (const bool asked : {true, false}) {  // in the first update, or in the trial before it
    CAPTURE(asked);
    const auto folder = scratch / (asked ? "asked" : "planned");
    const int port = dist::free_port();
    std::vector<pid_t> children;
    for (const int rank : {0, 1}) {
      children.push_back(start_child([&] { return train_rank(rank, port, asked, folder); }));
    }
    for (const auto child : children) CHECK(wait_for(child) == 0);
    const auto last = load_checkpoint(folder / "checkpoints" / "last");
    CHECK(last.trainer_state["micro_batch"] == 2);
    for (const auto& [name, tensor] : last.model) {
      if (name != "first_weight") continue;
      CHECK(at::equal(tensor, alone.toy.toy().first.detach().cpu()));
    }
    CHECK(losses_of(folder) == losses_of(scratch / "alone"));
  }
}
