// SPDX-License-Identifier: Apache-2.0
// Sums over batches of rows.
#include "ubique/models/codelm/score/perplexity.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "ubique/models/codelm/net/model.h"

namespace ubique::codelm {

TokenScores evaluate_perplexity(const Codelm& network, const CodeDataset& rows,
                                std::int64_t most_rows, std::int64_t batch) {
  const at::NoGradGuard no_gradients;
  const auto count = most_rows > 0 ? std::min(most_rows, rows.size()) : rows.size();
  const auto device = network.head().device();
  TokenScores scores;
  double loss = 0, correct = 0;
  for (std::int64_t first = 0; first < count; first += batch) {
    std::vector<std::int64_t> indices;
    for (auto i = first; i < std::min(first + batch, count); ++i) indices.push_back(i);
    auto loaded = rows.load(indices, engine::SampleRandoms(Random(0)));
    for (auto& [name, tensor] : loaded.tensors) tensor = tensor.to(device);
    const auto part = batch_loss(network, loaded, {});
    loss += part.sum.item<double>();
    correct += part.correct.item<double>();
    scores.tokens += loaded.weight;
  }
  if (scores.tokens > 0) {
    scores.loss = loss / scores.tokens;
    scores.accuracy = correct / scores.tokens;
  }
  return scores;
}

}  // namespace ubique::codelm
