// SPDX-License-Identifier: Apache-2.0
// Training steps against reference values of the original, in whole batches and in micro-batches.
#include <fmt/format.h>

#include "training_samples.h"
#include "ubique/engine/loop/learner.h"
#include "ubique/models/trm/files/weights.h"

using namespace ubique;
using namespace ubique::test;

namespace {

/// The golden network and its training, as the original's config.json says.
struct GoldenTask final : engine::Task {
  explicit GoldenTask(const std::filesystem::path& folder) {
    const auto json = parse_json(read_file(folder / "config.json"), "config.json");
    const auto& arch = json["arch"];
    trm::TrmConfig config;
    config.seq_len = arch["seq_len"];
    config.vocab_size = arch["vocab_size"];
    config.num_puzzle_identifiers = arch["num_puzzle_identifiers"];
    config.hidden_size = config.puzzle_emb_ndim = arch["hidden_size"];
    config.num_heads = arch["num_heads"];
    config.layers = arch["L_layers"];
    config.high_cycles = arch["H_cycles"];
    config.low_cycles = arch["L_cycles"];
    config.mlp_t = arch["mlp_t"];
    config.positions = trm::parse_positions(arch["pos_encodings"].get<std::string>());
    config.puzzle_emb_len = arch["puzzle_emb_len"];
    config.halt_max_steps = arch["halt_max_steps"];
    net = std::make_unique<trm::TrmModel>(config);
    engine::load_state(net->network(), read_tensors(folder / "state.safetensors"), "golden");
    const auto& loop = json["train_loop"];
    given.optimizer = {.name = "adam_atan2",
                       .lr = loop["lr"],
                       .weight_decay = loop["weight_decay"],
                       .beta1 = loop["beta1"],
                       .beta2 = loop["beta2"]};
    given.schedule.name = "cosine";
    given.schedule.warmup_steps = loop["lr_warmup_steps"].get<std::int64_t>();
    given.schedule.floor = loop["lr_min_ratio"];
    given.ema_decay = loop["ema_rate"];
    table = {loop["puzzle_emb_lr"], loop["puzzle_emb_weight_decay"]};
    steps = loop["total_steps"];
  }
  engine::Model& model() override { return *net; }
  const engine::Dataset& training_set() override { std::abort(); }
  const engine::Recipe& recipe() const override { return given; }
  engine::Scores validate() override { return {}; }
  std::unique_ptr<engine::Optimizer> make_optimizer(
      const engine::OptimizerOptions& options) override {
    return trm::make_trm_optimizer(*net, options, table);
  }

  std::unique_ptr<trm::TrmModel> net;
  engine::Recipe given;
  trm::TableOptions table;
  std::int64_t steps = 0;
};

engine::Batch golden_batch(const std::map<std::string, at::Tensor>& batches, int number,
                           std::int64_t first, std::int64_t count) {
  engine::Batch batch;
  for (const char* name : {"inputs", "labels", "puzzle_identifiers"}) {
    const auto all = batches.at(fmt::format("batch{}.{}", number, name)).to(at::kInt);
    batch.tensors[name] = all.narrow(0, first, count).contiguous();
  }
  batch.tensors["least_steps"] = at::zeros({count}, at::kInt);
  batch.samples = count;
  batch.weight = static_cast<double>(count);
  batch.first = first;
  return batch;
}

double value_of(const engine::NamedTensors& metrics, const std::string& name) {
  return engine::find_tensor(metrics, name).item<double>();
}

double ratio_of(const std::vector<engine::Ratio>& ratios, const std::string& name) {
  for (const auto& ratio : ratios) {
    if (ratio.name == name) {
      return ratio.sum.item<double>() / std::max(1.0, ratio.count.item<double>());
    }
  }
  return NAN;
}

/// Share of the values that differ by more than `bound`, and the largest difference.
std::pair<double, double> misses(const at::Tensor& ours, const at::Tensor& theirs, double bound) {
  const auto gap = (ours.detach().cpu().to(at::kDouble) - theirs.to(at::kDouble)).abs();
  return {gap.gt(bound).to(at::kDouble).mean().item<double>(), gap.max().item<double>()};
}

void check_weights(const engine::NamedTensors& ours, const std::filesystem::path& file, double lr,
                   double bound) {
  std::int64_t count = 0, off = 0;
  for (const auto& [name, theirs] : read_tensors(file)) {
    const auto mine = engine::find_tensor(ours, name);
    CAPTURE(name);
    REQUIRE(mine.defined());
    const auto [share, most] = misses(mine, theirs, bound);
    CHECK(most <= 6 * lr);  // a gradient of nearly 0 may have the other sign, three times
    count += theirs.numel();
    off += static_cast<std::int64_t>(std::llround(share * static_cast<double>(theirs.numel())));
  }
  CHECK(count > 1000);
  CHECK(static_cast<double>(off) <= 1e-3 * static_cast<double>(count));
}

/// Three updates with batches of four in micro-batches of `micro`.
void train_golden(const std::string& name, std::int64_t micro) {
  const auto folder = shared_folder("golden/trm/" + name);
  if (folder.empty()) return;
  CAPTURE(name);
  const auto device = kDevice;
  GoldenTask task(folder);
  const auto plan = trm_plan(micro, 4 / micro);
  engine::move_network(task.model().network(), plan, device);
  task.model().apply_plan(plan);
  engine::Learner learner(task, plan, device, task.steps);
  const auto batches = by_name(read_tensors(folder / "batches.safetensors"));
  const auto states = by_name(read_tensors(folder / "train_loop.safetensors"));
  const auto records = parse_json(read_file(folder / "train_loop.json"), "train_loop.json");
  for (int step = 0; step < 3; ++step) {
    CAPTURE(step);
    learner.begin();
    for (std::int64_t first = 0; first < 4; first += micro) {
      learner.add(golden_batch(batches, step, first, micro));
    }
    const auto facts = learner.finish(step);
    const auto& record = records[static_cast<std::size_t>(step)];
    const auto& metrics = record["reduced_metrics"];
    CHECK(facts.rates.lr == doctest::Approx(record["lr"].get<double>()).epsilon(1e-12));
    const auto near = [](const Json& theirs, double ours, double epsilon) {
      CHECK(ours == doctest::Approx(theirs.get<double>()).epsilon(epsilon));
    };
    near(metrics["train/lm_loss"], value_of(facts.metrics, "lm_loss"), 1e-5);
    near(metrics["train/q_halt_loss"], value_of(facts.metrics, "q_halt_loss"), 1e-5);
    for (const char* ratio : {"accuracy", "exact_accuracy", "q_halt_accuracy", "steps"}) {
      CAPTURE(ratio);
      near(metrics["train/" + std::string(ratio)], ratio_of(facts.ratios, ratio), 1e-6);
    }
    const auto carry = task.model().persistent_state();
    const auto steps = engine::find_tensor(carry, "steps").cpu();
    const auto halted = engine::find_tensor(carry, "halted").cpu();
    for (int slot = 0; slot < 4; ++slot) {
      CHECK(steps[slot].item<int>() == record["steps"][static_cast<std::size_t>(slot)].get<int>());
      CHECK(halted[slot].item<bool>() ==
            record["halted"][static_cast<std::size_t>(slot)].get<bool>());
    }
    const auto table = states.at(fmt::format("step{}.puzzle_emb.weights", step + 1));
    CHECK(distance(task.net->trm().puzzle_table(), table) < 1e-6);
    CHECK(distance(engine::find_tensor(carry, "z_H"),
                   states.at(fmt::format("step{}.z_H", step + 1))) < 1e-4);
  }
  check_weights(engine::state_dict(task.model().network()), folder / "params_after3.safetensors",
                task.given.optimizer.lr, 2e-6);
  const auto averages = learner.in_eval_mode([&] { return whole_state(task.model()); });
  check_weights(averages, folder / "ema_after3.safetensors", task.given.optimizer.lr, 2e-6);
}

}  // namespace

TEST_CASE("trm training: three updates have the original's losses, halts, tables and weights") {
  for (const char* name : {"mlp_t", "att_rope", "att_learned"}) train_golden(name, 4);
}

TEST_CASE("trm training: micro-batches give the same update") {
  train_golden("mlp_t", 2);
  train_golden("att_rope", 1);
}

TEST_CASE("trm training: a non-finite update changes no weight, and all slots take new puzzles") {
  const ScratchFolder scratch;
  write_small_sudokus(scratch / "data", 8, 0);
  auto task = trm::make_task(small_request(scratch / "data", {}));
  const auto plan = trm_plan();
  task->model().initialize(Random(3));
  engine::move_network(task->model().network(), plan, kDevice);
  task->model().apply_plan(plan);
  engine::Learner learner(*task, plan, kDevice, 10);
  const auto batch = task->training_set().load({0, 1, 2, 3}, engine::SampleRandoms(Random(1)));
  const auto update = [&](const engine::Batch& given, std::int64_t step) {
    learner.begin();
    learner.add(given);
    return learner.finish(step);
  };
  update(batch, 0);
  const auto halted = [&] {
    return engine::find_tensor(task->model().persistent_state(), "halted").cpu();
  };
  CHECK_FALSE(halted().any().item<bool>());  // the halting bias starts negative
  const auto before = whole_state(task->model());
  auto latents = engine::find_tensor(task->model().persistent_state(), "z_H");
  latents.fill_(NAN);
  const auto facts = update(batch, 1);
  CHECK(facts.bad.item<float>() == 1);
  CHECK(halted().all().item<bool>());
  for (const auto& [name, value] : whole_state(task->model())) {
    if (name.starts_with("carry.")) continue;
    CAPTURE(name);
    CHECK(at::equal(value, engine::find_tensor(before, name)));
  }
  CHECK(update(batch, 2).bad.item<float>() == 0);
}

TEST_CASE("trm training: with causal attention every step is made, whatever the halting logit") {
  const ScratchFolder scratch;
  write_small_sudokus(scratch / "data", 8, 0);
  for (const bool causal : {false, true}) {
    auto task =
        trm::make_task(small_request(scratch / "data", {{"arch.causal", causal ? "true" : "false"},
                                                        {"arch.mlp_t", "false"},
                                                        {"arch.pos_encodings", "rope"},
                                                        {"arch.halt_max_steps", "3"},
                                                        {"arch.halt_exploration_prob", "0"}}));
    const auto plan = trm_plan();
    task->model().initialize(Random(3));
    engine::move_network(task->model().network(), plan, kDevice);
    for (auto& item : task->model().network().named_parameters()) {  // halts after the first step
      const c10::NoGradGuard no_gradients;
      if (item.key().ends_with("q_head.bias")) item.value().fill_(9);
    }
    task->model().apply_plan(plan);
    engine::Learner learner(*task, plan, kDevice, 10);
    const auto batch = task->training_set().load({0, 1, 2, 3}, engine::SampleRandoms(Random(1)));
    learner.begin();
    learner.add(batch);
    CHECK(learner.finish(0).bad.item<float>() == 0);
    const auto halted = engine::find_tensor(task->model().persistent_state(), "halted");
    CHECK(halted.all().item<bool>() != causal);
  }
}

TEST_CASE("trm training: f16 with loss scaling has the losses of f32") {
  const ScratchFolder scratch;
  write_small_sudokus(scratch / "data", 8, 0);
  const auto losses = [&](DType dtype, const char* mlp) {
    auto task = trm::make_task(small_request(scratch / "data", {{"arch.mlp_t", mlp}}));
    auto plan = trm_plan();
    plan.dtype.value = dtype;
    plan.grad_scaler.value = dtype == DType::F16;
    task->model().initialize(Random(3));
    engine::move_network(task->model().network(), plan, kDevice);
    task->model().apply_plan(plan);
    engine::Learner learner(*task, plan, kDevice, 10);
    std::vector<double> list;
    for (std::int64_t step = 0; step < 5; ++step) {
      learner.begin();
      learner.add(task->training_set().load({0, 1, 2, 3}, engine::SampleRandoms(Random(1))));
      const auto facts = learner.finish(step);
      CHECK(facts.bad.item<float>() == 0);
      list.push_back(facts.loss.item<double>());
    }
    return list;
  };
  for (const char* mlp : {"true", "false"}) {
    const auto full = losses(DType::F32, mlp), half = losses(DType::F16, mlp);
    for (std::size_t i = 0; i < full.size(); ++i) {
      CHECK(half[i] == doctest::Approx(full[i]).epsilon(0.01));
    }
  }
}

TEST_CASE("trm training: a discarded update changes nothing") {
  const ScratchFolder scratch;
  write_small_sudokus(scratch / "data", 8, 0);
  auto task = trm::make_task(small_request(scratch / "data", {}));
  const auto plan = trm_plan();
  task->model().initialize(Random(3));
  engine::move_network(task->model().network(), plan, kDevice);
  task->model().apply_plan(plan);
  engine::Learner learner(*task, plan, kDevice, 10);
  const auto batch = task->training_set().load({0, 1, 2, 3}, engine::SampleRandoms(Random(1)));
  const auto before = whole_state(task->model());
  learner.begin();
  learner.add(batch);
  learner.discard();
  CHECK(task->model().extra_leaves().empty());
  const auto after = whole_state(task->model());
  for (std::size_t i = 0; i < after.size(); ++i) {
    CAPTURE(after[i].first);
    CHECK(at::equal(after[i].second, before[i].second));
  }
}
