// SPDX-License-Identifier: Apache-2.0
// Recorded updates on a CPU that records: for each shape, without room, of recomputed parts.
#include <ATen/ATen.h>

#include <numeric>

#include "tests/engine/runs.h"
#include "tests/recording_cpu.h"
#include "ubique/engine/loop/learner.h"

using namespace ubique;
using namespace ubique::engine;
using namespace ubique::test;

namespace {

/// The weights after updates of batches with so many rows, each taken for a whole update.
at::Tensor weights_after(const std::vector<std::int64_t>& rows, const plan::Plan& plan,
                         const ToyOptions& options = {}) {
  ToyTask task(toy_recipe(2), options);
  task.toy.initialize(Random(1));
  task.toy.apply_plan(plan);
  at::manual_seed(7);
  const ToyDataset data(12, 0);
  Learner learner(task, plan, c10::kCPU, 10);
  std::int64_t step = 0;
  for (const auto count : rows) {
    std::vector<std::int64_t> indices(static_cast<std::size_t>(count));
    std::iota(indices.begin(), indices.end(), step);
    auto batch = data.load(indices, engine::SampleRandoms(Random(3), 0));
    batch.samples = plan.micro_batch.value;
    learner.begin();
    learner.add(batch);
    learner.finish(step++);
  }
  return task.toy.toy().first.detach().clone();
}

plan::Plan recording_plan(bool checkpointing = false) {
  auto plan = toy_plan(4);
  plan.graph_capture.value = true;
  plan.checkpointing.value = checkpointing;
  return plan;
}

const std::vector<std::int64_t> kRows = {4, 6, 4, 6, 2, 4};

}  // namespace

TEST_CASE("learner: batches of each shape are recorded for themselves, beside each other") {
  if (device_name() != "cpu") return;
  const auto plain = weights_after(kRows, toy_plan(4));
  const CpuRecords cpu;
  CHECK(at::equal(weights_after(kRows, recording_plan()), plain));  // with dropout
  CHECK(cpu.replays() == 6);
  CHECK(cpu.shared() == 2);
}

TEST_CASE("learner: a shape for which there is no memory ends recording, and nothing is lost") {
  if (device_name() != "cpu") return;
  const auto plain = weights_after(kRows, toy_plan(4));
  const CpuRecords cpu(/*room=*/1);
  CHECK(at::equal(weights_after(kRows, recording_plan()), plain));
  CHECK(cpu.replays() == 1);
}

TEST_CASE("learner: parts that are computed twice are recorded, unless they draw numbers") {
  if (device_name() != "cpu") return;
  const ToyOptions still{.dropout = 0};
  const auto plain = weights_after(kRows, toy_plan(4), still);
  const auto drawn = weights_after(kRows, toy_plan(4));
  const CpuRecords cpu;
  CHECK(at::allclose(weights_after(kRows, recording_plan(true), still), plain, 1e-6, 1e-7));
  CHECK(cpu.replays() == 6);
  CHECK(at::allclose(weights_after(kRows, recording_plan(true)), drawn, 1e-6, 1e-7));
  CHECK(cpu.replays() == 6);
}
