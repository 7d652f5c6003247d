// SPDX-License-Identifier: Apache-2.0
// Memory and arithmetic of this implementation, counted tensor by tensor as network.cpp and the
// kernels allocate them.
#include <algorithm>

#include "ubique/models/trm/net/network.h"

namespace ubique::trm {
namespace {

/// One call of one block, for one puzzle.
struct BlockNeed {
  std::int64_t kept = 0, kept_f32 = 0;  ///< values saved for backward
  std::int64_t widest = 0;              ///< values of the largest tensor
  double multiplications = 0;
};

BlockNeed block_need(const TrmConfig& config) {
  const auto l = config.length(), h = config.hidden_size, cells = l * h;
  const auto inner = config.inner_size(h);
  BlockNeed need;
  need.kept = 2 * cells + 2 * inner * l;  // inputs of both sub-layers, the MLP's gate and up values
  need.kept_f32 = l;                      // inverse RMS of the norm
  need.widest = 2 * inner * l;
  need.multiplications = 3.0 * static_cast<double>(inner * h * l);
  if (config.mlp_t) {
    const auto tokens = config.inner_size(l);
    need.kept_f32 += h;
    need.widest = std::max(need.widest, 2 * tokens * h);
    need.multiplications += 3.0 * static_cast<double>(tokens * l * h);
  } else {
    need.kept += 5 * cells;  // q, k, v, the rotated q and k, the output of the heads
    need.kept_f32 += l * config.num_heads + l;
    need.multiplications += static_cast<double>(4 * h * cells + 2 * l * cells);
  }
  return need;
}

std::vector<probe::Case> probes_of(const TrmConfig& config) {
  probe::Case linear{.op = "linear", .shape = {4, 16, config.hidden_size}};
  linear.out_channels = config.hidden_size;
  linear.dtypes = {DType::F32, DType::BF16, DType::F16};
  return {linear};
}

}  // namespace

plan::Needs needs_of(const TrmConfig& config) {
  const auto block = block_need(config);
  const auto cells = config.length() * config.hidden_size;
  const auto calls = config.low_cycles + 1;                            // per round
  const auto kept_blocks = calls * config.layers;                      // with gradients
  const auto all_blocks = config.high_cycles * calls * config.layers;  // per step
  plan::Needs needs;
  needs.name = config.name();
  needs.family = "trm";
  needs.parameters = {{"network", parameter_count(config), true, 0}};
  const auto table = config.num_puzzle_identifiers * config.puzzle_emb_ndim;
  if (table > 0) needs.parameters.push_back({"puzzle table", table, false, 4});
  auto& activations = needs.activations;
  activations.saved =
      kept_blocks * block.kept + (calls + 4) * cells;  // also the sums, x and latents
  activations.saved_f32 = kept_blocks * block.kept_f32;
  activations.loss = 4 * config.seq_len * config.vocab_size;
  activations.transient = 3 * block.widest + 2 * cells;
  activations.run = 2 * block.widest + 6 * cells;
  activations.largest = block.widest;
  needs.flops_run =
      2 * block.multiplications * static_cast<double>(config.halt_max_steps * all_blocks);
  needs.flops_train = 2 * block.multiplications * static_cast<double>(all_blocks + 2 * kept_blocks);
  needs.inputs = {{"inputs", {config.seq_len}, DType::I32},
                  {"labels", {config.seq_len}, DType::I32}};
  if (!config.mlp_t) {
    plan::AttentionNeed attention{.layers = kept_blocks,
                                  .heads = config.num_heads,
                                  .kv_heads = config.num_heads,
                                  .head_dim = config.head_size(),
                                  .queries = config.length(),
                                  .keys = config.length()};
    attention.causal = config.causal;
    needs.attention = {attention};
  }
  needs.ops = {"matmul", "linear"};
  needs.probes = probes_of(config);
  needs.tolerates_bf16 = needs.tolerates_f16 = true;
  needs.f32_on_metal = true;
  needs.graph_capturable = needs.train_capturable = true;
  needs.optimizer = "adam_atan2";
  needs.own_optimizer = true;  // sign-based updates of the puzzles, beside the network's
  needs.weight_averages = 1;
  needs.effective_batch = 768;
  needs.run_batch = 512;
  needs.busy_batch = 64;
  // Checkpointing also recomputes the gate and up values of the channel MLP.
  const auto wide = static_cast<double>(kept_blocks * 2 * config.inner_size(config.hidden_size) *
                                        config.length());
  needs.checkpointing.supported = true;
  needs.checkpointing.kept = 1 - wide / static_cast<double>(activations.saved);
  needs.checkpointing.extra = 0.1;
  return needs;
}

}  // namespace ubique::trm
