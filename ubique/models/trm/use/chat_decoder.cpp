// SPDX-License-Identifier: Apache-2.0
// The recursion over new positions with one KV cache per block and call.
#include "ubique/models/trm/use/chat_decoder.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "ubique/base/error.h"
#include "ubique/nn/layers/attention.h"

namespace ubique::trm {

void check_chat_model(const TrmConfig& config) {
  check(config.causal && !config.mlp_t, ErrorKind::Input,
        "[trm.chat] this is not a chat model: its tokens see later ones; got {}, expected a "
        "model with arch.causal, such as --config configs/trm/chat.yaml trains.",
        config.name());
  check(config.prefix() == 0, ErrorKind::Input,
        "[trm.chat] a chat model has no prefix before the text; got {} tokens of a puzzle "
        "embedding, expected puzzle_emb_ndim 0 and puzzle_emb_len 0.",
        config.prefix());
}

ChatDecoder::ChatDecoder(const Trm& network, at::ScalarType dtype) : network_(network) {
  const auto& config = network_.config();
  check_chat_model(config);
  const at::NoGradGuard no_gradients;
  weights_ = network_.cast(dtype);
  const auto calls = config.halt_max_steps * config.high_cycles * (config.low_cycles + 1);
  const auto options = weights_.tokens.value.options();
  for (std::int64_t i = 0; i < calls * config.layers; ++i) {
    caches_.push_back(
        nn::KvCache::make(1, config.num_heads, context_length(), config.head_size(), options));
  }
}

at::Tensor ChatDecoder::embedded(std::span<const std::int32_t> added) const {
  const auto device = weights_.tokens.value.device();
  const auto first = static_cast<std::int64_t>(tokens().size());
  const auto count = static_cast<std::int64_t>(added.size());
  auto ids = at::tensor(at::ArrayRef<int>(added.data(), added.size()), at::kInt).to(device);
  if (network_.config().positions != Positions::Learned) {
    return network_.embed(weights_, ids.unsqueeze(0), {});  // (1, n, H)
  }
  // embed() adds the position table to a whole text: the new tokens are padded to their positions.
  ids = at::constant_pad_nd(ids, {first, context_length() - first - count});
  return network_.embed(weights_, ids.unsqueeze(0), {}).slice(1, first, first + count);
}

at::Tensor ChatDecoder::call(const at::Tensor& h, const at::Tensor& injected, std::size_t& cache) {
  const nn::AttentionConfig attention{.heads = network_.config().num_heads,
                                      .causal = true,
                                      .cos = weights_.rope_cos,
                                      .sin = weights_.rope_sin};
  auto x = h + injected;  // (1, n, H)
  for (const auto& block : weights_.blocks) {
    const auto branch = nn::attention_step(x, block.qkv, block.out, attention, caches_[cache++],
                                           static_cast<std::int64_t>(tokens().size()));
    x = kernels::swiglu_block(kernels::post_norm(x, branch), block.channels,
                              kernels::Activations::Recompute);
  }
  return x;
}

nn::Predictions ChatDecoder::append(const nn::Extension& extension, std::int64_t predicted,
                                    nn::Wanted wanted) {
  const at::NoGradGuard no_gradients;
  const auto& config = network_.config();
  const auto x = embedded(extension.tokens);
  auto high = weights_.high_start.expand_as(x), low = weights_.low_start.expand_as(x);
  std::size_t cache = 0;
  for (std::int64_t round = 0; round < config.halt_max_steps * config.high_cycles; ++round) {
    const auto injected = high + x;
    for (std::int64_t i = 0; i < config.low_cycles; ++i) low = call(low, injected, cache);
    high = call(high, low, cache);
  }
  const auto last = high[0].slice(0, high.size(1) - predicted);  // (predicted, H)
  return nn::read_predictions(at::linear(last, weights_.head.use()), wanted);
}

}  // namespace ubique::trm
