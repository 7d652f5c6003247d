// SPDX-License-Identifier: Apache-2.0
// Allocating slots, refilling halted ones, counting steps.
#include "ubique/models/trm/net/slots.h"

#include <ATen/ATen.h>

namespace ubique::trm {

Slots Slots::empty(const Trm& network, std::int64_t batch, at::ScalarType dtype, c10::Device device,
                   bool labelled) {
  const auto& config = network.config();
  const auto latents = at::TensorOptions(dtype).device(device);
  const auto numbers = at::TensorOptions(at::kInt).device(device);
  const std::vector<std::int64_t> shape = {batch, config.length(), config.hidden_size};
  Slots slots;
  slots.latents = {at::zeros(shape, latents), at::zeros(shape, latents)};
  slots.puzzles.inputs = at::zeros({batch, config.seq_len}, numbers);
  if (labelled) slots.puzzles.labels = at::zeros({batch, config.seq_len}, numbers);
  slots.puzzles.ids = at::zeros({batch}, numbers);
  slots.steps = at::zeros({batch}, numbers);
  slots.halted = at::ones({batch}, numbers.dtype(at::kBool));
  return slots;
}

engine::NamedTensors Slots::named() const {
  engine::NamedTensors tensors = {{"z_H", latents.high},      {"z_L", latents.low},
                                  {"inputs", puzzles.inputs}, {"puzzle_identifiers", puzzles.ids},
                                  {"steps", steps},           {"halted", halted}};
  if (puzzles.labels.defined()) tensors.emplace_back("labels", puzzles.labels);
  return tensors;
}

Slots Slots::refilled(const TrmWeights& weights, const PuzzleBatch& incoming) const {
  const auto rows = halted.view({-1, 1});      // (B, 1)
  const auto cubes = halted.view({-1, 1, 1});  // (B, 1, 1)
  Slots next;
  next.latents = {at::where(cubes, weights.high_start, latents.high),
                  at::where(cubes, weights.low_start, latents.low)};
  next.puzzles.inputs = at::where(rows, incoming.inputs, puzzles.inputs);
  if (puzzles.labels.defined()) {
    next.puzzles.labels = at::where(rows, incoming.labels, puzzles.labels);
  }
  next.puzzles.ids = at::where(halted, incoming.ids, puzzles.ids);
  next.steps = steps.masked_fill(halted, 0);
  next.halted = halted;
  return next;
}

void Slots::count_step(const Answer& answer, std::int64_t max_steps, const at::Tensor& min_steps) {
  steps = steps + 1;
  halted = steps.ge(max_steps);
  if (!min_steps.defined() || max_steps == 1) return;
  const auto wants_halt = answer.halt.select(1, 0).detach().gt(0);
  halted = halted.logical_or(wants_halt).logical_and(steps.ge(min_steps));
}

}  // namespace ubique::trm
