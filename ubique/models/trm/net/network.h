// SPDX-License-Identifier: Apache-2.0
// The network as a torch module, with the original system's state-dict names
// (model.inner.L_level.layers.0.mlp.gate_up_proj.weight). One small stack of blocks is called again
// and again on two latent states. Knows no device.
#pragma once

#include <torch/nn/module.h>

#include <vector>

#include "ubique/base/numbers/random.h"
#include "ubique/kernels/mixer/gated_mlp.h"
#include "ubique/kernels/mixer/gated_mlp_stack.h"
#include "ubique/models/trm/net/config.h"
#include "ubique/plan/needs.h"

namespace ubique::trm {

/// What a supervision step hands to the next: the answer so far and what is thought about it.
struct Latents {
  at::Tensor high, low;  ///< z_H and z_L: (B, L, H)
};

struct Answer {
  at::Tensor logits;  ///< (B, S, V), in the dtype computed in
  at::Tensor halt;    ///< (B, 2), f32: halt, go on
};

/// One block's weights.
struct BlockWeights {
  kernels::CastWeight qkv, out;  ///< attention's: (3H, H), (H, H)
  kernels::GatedWeights tokens;  ///< in place of attention: over L
  kernels::GatedWeights channels;
};

/// All weights in one dtype, cast once, good until the parameters change.
struct TrmWeights {
  at::ScalarType dtype = at::kFloat;
  kernels::CastWeight tokens, head, halt, halt_bias, positions;
  at::Tensor high_start, low_start;  ///< (H)
  at::Tensor rope_cos, rope_sin;     ///< (L, head size), f32; for Rope alone
  std::vector<BlockWeights> blocks;
  kernels::MixStack few;  ///< the same blocks for few samples, where a device has kernels for them
};

class Trm final : public torch::nn::Module {
 public:
  /// Weights are zero until initialize() or engine::load_state().
  explicit Trm(TrmConfig config);

  const TrmConfig& config() const { return config_; }
  /// The table of puzzles (ids, ndim); undefined if there is none. Not a parameter: whoever trains
  /// it hands rows of it to embed() and updates it by their gradients.
  at::Tensor puzzle_table() const { return puzzle_table_; }
  /// Its rows for these puzzles (B, ndim); undefined without a table.
  at::Tensor puzzle_rows(const at::Tensor& ids) const;

  /// How much of the widest values a training step keeps.
  void keep(kernels::Kept tokens, kernels::Kept channels);

  TrmWeights cast(at::ScalarType dtype) const;

  /// Tokens (B, S), any integer, and rows of the table (B, ndim) or undefined: (B, L, H).
  at::Tensor embed(const TrmWeights& weights, const at::Tensor& inputs,
                   const at::Tensor& rows) const;
  Latents start(const TrmWeights& weights, std::int64_t batch) const;
  /// One supervision step: H_cycles rounds, gradients through the last one alone. `x` is embed()'s;
  /// the latents are replaced, without gradient.
  Answer step(const TrmWeights& weights, const at::Tensor& x, Latents& latents) const;

  /// One call of the stack, of which a round has several: blocks(h + injected).
  at::Tensor call(const TrmWeights& weights, const at::Tensor& h, const at::Tensor& injected) const;
  at::Tensor block(const TrmWeights& weights, std::size_t index, const at::Tensor& x) const;

 private:
  /// `times` calls, each on what the one before it gave.
  at::Tensor calls(const TrmWeights& weights, at::Tensor h, const at::Tensor& injected,
                   std::int64_t times) const;
  void round(const TrmWeights& weights, const at::Tensor& x, Latents& latents) const;

  TrmConfig config_;
  kernels::Kept kept_tokens_ = kernels::Kept::Narrow, kept_channels_ = kernels::Kept::Wide;
  struct Block {
    at::Tensor qkv, out, token_gate_up, token_down, gate_up, down;
  };
  std::vector<Block> blocks_;
  mutable at::Tensor rope_cos_, rope_sin_;  // where the weights are; not part of the state
  at::Tensor tokens_, head_, halt_, halt_bias_, positions_, puzzle_table_, high_start_, low_start_;
};

/// Fresh weights from the host's generator, the same bits on every device and machine.
void initialize(Trm& network, const Random& random);

/// What training and inference take for one puzzle.
plan::Needs needs_of(const TrmConfig& config);

}  // namespace ubique::trm
