// SPDX-License-Identifier: Apache-2.0
// The network against reference values of the original: states, losses, gradients, initial weights.
#include "ubique/models/trm/net/network.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "tests/models/trm/net/network_samples.h"
#include "ubique/base/text/json.h"

namespace ubique::trm {
namespace {

using test::distance;

/// How far a value may be from the original's, as documented with the reference data.
struct Tolerance {
  double latents, logits;
};

Tolerance tolerance_of(const std::string& name, int step) {
  if (name == "att_rope_bf16") return {0.3, 0.1};
  if (step == 1) return {1e-5, 1e-5};
  if (name == "mlp_t" && step >= 3)
    return step == 3 ? Tolerance{1e-4, 1e-4} : Tolerance{5e-4, 5e-4};
  return {5e-5, 5e-5};
}

const std::vector<std::string> kModels = {"mlp_t", "att_rope", "att_learned", "att_rope_bf16"};

/// Compares a step with the original's.
void compare_step(const test::GoldenModel& model, const std::string& name, int step,
                  const std::map<std::string, at::Tensor>& golden, const Slots& slots,
                  const Answer& answer) {
  const auto of = [&](const std::string& key) {
    return golden.at(fmt::format("step{}.{}", step, key));
  };
  const auto tolerance = tolerance_of(name, step);
  CAPTURE(name);
  CAPTURE(step);
  CHECK(distance(slots.latents.high, of("z_H")) < tolerance.latents);
  CHECK(distance(slots.latents.low, of("z_L")) < tolerance.latents);
  CHECK(distance(answer.logits, of("logits")) < tolerance.logits);
  CHECK(distance(answer.halt.select(1, 0), of("q_halt_logits")) < tolerance.latents);
  CHECK(distance(answer.halt.select(1, 1), of("q_continue_logits")) < tolerance.latents);
  CHECK(slots.puzzles.inputs.equal(of("current.inputs").to(at::kInt)));
  CHECK(slots.puzzles.labels.equal(of("current.labels").to(at::kInt)));
  CHECK(slots.puzzles.ids.equal(of("current.puzzle_identifiers").to(at::kInt)));
  if (model.dtype == at::kFloat) {
    CHECK(answer.logits.argmax(-1).equal(of("preds")));
    CHECK(slots.steps.equal(of("steps").to(at::kInt)));
    CHECK(slots.halted.equal(of("halted").to(at::kBool)));
  }
}

void compare_losses(const Json& golden, const AnswerScores& scores, double tolerance) {
  const auto total = golden["loss_total"].get<double>();
  CHECK(scores.total().item<double>() == doctest::Approx(total).epsilon(tolerance));
  const auto tokens = golden["metrics"]["lm_loss"].get<double>();
  CHECK(scores.token_loss.sum().item<double>() == doctest::Approx(tokens).epsilon(tolerance));
}

}  // namespace

TEST_CASE("trm: the number of parameters is the original's") {
  TrmConfig sudoku;
  CHECK(parameter_count(sudoku) == 6828034);
  sudoku.mlp_t = true;
  sudoku.positions = Positions::None;
  CHECK(parameter_count(sudoku) == 5028866);
  TrmConfig maze;
  maze.seq_len = 900;
  maze.vocab_size = 6;
  CHECK(parameter_count(maze) == 6822914);
  maze.mlp_t = true;
  maze.positions = Positions::None;
  CHECK(parameter_count(maze) == 18795522);
  Trm network(sudoku);
  std::int64_t count = 0;
  for (const auto& parameter : network.parameters()) count += parameter.numel();
  CHECK(count == 5028866);
}

TEST_CASE("trm: embedding, first block and first call are the original's") {
  for (const auto& name : kModels) {
    const auto model = test::golden_model(name);
    if (!model) return;
    const at::NoGradGuard no_gradients;
    const auto golden = model->tensors("eval");
    const auto& network = *model->network;
    const auto weights = network.cast(model->dtype);
    const auto batch = model->batch("eval");
    const auto x = network.embed(weights, batch.inputs, test::rows_of(network, batch.ids));
    const double near = model->dtype == at::kFloat ? 1e-5 : 0.1;
    CAPTURE(name);
    CHECK(distance(x, golden.at("debug.input_embeddings")) < near);
    const auto start = network.start(weights, 4);
    const auto first = start.low + (start.high + x);
    CHECK(distance(network.block(weights, 0, first), golden.at("debug.first_call_block0")) < near);
    CHECK(distance(network.call(weights, start.low, start.high + x),
                   golden.at("debug.z_L_after_first_call")) < near);
  }
}

TEST_CASE("trm: evaluation has the original's states at every step") {
  for (const auto& name : kModels) {
    const auto model = test::golden_model(name);
    if (!model) return;
    const at::NoGradGuard no_gradients;
    const auto golden = model->tensors("eval");
    const auto provenance = model->json("eval");
    const auto& network = *model->network;
    const auto weights = network.cast(model->dtype);
    const auto batch = model->batch("eval");
    auto slots = Slots::empty(network, 4, model->dtype, at::kCPU, true);
    for (int step = 1; step <= 4; ++step) {
      slots = slots.refilled(weights, batch);
      const auto x =
          network.embed(weights, slots.puzzles.inputs, test::rows_of(network, slots.puzzles.ids));
      const auto answer = network.step(weights, x, slots.latents);
      slots.count_step(answer, network.config().halt_max_steps);
      compare_step(*model, name, step, golden, slots, answer);
      const auto scores = score_answer(answer, slots.puzzles.labels, network.config().loss);
      const double near = step == 1 ? 1e-6 : 2e-5;
      compare_losses(provenance[step - 1], scores, model->dtype == at::kFloat ? near : 0.05);
    }
  }
}

TEST_CASE("trm: in training, slots halt and are refilled as in the original") {
  for (const auto& name : kModels) {
    const auto model = test::golden_model(name);
    if (!model) return;
    const at::NoGradGuard no_gradients;
    const auto golden = model->tensors("train_fixed");
    const auto& network = *model->network;
    const auto weights = network.cast(model->dtype);
    auto slots = Slots::empty(network, 4, model->dtype, at::kCPU, true);
    const auto no_exploration = at::zeros({4}, at::kInt);
    const int steps =
        model->dtype == at::kFloat ? 3 : 1;  // in bf16 later steps depend on which slots halted
    for (int step = 1; step <= steps; ++step) {
      slots = slots.refilled(weights, model->batch(fmt::format("batch{}", step - 1)));
      const auto x =
          network.embed(weights, slots.puzzles.inputs, test::rows_of(network, slots.puzzles.ids));
      const auto answer = network.step(weights, x, slots.latents);
      slots.count_step(answer, network.config().halt_max_steps, no_exploration);
      compare_step(*model, name, step, golden, slots, answer);
    }
  }
}

TEST_CASE("trm: every gradient is the original's, with kept and with recomputed activations") {
  for (const auto& name : kModels) {
    const auto model = test::golden_model(name);
    if (!model) return;
    for (const auto kept : {kernels::Activations::Keep, kernels::Activations::Recompute}) {
      auto& network = *model->network;
      network.set_activations(kept, kept);
      network.zero_grad();
      const auto weights = network.cast(model->dtype);
      const auto batch = model->batch("batch0");
      auto rows = test::rows_of(network, batch.ids).detach().set_requires_grad(true);
      auto latents = network.start(weights, 4);
      const auto answer =
          network.step(weights, network.embed(weights, batch.inputs, rows), latents);
      const auto scores = score_answer(answer, batch.labels, network.config().loss);
      (scores.total() / 4).backward();

      auto gradients = test::by_name({});
      for (const auto& item : network.named_parameters()) {
        gradients[item.key()] = item.value().grad();
      }
      gradients["model.inner.puzzle_emb.local_weights"] = rows.grad();
      CAPTURE(name);
      for (const auto& [key, expected] : model->tensors("grads")) {
        CAPTURE(key);
        REQUIRE(gradients.count(key) == 1);
        CHECK(test::relative_distance(gradients[key], expected) <
              (model->dtype == at::kFloat ? 1e-5 : 0.1));
      }
    }
  }
}

TEST_CASE("trm: initial weights are the same for a seed and distributed as the original's") {
  TrmConfig config;
  config.hidden_size = 64;
  config.puzzle_emb_ndim = 64;
  config.num_heads = 4;
  Trm a(config), b(config);
  initialize(a, Random(7));
  initialize(b, Random(7));
  for (const auto& item : a.named_parameters()) {
    CHECK(item.value().equal(b.named_parameters()[item.key()]));
  }
  const auto gate_up =
      a.named_parameters()["model.inner.L_level.layers.0.mlp.gate_up_proj.weight"].detach();
  CHECK(gate_up.std().item<double>() == doctest::Approx(1 / std::sqrt(64.0)).epsilon(0.02));
  CHECK(gate_up.abs().max().item<double>() < 2 * 1.136847 / std::sqrt(64.0) + 1e-6);
  CHECK(a.named_parameters()["model.inner.q_head.bias"].eq(-5).all().item<bool>());
  CHECK(a.puzzle_table().eq(0).all().item<bool>());
}

TEST_CASE("trm: an invalid configuration is refused by the name of its key") {
  TrmConfig config;
  config.mlp_t = config.causal = true;
  config.positions = Positions::None;
  CHECK_THROWS_WITH_AS(validate(config), doctest::Contains("would read its own labels"), Error);
}

}  // namespace ubique::trm
