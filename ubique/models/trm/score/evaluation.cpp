// SPDX-License-Identifier: Apache-2.0
// Per-batch sums of the validation scores, computed on the device.
#include "ubique/models/trm/score/evaluation.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>

#include "ubique/base/text/json.h"
#include "ubique/engine/ranks/rank_jobs.h"
#include "ubique/engine/step/autocast.h"
#include "ubique/models/trm/data/dataset.h"
#include "ubique/models/trm/net/loss.h"

namespace ubique::trm {
namespace {

/// Names of the sums below, after the count of puzzles.
constexpr const char* kScores[] = {
    "exact_accuracy",       "accuracy",    "q_halt_accuracy", "steps",
    "exact_accuracy_early", "steps_early", "lm_loss",         "q_halt_loss"};

/// Sums over one batch: (9) f32, the number of puzzles first.
at::Tensor sums_of(const Trm& network, const TrmWeights& weights, const engine::Batch& batch,
                   std::int64_t max_steps) {
  const auto device = weights.high_start.device();
  const auto on_device = [&](const char* name) { return batch.tensors.at(name).to(device); };
  const auto labels = on_device("labels");
  const auto rows = network.puzzle_rows(on_device("puzzle_identifiers"));
  const auto x = network.embed(weights, on_device("inputs"), rows);  // (B, L, H)
  auto latents = network.start(weights, batch.samples);
  AnswerScores scores;
  const auto f32 = at::TensorOptions(at::kFloat).device(device);
  auto running = at::ones({batch.samples}, f32.dtype(at::kBool));  // not halted yet
  auto exact = at::zeros({batch.samples}, f32), steps = at::zeros({batch.samples}, f32);
  for (std::int64_t step = 1; step <= max_steps; ++step) {
    const auto answer = network.step(weights, x, latents);
    scores = score_answer(answer, labels, network.config().loss);
    const auto stopping =
        step == max_steps ? running : running.logical_and(answer.halt.select(1, 0).gt(0));
    exact = at::where(stopping, scores.exact.to(at::kFloat), exact);
    steps = steps.masked_fill(stopping, static_cast<double>(step));
    running = running.logical_and(stopping.logical_not());
  }
  const auto counts = scores.labelled.to(at::kFloat);
  const auto columns =
      at::stack({counts, scores.exact.to(at::kFloat), scores.accuracy.to(at::kFloat),
                 scores.wants_halt.eq(scores.exact).to(at::kFloat),
                 at::full_like(counts, static_cast<double>(max_steps)), exact, steps,
                 scores.token_loss.to(at::kFloat), scores.halt_loss.to(at::kFloat)});  // (9, B)
  return (columns * counts).sum(1);
}

std::vector<Json> rows_of(const std::vector<at::Tensor>& sums) {
  std::vector<Json> rows;
  if (sums.empty()) return rows;
  const auto host = at::stack(sums).cpu();  // (N, 9) f32
  for (std::int64_t i = 0; i < host.size(0); ++i) {
    const auto* values = host.const_data_ptr<float>() + i * host.size(1);
    rows.emplace_back(std::vector<float>(values, values + host.size(1)));
  }
  return rows;
}

/// In f32 and in the order of the batches.
std::array<double, 9> added_up(const std::vector<Json>& rows) {
  std::array<float, 9> sums{};
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += row[i].get<float>();
  }
  std::array<double, 9> values{};
  std::ranges::copy(sums, values.begin());
  return values;
}

}  // namespace

engine::Scores evaluate(const Trm& network, const TrmWeights& weights, const data::PuzzleSet& set,
                        const EvaluationOptions& options) {
  check_fits(set, network.config(), "the set to evaluate on");
  const c10::NoGradGuard no_gradients;
  const auto device = weights.high_start.device();
  const engine::Autocast plain(device.type(), {});
  const auto chosen = spread_examples(set.examples(), options.limit);
  const auto count = static_cast<std::int64_t>(chosen.size());
  const auto max_steps = options.steps > 0 ? options.steps : network.config().halt_max_steps;
  const engine::RankJobs jobs((count + options.batch - 1) / options.batch);
  std::vector<at::Tensor> mine;  // (9) each, on the device: one transfer for all
  for (const auto number : jobs.mine()) {
    const auto first = number * options.batch, end = std::min(count, first + options.batch);
    const std::vector<std::int64_t> examples(chosen.begin() + first, chosen.begin() + end);
    mine.push_back(sums_of(network, weights, puzzle_batch(set, examples), max_steps));
  }
  const auto values = added_up(jobs.collect(rows_of(mine)));
  engine::Scores scores;
  if (values[0] == 0) return scores;  // no labels
  for (std::size_t i = 0; i < std::size(kScores); ++i) {
    scores.emplace_back(kScores[i], values[i + 1] / values[0]);
  }
  return scores;
}

}  // namespace ubique::trm
