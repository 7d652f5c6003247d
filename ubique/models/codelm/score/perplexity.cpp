// SPDX-License-Identifier: Apache-2.0
// Sums over batches of rows.
#include "ubique/models/codelm/score/perplexity.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "ubique/engine/ranks/rank_jobs.h"
#include "ubique/models/codelm/net/model.h"

namespace ubique::codelm {

TokenScores evaluate_perplexity(const Codelm& network, const CodeDataset& rows,
                                std::int64_t most_rows, std::int64_t batch) {
  const at::NoGradGuard no_gradients;
  const auto count = most_rows > 0 ? std::min(most_rows, rows.size()) : rows.size();
  const auto device = network.head().device();
  const auto batches = (count + batch - 1) / batch;
  const auto sums_of = [&](std::int64_t number) -> std::vector<double> {
    std::vector<std::int64_t> indices;
    const auto first = number * batch;
    for (auto i = first; i < std::min(first + batch, count); ++i) indices.push_back(i);
    auto loaded = rows.load(indices, engine::SampleRandoms(Random(0)));
    for (auto& [name, tensor] : loaded.tensors) tensor = tensor.to(device);
    const auto part = batch_loss(network, loaded, {});
    return {part.sum.item<double>(), part.correct.item<double>(), loaded.weight};
  };
  const auto sums = engine::share_sums(batches, 3, sums_of);
  TokenScores scores{.tokens = sums[2]};
  if (scores.tokens > 0) {
    scores.loss = sums[0] / scores.tokens;
    scores.accuracy = sums[1] / scores.tokens;
  }
  return scores;
}

}  // namespace ubique::codelm
