// SPDX-License-Identifier: Apache-2.0
// Sums of losses over batches of conversations, and their means.
#include "ubique/models/trm/score/chat_scores.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

#include "ubique/base/text/json.h"
#include "ubique/engine/ranks/rank_jobs.h"
#include "ubique/engine/step/autocast.h"
#include "ubique/models/trm/data/dataset.h"
#include "ubique/models/trm/net/loss.h"

namespace ubique::trm {
namespace {

/// Sums over batches, in f64: a set may have more tokens than f32 counts exactly.
struct ChatSums {
  double rows = 0, tokens = 0, row_losses = 0, token_losses = 0, right = 0;

  static Json of_batch(const AnswerScores& scores, const at::Tensor& labels) {
    const auto counts = labels.ne(kIgnored).sum(-1).to(at::kFloat);  // (B)
    const auto sums =
        at::stack({scores.labelled.to(at::kFloat), counts, scores.token_loss.to(at::kFloat),
                   scores.token_loss.to(at::kFloat) * counts,
                   scores.accuracy.to(at::kFloat) * counts})  // (5, B)
            .sum(1)
            .cpu();
    const auto* values = sums.const_data_ptr<float>();
    return std::vector<float>(values, values + 5);
  }

  void add(const Json& values) {
    rows += values[0].get<double>();
    tokens += values[1].get<double>();
    row_losses += values[2].get<double>();
    token_losses += values[3].get<double>();
    right += values[4].get<double>();
  }
};

Json sums_of_batch(const Trm& network, const TrmWeights& weights, const engine::Batch& batch) {
  const auto device = weights.high_start.device();
  const auto labels = batch.tensors.at("labels").to(device);  // (B, S)
  const auto rows = network.puzzle_rows(batch.tensors.at("puzzle_identifiers").to(device));
  const auto x = network.embed(weights, batch.tensors.at("inputs").to(device), rows);  // (B, L, H)
  auto latents = network.start(weights, batch.samples);
  Answer answer;
  for (std::int64_t step = 0; step < network.config().halt_max_steps; ++step) {
    answer = network.step(weights, x, latents);
  }
  return ChatSums::of_batch(score_answer(answer, labels, network.config().loss), labels);
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
  const auto examples_of = [&](std::int64_t number) {
    const auto first = examples.begin() + number * batch;
    return std::vector<std::int64_t>(
        first, first + std::min<std::ptrdiff_t>(batch, examples.end() - first));
  };
  const auto batches = (std::ssize(examples) + batch - 1) / batch;
  const engine::RankJobs jobs(batches);
  std::vector<Json> done;
  for (const auto number : jobs.mine()) {
    const auto chosen = examples_of(number);
    done.push_back(sums_of_batch(network, weights, puzzle_batch(set, chosen)));
    if (!should_continue(std::ssize(chosen))) break;
  }
  const auto results = jobs.collect(std::move(done));
  ChatSums sums;
  std::set<std::int64_t> conversations;
  for (std::int64_t number = 0; number < batches; ++number) {
    const auto& result = results[static_cast<std::size_t>(number)];
    scores.stopped = scores.stopped || result.is_null();
    if (result.is_null()) continue;
    sums.add(result);
    for (const auto example : examples_of(number)) conversations.insert(set.puzzle_of(example));
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
