// SPDX-License-Identifier: Apache-2.0
// Times updates that several processes share, through the engine's learner: MeshNet and a small
// TRM, one thread and one micro-batch for each process, gradients over Gloo. Started by torchrun or
// with its variables; rank 0 prints one JSON line.
//   bench_dist meshnet|trm [ROUNDS] [PIECES]
//   bench_dist sum NUMBERS [ROUNDS] [PIECES]    a row of so many from each rank, added up
#include <fmt/format.h>

#include <cstdio>

#include "bench/updates.h"
#include "ubique/device/numerics.h"
#include "ubique/dist/background_sum.h"
#include "ubique/models/meshnet/net/needs.h"
#include "ubique/models/meshnet/train/task.h"
#include "ubique/models/trm/net/model.h"
#include "ubique/models/trm/train/optimizer.h"
#include "ubique/models/trm/train/task.h"

namespace {

using namespace ubique;

constexpr std::int64_t kScan = 64, kPuzzles = 8;

engine::Session session_for(const plan::Needs& needs, std::int64_t samples) {
  plan::Wishes wishes;
  wishes.device = "cpu";
  wishes.dtype = DType::F32;
  wishes.threads = 1;
  wishes.world_size = dist::world().size();
  wishes.batch = samples;
  wishes.effective_batch = samples * wishes.world_size;
  return engine::Session(needs, wishes);
}

/// Learner updates as the trainer makes them: weights agreed on, news exchanged.
double milliseconds(engine::Task& task, const engine::Session& session, engine::Batch batch,
                    int rounds, int pieces) {
  const c10::Device cpu(c10::kCPU);
  task.model().initialize(Random(1));
  engine::move_network(task.model().network(), session.plan(), cpu);
  task.model().apply_plan(session.plan());
  batch.first = batch.samples * dist::world().rank();
  engine::Learner learner(task, session.plan(), cpu, 1000);
  std::int64_t step = 0;
  const auto update = [&] {
    learner.begin();
    learner.agree_on_weight(batch.weight, 1);
    learner.add(batch);
    learner.share({{"failure", ""}, {"stop", false}});
    learner.finish(step++);
  };
  return bench::measure(update, cpu, rounds, pieces).ms;
}

double time_meshnet(int rounds, int pieces) {
  meshnet::MeshNetConfig config;
  config.preprocessing.shape = {kScan, kScan, kScan};
  bench::UpdateTask<meshnet::MeshNetModel> task(config, meshnet::paper_recipe());
  engine::Batch batch;
  batch.samples = 1;
  const auto image = at::rand({1, 1, kScan, kScan, kScan});
  auto mask = at::zeros({1, kScan, kScan, kScan}, at::kByte);
  mask.slice(1, 0, kScan / 4).fill_(1);
  batch.weight = meshnet::class_weight_sum(mask, {});
  batch.tensors = {{"image", image}, {"mask", mask}};
  const auto needs = meshnet::needs_of(config, config.preprocessing.shape);
  return milliseconds(task, session_for(needs, 1), batch, rounds, pieces);
}

class PuzzleTask final : public engine::Task {
 public:
  explicit PuzzleTask(const trm::TrmConfig& config) : model_(config) {}
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

double time_trm(int rounds, int pieces) {
  trm::TrmConfig config;
  config.mlp_t = true;
  config.positions = trm::Positions::None;
  config.hidden_size = 128;
  config.num_heads = 2;
  PuzzleTask task(config);
  engine::Batch batch;
  batch.samples = kPuzzles;
  batch.weight = static_cast<double>(kPuzzles);
  const auto tokens = [&] {
    return at::randint(config.vocab_size, {kPuzzles, config.seq_len}, at::kInt);
  };
  batch.tensors = {{"inputs", tokens()},
                   {"labels", tokens()},
                   {"puzzle_identifiers", at::zeros({kPuzzles}, at::kInt)},
                   {"least_steps", at::zeros({kPuzzles}, at::kInt)}};
  return milliseconds(task, session_for(task.model().needs(), kPuzzles), batch, rounds, pieces);
}

int run_sum(std::int64_t numbers, int rounds, int pieces) {
  dist::join(dist::read_place(dist::process_environment));
  const auto row = at::rand({numbers});
  const std::vector<dist::RowsOfRank> ranks(dist::world().size(), {1, 0});
  dist::BackgroundSum sums(dist::world(), at::kCPU);
  const auto add_up = [&] {
    sums.begin({{at::kFloat, numbers}}, ranks);
    sums.push(0, 0, {{row, numbers}});
    sums.finish();
  };
  const double ms = bench::measure(add_up, c10::Device(c10::kCPU), rounds, pieces).ms;
  if (dist::world().is_first()) {
    fmt::print("{{\"numbers\": {}, \"processes\": {}, \"ms\": {:.4f}}}\n", numbers,
               dist::world().size(), ms);
  }
  dist::world().gather("done");
  return 0;
}

int run(const std::string& model, int rounds, int pieces) {
  dist::join(dist::read_place(dist::process_environment));
  const double ms = model == "trm" ? time_trm(rounds, pieces) : time_meshnet(rounds, pieces);
  if (dist::world().is_first()) {
    fmt::print(
        "{{\"program\": \"Ubique\", \"model\": \"{}\", \"processes\": {}, \"ms\": {:.1f}}}\n",
        model, dist::world().size(), ms);
  }
  dist::world().gather("done");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int index, int usual) {
    return argc > index ? std::stoi(argv[index]) : usual;
  };
  try {
    if (argc > 2 && std::string(argv[1]) == "sum") {
      return run_sum(number(2, 0), number(3, 5), number(4, 1));
    }
    return run(argc > 1 ? argv[1] : "meshnet", number(2, 5), number(3, 1));
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_dist: {}\n", error.what());
    return 1;
  }
}
