// SPDX-License-Identifier: Apache-2.0
// Memory and arithmetic of a training step and of inference, counted tensor by tensor.
#include <algorithm>

#include "ubique/models/codelm/net/layout.h"
#include "ubique/models/codelm/net/model.h"

namespace ubique::codelm {
namespace {

std::vector<probe::Case> linear_probes(const CodelmConfig& config) {
  probe::Case linear{.op = "linear", .shape = {4, 16, config.hidden}};
  linear.out_channels = config.hidden;
  linear.dtypes = {DType::F32, DType::BF16, DType::F16};
  return {linear};
}

plan::AttentionNeed attention_need(const CodelmConfig& config, std::int64_t length) {
  plan::AttentionNeed need{.layers = config.layers,
                           .heads = config.heads,
                           .kv_heads = config.kv_heads,
                           .head_dim = config.head_size,
                           .queries = length,
                           .keys = length,
                           .window = config.window};
  need.causal = true;
  need.dropout = config.dropouts.attention > 0;
  return need;
}

/// The frozen weights: those in 8 or 4 bits apart from the others.
std::vector<plan::ParameterGroup> base_groups(Codelm& network, std::int64_t count) {
  if (!network.is_quantized()) return {{"base", count, false, 0}};
  std::int64_t packed = 0, bytes = 0;
  for (const auto& [name, linear] : network.linear_layers()) {
    packed += linear->quantized->rows * linear->quantized->columns;
    bytes += linear->quantized->bytes();
  }
  return {{"quantised", packed, false, static_cast<double>(bytes) / static_cast<double>(packed)},
          {"base", count - packed, false, 0}};
}

/// Values that one block keeps for the backward pass, per token.
std::int64_t saved_per_token(const CodelmConfig& config) {
  const auto queries = config.heads * config.head_size, keys = config.kv_heads * config.head_size;
  const auto repeated = config.kv_heads == config.heads ? 0 : 2 * queries;  // keys for every head
  const auto inner = config.inner * (config.gated ? 4 : 2);
  return 4 * config.hidden + 2 * queries + 2 * keys + repeated + inner;
}

}  // namespace

plan::Needs CodelmModel::needs() const {
  const auto& config = settings();
  const auto length = sequence_length();
  const auto count = parameter_count(config);
  plan::Needs needs;
  needs.name = config.name();
  needs.family = "codelm";
  if (adapters_) {
    std::int64_t trained = 0;
    for (const auto& parameter : adapters_->parameters()) trained += parameter.numel();
    needs.parameters = base_groups(*network_, count);
    needs.parameters.push_back({"adapters", trained, true, 0});
  } else {
    needs.parameters = {{"network", count, true, 0}};
  }
  auto& activations = needs.activations;
  const auto widest = std::max(config.inner * (config.gated ? 2 : 1), 3 * config.hidden);
  activations.saved = config.layers * saved_per_token(config) * length;
  activations.saved_f32 = config.layers * 4 * length;
  // Logits exist in pieces: one in f32 with its log-softmax and gradient.
  activations.loss = std::min<std::int64_t>(length * config.vocabulary, std::int64_t{1} << 25) * 4;
  activations.transient = 3 * widest * length;
  activations.run = 4 * widest * length +
                    2 * config.layers * config.kv_heads * config.head_size * length;  // KV cache
  activations.largest = std::max(widest * length, config.vocabulary * config.hidden);
  const auto products = 2.0 * static_cast<double>(count) * static_cast<double>(length);
  const auto scores = 2.0 * static_cast<double>(config.layers * config.heads * config.head_size) *
                      static_cast<double>(length) * static_cast<double>(length);
  needs.flops_run = products + scores;
  needs.inputs = {{"ids", {length}, DType::I64}, {"labels", {length}, DType::I64}};
  needs.attention = {attention_need(config, length)};
  needs.ops = {"matmul", "linear"};
  needs.probes = linear_probes(config);
  needs.tolerates_bf16 = needs.tolerates_f16 = true;
  needs.graph_capturable = true;  // a step of the decoder
  needs.dropout = config.dropouts.residual > 0 || config.dropouts.attention > 0;
  needs.effective_batch = 8;
  needs.checkpointing.supported = true;
  needs.checkpointing.kept =
      2.0 * static_cast<double>(config.hidden) / static_cast<double>(saved_per_token(config));
  needs.checkpointing.extra = 0.33;
  return needs;
}

}  // namespace ubique::codelm
