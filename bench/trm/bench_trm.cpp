// SPDX-License-Identifier: Apache-2.0
// Times TRM through the same code that train uses (the family's plan, the engine's learner with the
// optimizer, averaged weights and recording) and that run uses (the solver, sixteen supervision
// steps of a batch). Puzzles are random tokens; training puzzles stay on the device. One JSON line
// per case.
//   bench_trm DEVICE train|run sudoku_mlp|sudoku_att|maze_att BATCH [ROUNDS] [PIECES]
// PIECES calls are timed together, with one synchronisation. PROFILE=1 and TRACE=FILE.json: see
// measure.h.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <span>

#include "bench/updates.h"
#include "ubique/models/trm/train/task.h"
#include "ubique/models/trm/use/solver.h"

namespace {

using namespace ubique;
using bench::Measured;

struct Case {
  std::string device, mode, model;
  std::int64_t batch = 1;
  int rounds = 5, pieces = 1;
};

trm::TrmConfig config_of(const std::string& name) {
  trm::TrmConfig config;
  if (name == "sudoku_mlp") {
    config.mlp_t = true;
    config.positions = trm::Positions::None;
  } else if (name == "maze_att") {
    config.seq_len = 900;
    config.vocab_size = 6;
    config.low_cycles = 4;
  } else {
    check(name == "sudoku_att", ErrorKind::Usage, "[bench.trm] no such model; got {}.", name);
  }
  return config;
}

engine::Session session_of(const Case& wanted, const plan::Needs& needs) {
  plan::Wishes wishes;
  wishes.device = wanted.device;
  wishes.mode = wanted.mode == "train" ? plan::Mode::Train : plan::Mode::Run;
  wishes.batch = wanted.batch;
  if (wanted.mode == "train") wishes.effective_batch = wanted.batch;
  wishes.dtype = DType::BF16;
  return engine::Session(needs, wishes);
}

engine::Batch noise_batch(const trm::TrmConfig& config, std::int64_t count) {
  const auto tokens = [&](std::uint64_t stream) {
    auto values = at::empty({count, config.seq_len}, at::kInt);
    auto* out = values.mutable_data_ptr<std::int32_t>();
    const Random random(7, stream);
    for (std::int64_t i = 0; i < values.numel(); ++i) {
      out[i] = static_cast<std::int32_t>(random.below(
          static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(config.vocab_size)));
    }
    return values;
  };
  engine::Batch batch;
  batch.samples = count;
  batch.weight = static_cast<double>(count);
  batch.tensors = {{"inputs", tokens(0)},
                   {"labels", tokens(1)},
                   {"puzzle_identifiers", at::zeros({count}, at::kInt)},
                   {"least_steps", at::zeros({count}, at::kInt)}};
  return batch;
}

/// A model and the original's recipe, without a data set.
class NoiseTask final : public engine::Task {
 public:
  explicit NoiseTask(const trm::TrmConfig& config) : model_(config) {}
  engine::Model& model() override { return model_; }
  const engine::Dataset& training_set() override { throw std::logic_error("no data set"); }
  const engine::Recipe& recipe() const override { return recipe_; }
  engine::Scores validate() override { return {}; }
  std::unique_ptr<engine::Optimizer> make_optimizer(
      const engine::OptimizerOptions& options) override {
    return trm::make_trm_optimizer(model_, options, {});
  }

 private:
  trm::TrmModel model_;
  engine::Recipe recipe_ = trm::original_recipe();
};

Measured time_training(const Case& wanted, const engine::Session& session,
                       const trm::TrmConfig& config) {
  NoiseTask task(config);
  return bench::time_updates(task, session, noise_batch(config, wanted.batch), wanted.rounds,
                             wanted.pieces);
}

/// All steps of all puzzles, from tokens on the host to answers on the host.
Measured time_solving(const Case& wanted, const engine::Session& session,
                      const trm::TrmConfig& config) {
  trm::Trm network(config);
  trm::initialize(network, Random(1));
  const auto device = session.torch_device();
  network.to(device);
  device::reset_peak(device);
  trm::Solver solver(
      network, at::kBFloat16,
      {.slots = wanted.batch, .early = false, .record = session.plan().graph_capture.value});
  const auto noise = noise_batch(config, wanted.batch).tensors.at("inputs");
  const auto puzzle = [&](std::int64_t index, std::span<std::int32_t> tokens) {
    const auto row = noise[index];
    std::copy_n(row.const_data_ptr<std::int32_t>(), tokens.size(), tokens.begin());
    return 0;
  };
  const auto take = [](std::int64_t, const trm::Solved&) { return true; };
  return bench::measure([&] { solver.solve(wanted.batch, puzzle, take); }, device, wanted.rounds,
                        wanted.pieces);
}

int run(const Case& wanted) {
  const auto config = config_of(wanted.model);
  const auto session = session_of(wanted, trm::needs_of(config));
  const auto measured = wanted.mode == "train" ? time_training(wanted, session, config)
                                               : time_solving(wanted, session, config);
  const Json line = {{"program", "ubique"},
                     {"device", session.facts().label()},
                     {"mode", wanted.mode},
                     {"model", wanted.model},
                     {"batch", wanted.batch},
                     {"dtype", to_string(session.plan().dtype.value)},
                     {"recorded", session.plan().graph_capture.value},
                     {"median_ms", measured.ms},
                     {"best_ms", measured.best_ms},
                     {"predicted_bytes", session.plan().memory.total},
                     {"measured_bytes", measured.peak}};
  std::puts(line.dump().c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fputs(
        "bench_trm DEVICE train|run sudoku_mlp|sudoku_att|maze_att BATCH [ROUNDS] [PIECES]\n",
        stderr);
    return 2;
  }
  Case wanted{argv[1], argv[2], argv[3], std::atoll(argv[4]), 5, 1};
  if (argc > 5) wanted.rounds = std::atoi(argv[5]);
  if (argc > 6) wanted.pieces = std::atoi(argv[6]);
  try {
    return run(wanted);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_trm: %s\n", error.what());
    return 1;
  }
}
