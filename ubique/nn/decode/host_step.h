// SPDX-License-Identifier: Apache-2.0
// A pass over a few new tokens on the CPU in code of our own: LibTorch's threads are woken once for
// the whole pass, and no tensor is made in it. One token of a small model takes little more than
// reading its weights.
#pragma once

#include <span>
#include <vector>

#include "ubique/kernels/host/host_team.h"
#include "ubique/nn/decode/decoder.h"
#include "ubique/nn/decode/host_network.h"
#include "ubique/nn/layers/kv_cache.h"

namespace ubique::nn {

/// A new token: of which slot (row of the caches), and where in its text.
struct HostToken {
  std::int32_t id = 0;
  std::int64_t slot = 0, position = 0;
};

class HostStep {
 public:
  static constexpr std::size_t kMostTokens = 16;  ///< beyond, whole matrix products are faster

  explicit HostStep(HostNetwork network);
  ~HostStep();

  /// Stores the tokens' keys and values in the caches, one for each block, f32 or bf16, and
  /// predicts what follows the tokens from `first_predicted` on. Tokens of one text stand in their
  /// order. Input error for a logit that is no number, if the likeliest tokens are wanted.
  Predictions run(std::span<const HostToken> tokens, std::size_t first_predicted, Wanted wanted,
                  std::span<const KvCache> caches);

 private:
  struct Buffers;
  struct Heads;
  class Pass;

  HostNetwork network_;
  std::unique_ptr<Buffers> buffers_;
};

}  // namespace ubique::nn
