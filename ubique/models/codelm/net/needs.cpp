// SPDX-License-Identifier: Apache-2.0
// Memory and arithmetic of a training step and of inference, counted tensor by tensor.
#include "ubique/models/codelm/net/needs.h"

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

/// Frozen weights in 8 or 4 bits apart from the others, and what is trained.
std::vector<plan::ParameterGroup> weight_groups(std::int64_t count, std::int64_t in_blocks,
                                                const WeightUse& use) {
  if (use.adapters == 0) return {{"network", count, true, 0, in_blocks}};
  std::vector<plan::ParameterGroup> groups;
  if (use.quantized > 0) {
    groups.push_back({"quantised", use.quantized, false, use.quantized_bytes});
  }
  groups.push_back({"base", count - use.quantized, false, 0, in_blocks - use.quantized});
  groups.push_back({"adapters", use.adapters, true, 0});
  return groups;
}

/// f32 values around one piece of the loss: logits, log-softmax and gradients.
std::int64_t loss_piece(const CodelmConfig& config, std::int64_t length, std::int64_t rows) {
  return std::min<std::int64_t>(rows * length * config.vocabulary, std::int64_t{1} << 25) * 4;
}

/// Values that one block keeps for the backward pass, per token.
std::int64_t saved_per_token(const CodelmConfig& config) {
  const auto queries = config.heads * config.head_size, keys = config.kv_heads * config.head_size;
  const auto repeated = config.kv_heads == config.heads ? 0 : 2 * queries;  // keys for every head
  // Without a gate, what goes into the activation and, of three blocks of four, what comes out.
  const auto inner = config.gated ? 4 * config.inner : config.inner * 7 / 4;
  return 4 * config.hidden + 2 * queries + 2 * keys + repeated + inner;
}

}  // namespace

plan::Needs codelm_needs(const CodelmConfig& config, const WeightUse& use) {
  const auto length = use.length;
  const auto count = parameter_count(config);
  plan::Needs needs;
  needs.name = config.name();
  needs.family = "codelm";
  auto outside = config;
  outside.layers = 0;
  needs.parameters = weight_groups(count, count - parameter_count(outside), use);
  needs.blocks = config.layers;
  needs.weight_averages = use.averaged ? 1 : 0;
  needs.effective_batch = 8;
  auto& activations = needs.activations;
  const auto widest = std::max(config.inner * (config.gated ? 2 : 1), 3 * config.hidden);
  activations.saved = config.layers * saved_per_token(config) * length;
  activations.saved_f32 = config.layers * 4 * length;
  activations.loss_piece = loss_piece(config, length, needs.effective_batch);
  activations.transient = 3 * widest * length;
  activations.run = 4 * widest * length;
  activations.kv_cache = 2 * config.layers * config.kv_heads * config.head_size * length;
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
  needs.train_capturable = true;
  needs.dropout = config.dropouts.residual > 0 || config.dropouts.attention > 0;
  needs.checkpointing.supported = true;
  // The inputs of all blocks, which are f32, and one whole block.
  needs.checkpointing.kept = std::min(
      1.0, 2.0 * static_cast<double>(config.hidden) / static_cast<double>(saved_per_token(config)) +
               1.0 / static_cast<double>(config.layers));
  needs.checkpointing.extra = 0.33;
  return needs;
}

WeightUse planned_use(const CodelmConfig& config, const std::optional<AdapterOptions>& adapter,
                      std::optional<kernels::QuantFormat> base) {
  WeightUse use;
  use.length = config.context;
  if (!adapter) return use;
  const auto targets = adapter->targets.empty() ? default_targets(config) : adapter->targets;
  const auto layers = linear_shapes(config);
  for (const auto& layer : target_layers(config, targets)) {
    for (const auto& [name, shape] : layers) {
      if (name == layer) use.adapters += adapter->rank * (shape[0] + shape[1]);
    }
  }
  if (!base) return use;
  for (const auto& [name, shape] : layers) use.quantized += shape[0] * shape[1];
  use.quantized_bytes =
      kernels::bytes_each(*base, /*double_quantized=*/*base == kernels::QuantFormat::Nf4);
  return use;
}

plan::Needs CodelmModel::needs() const {
  WeightUse use;
  use.length = sequence_length();
  use.averaged = averaged_;
  if (adapters_) {
    for (const auto& parameter : adapters_->parameters()) use.adapters += parameter.numel();
  }
  if (adapters_ && network_->is_quantized()) {
    std::int64_t bytes = 0;
    for (const auto& [name, linear] : network_->linear_layers()) {
      use.quantized += linear->quantized->rows * linear->quantized->columns;
      bytes += linear->quantized->bytes();
    }
    use.quantized_bytes = static_cast<double>(bytes) / static_cast<double>(use.quantized);
  }
  return codelm_needs(settings(), use);
}

}  // namespace ubique::codelm
