// SPDX-License-Identifier: Apache-2.0
// The network as a torch module, with the original system's state-dict names
// (model.inner.L_level.layers.0.mlp.gate_up_proj.weight). One small stack of blocks is applied
// repeatedly to two latent states. Knows no device.
#pragma once

#include <torch/nn/module.h>

#include <vector>

#include "ubique/base/numbers/random.h"
#include "ubique/kernels/mixer/gated_mlp.h"
#include "ubique/kernels/mixer/gated_mlp_stack.h"
#include "ubique/models/trm/net/config.h"
#include "ubique/plan/needs.h"

namespace ubique::trm {

/// The recurrent state between supervision steps: z_H, from which the answer is read, and z_L.
struct Latents {
  at::Tensor high, low;  ///< z_H and z_L: (B, L, H)
};

struct Answer {
  at::Tensor logits;  ///< (B, S, V), in the compute dtype
  at::Tensor halt;    ///< (B, 2), f32: logits of halt and continue
};

/// One block's weights.
struct BlockWeights {
  kernels::CastWeight qkv, out;  ///< attention's: (3H, H), (H, H)
  kernels::GatedWeights tokens;  ///< mlp_t: an MLP over positions instead of attention
  kernels::GatedWeights channels;
};

/// All weights cast to one dtype; valid until the parameters change.
struct TrmWeights {
  at::ScalarType dtype = at::kFloat;
  kernels::CastWeight tokens, head, halt, halt_bias, positions;
  at::Tensor high_start, low_start;  ///< (H)
  at::Tensor rope_cos, rope_sin;     ///< (L, head size), f32; with Positions::Rope only
  std::vector<BlockWeights> blocks;
  kernels::GatedMlpStack
      small_batch;  ///< mlp_t: packed for a device's kernels for few samples, if it has any
};

class Trm final : public torch::nn::Module {
 public:
  /// Weights are zero until initialize() or engine::load_state().
  explicit Trm(TrmConfig config);

  const TrmConfig& config() const { return config_; }
  /// The puzzle embeddings (ids, ndim); undefined if there are none. A buffer, not a parameter:
  /// training passes looked-up rows to embed() and updates the table from their gradients.
  at::Tensor puzzle_table() const { return puzzle_table_; }
  /// Rows of the table for these puzzles (B, ndim); undefined without a table.
  at::Tensor puzzle_rows(const at::Tensor& ids) const;

  /// Whether training keeps the MLPs' gate and up values or recomputes them.
  void set_activations(kernels::Activations tokens, kernels::Activations channels);

  TrmWeights cast(at::ScalarType dtype) const;

  /// Tokens (B, S), any integer dtype, and puzzle rows (B, ndim) or undefined, to (B, L, H).
  at::Tensor embed(const TrmWeights& weights, const at::Tensor& inputs,
                   const at::Tensor& rows) const;
  Latents start(const TrmWeights& weights, std::int64_t batch) const;
  /// One supervision step: H_cycles rounds, gradients through the last one only. `x` is the result
  /// of embed(); the latents are replaced by detached ones.
  Answer step(const TrmWeights& weights, const at::Tensor& x, Latents& latents) const;

  /// One call of the stack: blocks(h + injected). A round has L_cycles + 1 calls.
  at::Tensor call(const TrmWeights& weights, const at::Tensor& h, const at::Tensor& injected) const;
  at::Tensor block(const TrmWeights& weights, std::size_t index, const at::Tensor& x) const;

 private:
  /// `times` calls in sequence, with the same injection.
  at::Tensor calls(const TrmWeights& weights, at::Tensor h, const at::Tensor& injected,
                   std::int64_t times) const;
  void round(const TrmWeights& weights, const at::Tensor& x, Latents& latents) const;

  TrmConfig config_;
  kernels::Activations token_activations_ = kernels::Activations::Recompute,
                       channel_activations_ = kernels::Activations::Keep;
  struct Block {
    at::Tensor qkv, out, token_gate_up, token_down, gate_up, down;
  };
  std::vector<Block> blocks_;
  mutable at::Tensor rope_cos_, rope_sin_;  // cached on the weights' device; not in the state dict
  at::Tensor tokens_, head_, halt_, halt_bias_, positions_, puzzle_table_, high_start_, low_start_;
};

/// Initial weights drawn on the host: the same bits on every device and machine.
void initialize(Trm& network, const Random& random);

/// Memory, arithmetic and operations of training and inference, for the plan.
plan::Needs needs_of(const TrmConfig& config);

}  // namespace ubique::trm
