// SPDX-License-Identifier: Apache-2.0
// Loss, perplexity and accuracy of next-token prediction: each token counts the same, padding and
// prompts not at all.
#pragma once

#include <cmath>
#include <cstdint>

#include "ubique/models/codelm/data/dataset.h"
#include "ubique/models/codelm/net/network.h"

namespace ubique::codelm {

struct TokenScores {
  double loss = 0;      ///< mean over tokens, in nats
  double accuracy = 0;  ///< share of tokens that have the largest logit
  double tokens = 0;

  double perplexity() const { return std::exp(loss); }
};

/// Of the first `most_rows` rows (0: all), in batches of `batch`; without gradients. All ranks,
/// each its share of the batches.
TokenScores evaluate_perplexity(const Codelm& network, const CodeDataset& rows,
                                std::int64_t most_rows, std::int64_t batch = 8);

}  // namespace ubique::codelm
