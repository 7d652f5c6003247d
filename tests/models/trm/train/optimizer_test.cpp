// SPDX-License-Identifier: Apache-2.0
// AdamATan2, the sign steps of the puzzle table, averages and the schedule against the original.
#include "ubique/models/trm/train/optimizer.h"

#include <fmt/format.h>

#include "training_samples.h"
#include "ubique/engine/optim/ema.h"
#include "ubique/engine/optim/schedule.h"

using namespace ubique;
using namespace ubique::test;

namespace {

struct Unit {
  std::map<std::string, at::Tensor> tensors;
  Json numbers;
};

std::optional<Unit> read_unit() {
  const auto folder = shared_folder("golden/trm");
  if (folder.empty()) return std::nullopt;
  return Unit{by_name(read_tensors(folder / "optim_unit.safetensors")),
              parse_json(read_file(folder / "optim_unit.json"), "optim_unit.json")};
}

at::Tensor on_device(const at::Tensor& tensor) { return tensor.to(kDevice, false, true); }

at::Tensor scalar(double value) {
  return at::full({}, value, at::TensorOptions(at::kFloat).device(kDevice));
}

}  // namespace

TEST_CASE("trm optimizer: adam_atan2 has the original's weights and moments") {
  const auto unit = read_unit();
  if (!unit) return;
  const auto& numbers = unit->numbers["adam_atan2"];
  auto p = on_device(unit->tensors.at("p0")).requires_grad_();
  auto q = on_device(unit->tensors.at("q0")).requires_grad_();
  const engine::OptimizerOptions options{.name = "adam_atan2",
                                         .weight_decay = numbers["weight_decay"],
                                         .beta1 = numbers["beta1"],
                                         .beta2 = numbers["beta2"]};
  const auto optimizer = engine::make_optimizer(options, {{"p", p}, {"q", q}}, true);
  CHECK(optimizer->capturable());
  for (int step = 1; step <= 3; ++step) {
    CAPTURE(step);
    // A skipped update before each one must change nothing.
    p.mutable_grad() = at::full_like(p, NAN);
    q.mutable_grad() = at::full_like(q, NAN);
    optimizer->prepare({1, {}});
    optimizer->step(scalar(1));
    p.mutable_grad() = on_device(unit->tensors.at(fmt::format("gp{}", step)));
    q.mutable_grad() = on_device(unit->tensors.at(fmt::format("gq{}", step)));
    optimizer->prepare({numbers["lrs"][static_cast<std::size_t>(step - 1)].get<double>(), {}});
    optimizer->step(scalar(0));
    CHECK(distance(p, unit->tensors.at(fmt::format("p{}", step))) < 2e-7);
    CHECK(distance(q, unit->tensors.at(fmt::format("q{}", step))) < 2e-7);
    const auto state = optimizer->state();
    CHECK(relative_distance(engine::find_tensor(state, "exp_avg.p").cpu(),
                            unit->tensors.at(fmt::format("exp_avg_p{}", step))) < 2e-7);
    CHECK(relative_distance(engine::find_tensor(state, "exp_avg_sq.p").cpu(),
                            unit->tensors.at(fmt::format("exp_avg_sq_p{}", step))) < 2e-7);
  }
}

TEST_CASE("trm optimizer: the first step of adam_atan2 does not depend on the gradient's size") {
  auto weight = on_device(at::zeros({4})).requires_grad_();
  const auto optimizer = engine::make_optimizer({.name = "adam_atan2", .beta1 = 0.9, .beta2 = 0.95},
                                                {{"w", weight}}, true);
  weight.mutable_grad() = on_device(at::tensor({1e-12F, -3.F, 1e8F, 0.F}));
  optimizer->prepare({0.01, {}});
  optimizer->step(scalar(0));
  const auto moved = weight.detach().cpu() / 0.01;
  for (const auto& [index, sign] : {std::pair{0, -1}, std::pair{1, 1}, std::pair{2, -1}}) {
    CHECK(moved[index].item<double>() == doctest::Approx(sign * 0.996687).epsilon(1e-5));
  }
  CHECK(moved[3].item<double>() == 0);
}

TEST_CASE("trm optimizer: the table's step has the original's rows") {
  const auto unit = read_unit();
  if (!unit) return;
  const auto& numbers = unit->numbers["signsgd"];
  auto table = on_device(unit->tensors.at("table0"));
  const auto ids = on_device(unit->tensors.at("table_ids").to(at::kInt));
  const auto gradients = on_device(unit->tensors.at("table_grad_rows"));
  const auto lr = scalar(numbers["lr"].get<double>());
  const double decay = numbers["weight_decay"];
  trm::sign_step(table, ids, at::full_like(gradients, NAN), lr, decay, scalar(1));
  CHECK(at::equal(table.cpu(), unit->tensors.at("table0")));
  trm::sign_step(table, ids, gradients, lr, decay, scalar(0));
  CHECK(distance(table, unit->tensors.at("table1")) < 1e-7);
}

TEST_CASE("trm optimizer: averages have the original's numbers") {
  const auto unit = read_unit();
  if (!unit) return;
  auto weight = on_device(unit->tensors.at("ema_w0"));
  engine::AveragedWeights averages({{"w", weight}}, unit->numbers["ema_rate"]);
  for (int step = 1; unit->tensors.contains(fmt::format("ema_shadow{}", step)); ++step) {
    weight.copy_(unit->tensors.at(fmt::format("ema_w{}", step)));
    averages.update();
    CHECK(distance(averages.averages().front().second,
                   unit->tensors.at(fmt::format("ema_shadow{}", step))) < 2e-7);
  }
}

namespace {

/// Weights and averages after four updates, of which the second is bad; one tensor has no gradient.
engine::NamedTensors updated(bool fused) {
  engine::NamedTensors weights;
  for (const std::int64_t count : {5000, 7, 64}) {
    weights.emplace_back(fmt::format("w{}", count),
                         on_device(random_tensor({count}, 1)).requires_grad_());
  }
  const auto optimizer = engine::make_optimizer(
      {.name = "adam_atan2", .weight_decay = 0.5, .beta1 = 0.9, .beta2 = 0.95}, weights, fused);
  engine::AveragedWeights averages(weights, 0.7);
  const bool taken = optimizer->take_averages(averages);
  for (std::uint64_t step = 0; step < 4; ++step) {
    for (std::size_t i = 0; i < 2; ++i) {
      auto& weight = weights[i].second;
      weight.mutable_grad() = on_device(random_tensor(weight.sizes(), 10 + 2 * step + i));
      if (step == 1) weight.mutable_grad().fill_(NAN);
    }
    optimizer->prepare({1e-2, {}});
    optimizer->step(scalar(step == 1 ? 1 : 0));
    if (!taken) averages.update();
  }
  for (const auto& [name, average] : averages.averages()) weights.emplace_back(name, average);
  return weights;
}

}  // namespace

TEST_CASE("trm optimizer: the fused update of weights and averages equals the plain one") {
  const auto plain = updated(false), fused = updated(true);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    CAPTURE(plain[i].first);
    CHECK(distance(fused[i].second.detach(), plain[i].second.detach().cpu()) < 6e-7);
  }
}

TEST_CASE("trm optimizer: the schedule has the original's rates, warm-up counted in steps") {
  const auto unit = read_unit();
  if (!unit) return;
  for (const auto& table : unit->numbers["lr_schedule"]) {
    engine::Recipe recipe;
    recipe.optimizer.lr = table["base_lr"];
    recipe.schedule.name = "cosine";
    recipe.schedule.warmup_steps = table["warmup"].get<std::int64_t>();
    recipe.schedule.floor = table["min_ratio"];
    recipe.schedule.steps = table["total_steps"];
    const auto schedule = engine::make_schedule(recipe, 7);  // schedule.steps overrides the 7
    for (const auto& [step, lr] : table["values"].items()) {
      CAPTURE(step);
      const auto ours = schedule->at(std::stoll(step) - 1).lr;
      CHECK(std::abs(ours - lr.get<double>()) <= 1e-12 * recipe.optimizer.lr);
    }
  }
}
