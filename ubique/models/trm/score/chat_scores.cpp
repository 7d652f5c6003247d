// SPDX-License-Identifier: Apache-2.0
// Sums of losses over batches of conversations, and their means.
#include "ubique/models/trm/score/chat_scores.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

#include "ubique/base/text/json.h"
#include "ubique/engine/step/autocast.h"
#include "ubique/models/trm/data/dataset.h"
#include "ubique/models/trm/net/loss.h"

namespace ubique::trm {
namespace {

/// Sums over batches, in f64: a set may have more tokens than f32 counts exactly.
struct ChatSums {
  double rows = 0, tokens = 0, row_losses = 0, token_losses = 0, right = 0;

  void add(const AnswerScores& scores, const at::Tensor& labels) {
    const auto counts = labels.ne(kIgnored).sum(-1).to(at::kFloat);  // (B)
    const auto sums =
        at::stack({scores.labelled.to(at::kFloat), counts, scores.token_loss.to(at::kFloat),
                   scores.token_loss.to(at::kFloat) * counts,
                   scores.accuracy.to(at::kFloat) * counts})  // (5, B)
            .sum(1)
            .cpu();
    const auto* values = sums.const_data_ptr<float>();
    rows += values[0];
    tokens += values[1];
    row_losses += values[2];
    token_losses += values[3];
    right += values[4];
  }
};

void add_batch(const Trm& network, const TrmWeights& weights, const engine::Batch& batch,
               ChatSums& sums) {
  const auto device = weights.high_start.device();
  const auto labels = batch.tensors.at("labels").to(device);  // (B, S)
  const auto rows = network.puzzle_rows(batch.tensors.at("puzzle_identifiers").to(device));
  const auto x = network.embed(weights, batch.tensors.at("inputs").to(device), rows);  // (B, L, H)
  auto latents = network.start(weights, batch.samples);
  Answer answer;
  for (std::int64_t step = 0; step < network.config().halt_max_steps; ++step) {
    answer = network.step(weights, x, latents);
  }
  sums.add(score_answer(answer, labels, network.config().loss), labels);
}

}  // namespace

double ChatScores::perplexity() const { return std::exp(token_loss); }

Json ChatScores::json() const {
  Json json;
  json["lm_loss"] = lm_loss;
  json["token_loss"] = token_loss;
  json["perplexity"] = perplexity();
  json["accuracy"] = accuracy;
  json["conversations"] = conversations;
  json["rows"] = rows;
  json["tokens"] = tokens;
  json["seconds"] = seconds;
  json["tokens_per_second"] = static_cast<double>(tokens) / std::max(seconds, 1e-9);
  return json;
}

ChatScores score_chat(const Trm& network, const TrmWeights& weights, const data::PuzzleSet& set,
                      const std::vector<std::int64_t>& examples, std::int64_t batch,
                      const std::function<bool(std::int64_t)>& should_continue) {
  const c10::NoGradGuard no_gradients;
  const engine::Autocast plain(weights.high_start.device().type(), {});
  const auto start = std::chrono::steady_clock::now();
  ChatScores scores;
  ChatSums sums;
  std::set<std::int64_t> conversations;
  for (auto first = examples.begin(); first != examples.end() && !scores.stopped;) {
    const auto end = first + std::min<std::ptrdiff_t>(batch, examples.end() - first);
    const std::vector<std::int64_t> chosen(first, end);
    add_batch(network, weights, puzzle_batch(set, chosen), sums);
    for (const auto example : chosen) conversations.insert(set.puzzle_of(example));
    first = end;
    scores.stopped = !should_continue(std::ssize(chosen)) && first != examples.end();
  }
  scores.conversations = std::ssize(conversations);
  scores.rows = std::llround(sums.rows);
  scores.tokens = std::llround(sums.tokens);
  scores.lm_loss = sums.row_losses / std::max(sums.rows, 1.0);
  scores.token_loss = sums.token_losses / std::max(sums.tokens, 1.0);
  scores.accuracy = sums.right / std::max(sums.tokens, 1.0);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  scores.seconds = took.count();
  return scores;
}

}  // namespace ubique::trm
