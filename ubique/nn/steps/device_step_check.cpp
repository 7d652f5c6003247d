// SPDX-License-Identifier: Apache-2.0
// A decoding step in plain ops, and the comparison of a device's kernels with it before their first
// use.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include "ubique/kernels/dispatch/self_check.h"
#include "ubique/nn/layers/attention.h"
#include "ubique/nn/layers/norm.h"
#include "ubique/nn/layers/rope.h"
#include "ubique/nn/steps/device_step.h"

namespace ubique::nn {
namespace {

constexpr std::int64_t kTriedPositions = 600;  // of the caches: more than one span

at::Tensor plain_linear(const at::Tensor& x, const HostLinear& layer) {
  const auto bias = layer.bias.defined() ? layer.bias.to(x.scalar_type()) : layer.bias;
  return at::linear(x, layer.weight, bias);
}

at::Tensor plain_norm(const at::Tensor& x, const HostNormWeights& weights,
                      const HostNetwork& network) {
  return network.center ? layer_norm(x, weights.weight, weights.bias, network.epsilon)
                        : rms_norm(x, weights.weight, network.epsilon);
}

/// Queries, keys and values of the rows, (B, heads, 1, size) each.
std::vector<at::Tensor> plain_heads(const at::Tensor& normed, const HostBlock& block,
                                    const HostNetwork& network) {
  const auto size = network.head_size, heads = network.heads, kv_heads = network.kv_heads;
  std::vector<at::Tensor> products;
  for (const auto& layer : block.qkv) products.push_back(plain_linear(normed, layer));
  auto product = at::cat(products, -1);
  if (network.by_head) {
    const auto parts = product.view({-1, heads, 3, size});
    return {parts.select(2, 0).unsqueeze(2), parts.select(2, 1).unsqueeze(2),
            parts.select(2, 2).unsqueeze(2)};
  }
  const auto parts = product.view({-1, heads + 2 * kv_heads, 1, size})
                         .split_with_sizes({heads, kv_heads, kv_heads}, 1);
  return {parts[0], parts[1], parts[2]};
}

at::Tensor plain_attention(const at::Tensor& normed, const HostBlock& block,
                           const HostNetwork& network, KvCache cache, const at::Tensor& positions) {
  auto heads = plain_heads(normed, block, network);
  if (block.q_norm.defined()) {
    heads[0] = rms_norm(heads[0], block.q_norm, network.epsilon);
    heads[1] = rms_norm(heads[1], block.k_norm, network.epsilon);
  }
  if (network.cos.defined()) {
    const auto rows = [&](const at::Tensor& table) {
      return at::embedding(table, positions).unsqueeze(1).unsqueeze(1);  // (B, 1, 1, r)
    };
    for (auto* each : {heads.data(), heads.data() + 1}) {
      *each = apply_rope(*each, rows(network.cos), rows(network.sin));
    }
  }
  const NewPositions places{.positions = positions.unsqueeze(1), .extent = cache.capacity()};
  cache.store(heads[1], heads[2], places);
  const auto mixed =
      masked_attention(heads[0], cache.keys, cache.values, cached_mask(places, block.window, true));
  return plain_linear(mixed.flatten(1), block.output);
}

at::Tensor plain_feed_forward(const at::Tensor& normed, const HostBlock& block,
                              const HostNetwork& network) {
  auto inner = activate(plain_linear(normed, block.inner.front()), network.activation);
  if (block.inner.size() == 2) inner = inner * plain_linear(normed, block.inner.back());
  return plain_linear(inner, block.down);
}

at::Tensor plain_logits(const HostNetwork& network, const at::Tensor& inputs,
                        std::span<const KvCache> caches) {
  auto x = at::embedding(network.tokens, inputs[0]);
  if (network.positions.defined()) x = x + at::embedding(network.positions, inputs[1]);
  for (std::size_t i = 0; i < network.blocks.size(); ++i) {
    const auto& block = network.blocks[i];
    const auto first = plain_norm(x, block.first_norm, network);
    const auto attended = plain_attention(first, block, network, caches[i], inputs[1]);
    const auto sum = x + attended;
    const auto second = network.parallel ? first : plain_norm(sum, block.second_norm, network);
    x = sum + plain_feed_forward(second, block, network);
  }
  return plain_linear(plain_norm(x, network.final_norm, network), network.head).to(at::kFloat);
}

/// What the caches have at the new positions: (2, blocks, B, kv heads, size).
at::Tensor stored(std::span<const KvCache> caches, const at::Tensor& positions) {
  std::vector<at::Tensor> found;
  for (const auto& cache : caches) {
    for (const auto& each : {cache.keys, cache.values}) {
      const auto index = positions.view({-1, 1, 1, 1}).expand({-1, each.size(1), 1, each.size(3)});
      found.push_back(each.gather(2, index));
    }
  }
  return at::stack(found);
}

/// Made-up texts of `rows` different lengths: ids, and positions of which the last is the highest.
at::Tensor tried_inputs(const HostNetwork& network, std::int64_t rows, std::int64_t capacity) {
  auto inputs = at::empty({2, rows}, at::TensorOptions(at::kLong));
  auto* values = inputs.mutable_data_ptr<std::int64_t>();
  for (std::int64_t row = 0; row < rows; ++row) {
    values[row] = (1 + 7919 * row) % network.tokens.size(0);
    values[rows + row] = capacity - 1 - row * 211 % capacity;
  }
  return inputs.to(network.tokens.device());
}

std::vector<KvCache> tried_caches(const HostNetwork& network, std::int64_t rows,
                                  std::int64_t capacity) {
  std::vector<KvCache> caches;
  int seed = 0;
  for (std::size_t i = 0; i < network.blocks.size(); ++i) {
    const auto values = [&] {
      return kernels::test_values({rows, network.kv_heads, capacity, network.head_size},
                                  network.tokens, ++seed);
    };
    auto keys = values();
    caches.push_back({keys, values()});
  }
  return caches;
}

std::string shape_name(const HostNetwork& network, std::int64_t rows) {
  const auto& block = network.blocks.front();
  return fmt::format(
      "decoding of {} texts, width {}, {} of {} heads of {}, {}, inner {}{}, {} tokens, window {}, "
      "{}{}{}",
      rows, network.hidden, network.kv_heads, network.heads, network.head_size,
      network.by_head ? "by head" : "fused", block.inner.front().out, network.gated ? " gated" : "",
      network.head.out, block.window, network.center ? "layer norm" : "RMS norm",
      network.parallel ? ", parallel" : "", network.cos.defined() ? ", rotary" : "");
}

}  // namespace

std::vector<at::Tensor> try_plain_step(const HostNetwork& network, const at::Tensor& inputs,
                                       std::span<const KvCache> caches) {
  const auto logits = plain_logits(network, inputs, caches);
  return {logits, stored(caches, inputs[1]), std::get<0>(logits.max(-1))};
}

std::vector<at::Tensor> try_device_step(const HostNetwork& network, const at::Tensor& inputs,
                                        std::span<const KvCache> caches) {
  DeviceStep step(network, inputs.size(1));
  step.prepare(caches.front().capacity());
  const auto results = step.make_results();
  step.run(inputs, caches, results);
  const auto ids = results.likeliest.narrow(1, 0, 1).to(at::kLong);  // (B, 1)
  return {results.logits, stored(caches, inputs[1]), results.logits.gather(1, ids).squeeze(1)};
}

bool device_step_passes(const HostNetwork& network, std::int64_t rows) {
  return kernels::passes_self_check(shape_name(network, rows), network.tokens, [&] {
    auto one = network;
    one.blocks.resize(1);
    const auto& table = network.positions.defined() ? network.positions : network.cos;
    const auto capacity =
        table.defined() ? std::min(kTriedPositions, table.size(0)) : kTriedPositions;
    const auto inputs = tried_inputs(one, rows, capacity);
    const auto caches = tried_caches(one, rows, capacity);
    std::vector<KvCache> others;
    for (const auto& cache : caches) others.push_back({cache.keys.clone(), cache.values.clone()});
    const at::NoGradGuard no_gradients;
    return kernels::trials_of(try_device_step(one, inputs, caches),
                              try_plain_step(one, inputs, others));
  });
}

}  // namespace ubique::nn
