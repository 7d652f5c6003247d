// SPDX-License-Identifier: Apache-2.0
// One supervision step over the slots, and the state that is kept from update to update.
#include "ubique/models/trm/net/model.h"

#include <ATen/ATen.h>

#include "ubique/base/text/text.h"
#include "ubique/dist/world.h"
#include "ubique/engine/step/autocast.h"
#include "ubique/models/trm/net/loss.h"
#include "ubique/probe/probes/operation.h"

namespace ubique::trm {
namespace {

/// Views of `count` slots.
Slots slots_at(const Slots& slots, std::int64_t first, std::int64_t count) {
  const auto cut = [&](const at::Tensor& tensor) {
    return tensor.defined() ? tensor.narrow(0, first, count) : tensor;
  };
  return {{cut(slots.latents.high), cut(slots.latents.low)},
          {cut(slots.puzzles.inputs), cut(slots.puzzles.labels), cut(slots.puzzles.ids)},
          cut(slots.steps),
          cut(slots.halted)};
}

/// Metrics of the puzzles that halted in this step, as sums and their count.
std::vector<engine::Ratio> ratios_of(const Slots& slots, const AnswerScores& scores) {
  const c10::NoGradGuard no_gradients;
  const auto done = slots.halted.logical_and(scores.labelled);  // (B)
  const auto count = done.sum();
  const auto sum = [&](const at::Tensor& values) {
    return at::where(done, values.to(at::kFloat), at::zeros({}, values.options().dtype(at::kFloat)))
        .sum();
  };
  return {{"exact_accuracy", sum(scores.exact), count},
          {"accuracy", sum(scores.accuracy), count},
          {"q_halt_accuracy", sum(scores.wants_halt.eq(scores.exact)), count},
          {"steps", sum(slots.steps), count}};
}

}  // namespace

at::ScalarType forward_dtype(Trm& network) {
  const auto weight = network.parameters().front();
  const auto state = engine::autocast_state(weight.device().type());
  return state.enabled ? state.dtype : weight.scalar_type();
}

void TrmModel::apply_plan(const plan::Plan& plan) {
  const auto channels =
      plan.checkpointing.value ? kernels::Activations::Recompute : kernels::Activations::Keep;
  network_->set_activations(kernels::Activations::Recompute, channels);
  weights_.reset();
  micro_batch_ = plan.micro_batch.value;
  if (plan.mode != plan::Mode::Train) return;
  const auto weight = network_->parameters().front();
  const auto dtype = plan.autocast.value ? probe::to_torch(plan.dtype.value) : weight.scalar_type();
  const auto count = plan.effective_batch.value;
  // A new plan after out-of-memory keeps the puzzles in their slots.
  if (slots_ && slots_->steps.size(0) == count) return;
  slots_ = Slots::empty(*network_, count, dtype, weight.device(), true);
}

LookedUp TrmModel::look_up(const at::Tensor& ids) {
  const auto rows = network_->puzzle_rows(ids);
  if (!rows.defined()) return {};
  return {ids, rows.detach().requires_grad_()};
}

engine::Step TrmModel::step(const engine::Batch& batch) {
  check(slots_.has_value(), ErrorKind::Internal, "[trm.step] no plan was applied to the model.");
  const auto& inputs = batch.tensors.at("inputs");
  const engine::Autocast plain(inputs.device().type(), {});
  const auto& settings = network_->config();
  if (!weights_) weights_ = network_->cast(slots_->latents.high.scalar_type());
  const PuzzleBatch incoming{inputs, batch.tensors.at("labels"),
                             batch.tensors.at("puzzle_identifiers")};
  auto slots = slots_at(*slots_, batch.first, inputs.size(0)).refilled(*weights_, incoming);
  const auto found = look_up(slots.puzzles.ids);
  const auto x = network_->embed(*weights_, slots.puzzles.inputs, found.rows);  // (B, L, H)
  const auto answer = network_->step(*weights_, x, slots.latents);
  const auto scores = score_answer(answer, slots.puzzles.labels, settings.loss);
  slots.count_step(answer, settings.halt_max_steps,
                   settings.halts_early() ? batch.tensors.at("least_steps") : at::Tensor());

  const auto samples = static_cast<double>(inputs.size(0));
  engine::Step step;
  step.loss = (settings.halts_early() ? scores.total() : scores.token_loss.sum()) / samples;
  step.metrics = {{"lm_loss", scores.token_loss.detach().sum() / samples},
                  {"q_halt_loss", scores.halt_loss.detach().sum() / samples}};
  step.ratios = ratios_of(slots, scores);
  if (found.rows.defined()) looked_up_.push_back(found);
  pending_.push_back({batch.first, std::move(slots)});
  return step;
}

engine::NamedTensors TrmModel::persistent_state() {
  return slots_ ? slots_->named() : engine::NamedTensors();
}

engine::NamedTensors TrmModel::extra_leaves() {
  engine::NamedTensors leaves;
  for (const auto& found : looked_up_) leaves.emplace_back("puzzle_rows", found.rows);
  return leaves;
}

/// The rows' values are not needed for an update, only whose they are and their gradients.
void TrmModel::gather_leaves(const dist::World& world) {
  const auto table = network_->puzzle_table();
  if (!table.defined()) return;
  std::vector<at::Tensor> ids = {at::empty({0}, table.options().dtype(at::kInt))};
  std::vector<at::Tensor> gradients = {at::empty({0, table.size(1)}, table.options())};
  std::vector<std::string> sizes;
  for (const auto& found : looked_up_) {
    if (!found.rows.grad().defined()) continue;
    ids.push_back(found.ids.to(at::kInt));
    gradients.push_back(found.rows.grad().to(table.scalar_type()));
    sizes.push_back(std::to_string(found.ids.size(0)));
  }
  const auto all_sizes = world.gather(join(sizes, " "));
  const auto all_ids = world.gather_rows(at::cat(ids));
  const auto all_gradients = world.gather_rows(at::cat(gradients));
  looked_up_.clear();
  std::int64_t first = 0;
  for (const auto& text : all_sizes) {
    for (const auto& size : split(text, ' ')) {
      const auto count = std::stoll(size);
      LookedUp found{all_ids.narrow(0, first, count),
                     at::empty({count, table.size(1)}, table.options())};
      found.rows.mutable_grad() = all_gradients.narrow(0, first, count).clone();
      looked_up_.push_back(std::move(found));
      first += count;
    }
  }
}

void TrmModel::commit_state(const at::Tensor& bad) {
  const c10::NoGradGuard no_gradients;
  for (const auto& [first, after] : pending_) {
    const auto target = slots_at(*slots_, first, after.steps.size(0)).named();
    const auto values = after.named();
    for (std::size_t i = 0; i < values.size(); ++i) target[i].second.copy_(values[i].second);
  }
  slots_->halted.logical_or_(bad.gt(0));  // latents that are not finite are discarded
  discard_state();
}

void TrmModel::discard_state() {
  pending_.clear();
  looked_up_.clear();
  weights_.reset();
}

}  // namespace ubique::trm
