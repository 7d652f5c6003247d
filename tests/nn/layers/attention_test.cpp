// SPDX-License-Identifier: Apache-2.0
// Attention against an explicit softmax, grouped against full, windows against masks, and decoding
// with a KV cache against the full causal pass.
#include "ubique/nn/layers/attention.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include <cmath>

#include "tests/base/scratch.h"
#include "tests/tensors.h"
#include "ubique/nn/layers/norm.h"
#include "ubique/nn/layers/rope.h"

using namespace ubique;
using test::distance;
using test::random_tensor;

namespace {

constexpr std::int64_t kBatch = 2, kLength = 7, kHidden = 16, kHeads = 4, kHeadSize = 6;
constexpr double kBlockEpsilon = 1e-5;  // of the norm in attention_block()

/// kLength positions divided into steps.
const std::vector<std::vector<std::int64_t>> kStepLengths = {
    {1, 1, 1, 1, 1, 1, 1}, {4, 1, 2}, {kLength}};

/// softmax(q·kᵀ/√size)·v where `seen` (n, m) is true.
at::Tensor masked_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                            const at::Tensor& seen) {
  const auto scores =
      at::matmul(q, k.transpose(-1, -2)) / std::sqrt(static_cast<double>(q.size(-1)));
  return at::matmul(scores.masked_fill(seen.logical_not(), -INFINITY).softmax(-1), v);
}

/// Query i of n, the last of m positions, sees itself and the window - 1 positions before it.
at::Tensor window_mask(std::int64_t n, std::int64_t m, std::int64_t window) {
  auto seen = at::zeros({n, m}, at::kBool);
  for (std::int64_t i = 0; i < n; ++i) {
    const auto own = m - n + i;
    seen[i].slice(0, std::max<std::int64_t>(0, own - window + 1), own + 1).fill_(true);
  }
  return seen;
}

struct AttentionWeights {
  kernels::CastWeight qkv, out;
};

AttentionWeights attention_weights(std::int64_t kv_heads) {
  const auto rows = (kHeads + 2 * kv_heads) * kHeadSize;
  return {{random_tensor({rows, kHidden}, 21) / 4, at::kFloat},
          {random_tensor({kHidden, kHeads * kHeadSize}, 22) / 4, at::kFloat}};
}

nn::AttentionConfig causal_config(std::int64_t kv_heads, std::int64_t window, bool rotated) {
  nn::AttentionConfig config{
      .heads = kHeads, .kv_heads = kv_heads, .causal = true, .window = window};
  if (rotated) std::tie(config.cos, config.sin) = nn::rope_tables(kLength, kHeadSize, at::kCPU);
  return config;
}

/// All positions through one KV cache, in steps of these lengths.
at::Tensor decoded(const at::Tensor& x, const AttentionWeights& weights,
                   const nn::AttentionConfig& config, const std::vector<std::int64_t>& lengths) {
  auto cache = nn::KvCache::make(kBatch, config.kv_heads, kLength, kHeadSize, x.options());
  std::vector<at::Tensor> outputs;
  std::int64_t first = 0;
  for (const auto count : lengths) {
    outputs.push_back(nn::attention_step(x.slice(1, first, first + count), weights.qkv, weights.out,
                                         config, cache, first));
    first += count;
  }
  return at::cat(outputs, 1);
}

}  // namespace

TEST_CASE("attention: without a mask it is the softmax formula") {
  const auto q = random_tensor({kBatch, kHeads, 3, kHeadSize}, 1);
  const auto k = random_tensor({kBatch, kHeads, kLength, kHeadSize}, 2);
  const auto v = random_tensor({kBatch, kHeads, kLength, kHeadSize}, 3);
  const auto expected = masked_attention(q, k, v, at::ones({3, kLength}, at::kBool));
  CHECK(distance(nn::attention(q, k, v, {.heads = kHeads}), expected) < 1e-5);
}

TEST_CASE("attention: grouped-query is full attention with repeated key and value heads") {
  const auto q = random_tensor({kBatch, kHeads, kLength, kHeadSize}, 1);
  for (const std::int64_t kv_heads : {1, 2}) {
    CAPTURE(kv_heads);
    const auto k = random_tensor({kBatch, kv_heads, kLength, kHeadSize}, 2);
    const auto v = random_tensor({kBatch, kv_heads, kLength, kHeadSize}, 3);
    const auto times = kHeads / kv_heads;
    for (const bool causal : {false, true}) {
      const auto full =
          nn::attention(q, k.repeat_interleave(times, 1), v.repeat_interleave(times, 1),
                        {.heads = kHeads, .causal = causal});
      const auto grouped =
          nn::attention(q, k, v, {.heads = kHeads, .kv_heads = kv_heads, .causal = causal});
      CHECK(distance(grouped, full) < 1e-6);
    }
  }
}

TEST_CASE("attention: a grouped block is the full block with repeated rows of the weight") {
  constexpr std::int64_t kGroups = 2;
  const auto weights = attention_weights(kGroups);
  const auto& qkv = weights.qkv.value;
  const auto repeated = [&](std::int64_t first_head) {
    return qkv.narrow(0, first_head * kHeadSize, kGroups * kHeadSize)
        .view({kGroups, kHeadSize, kHidden})
        .repeat_interleave(kHeads / kGroups, 0)
        .reshape({kHeads * kHeadSize, kHidden});
  };
  const auto full =
      at::cat({qkv.narrow(0, 0, kHeads * kHeadSize), repeated(kHeads), repeated(kHeads + kGroups)});
  const auto x = random_tensor({kBatch, kLength, kHidden}, 5);
  for (const bool rotated : {false, true}) {
    CAPTURE(rotated);
    const auto expected =
        nn::attention_block(x, {full, at::kFloat}, weights.out, causal_config(kHeads, 0, rotated));
    const auto grouped =
        nn::attention_block(x, weights.qkv, weights.out, causal_config(kGroups, 0, rotated));
    CHECK(distance(grouped, expected) < 1e-5);
  }
}

TEST_CASE("attention: a sliding window is an explicit mask") {
  const auto k = random_tensor({kBatch, kHeads, kLength, kHeadSize}, 2);
  const auto v = random_tensor({kBatch, kHeads, kLength, kHeadSize}, 3);
  for (const std::int64_t n : {std::int64_t{1}, std::int64_t{3}, kLength}) {
    const auto q = random_tensor({kBatch, kHeads, n, kHeadSize}, 1);
    for (const std::int64_t window : {1, 2, 4, 7, 100}) {
      CAPTURE(n);
      CAPTURE(window);
      const auto expected = masked_attention(q, k, v, window_mask(n, kLength, window));
      const nn::AttentionConfig config{.heads = kHeads, .causal = true, .window = window};
      CHECK(distance(nn::attention(q, k, v, config), expected) < 1e-5);
    }
  }
}

TEST_CASE("attention: a causal position does not depend on later ones") {
  const auto weights = attention_weights(kHeads);
  const auto x = random_tensor({kBatch, kLength, kHidden}, 5);
  auto changed = x.clone();
  changed.slice(1, 4).add_(1);
  const auto config = causal_config(kHeads, 0, true);
  const auto before = nn::attention_block(x, weights.qkv, weights.out, config);
  const auto after = nn::attention_block(changed, weights.qkv, weights.out, config);
  CHECK(distance(after.slice(1, 0, 4), before.slice(1, 0, 4)) < 1e-6);
  CHECK(distance(after.slice(1, 4), before.slice(1, 4)) > 1e-3);
}

TEST_CASE("attention: decoding position by position gives the numbers of the full causal pass") {
  const auto x = random_tensor({kBatch, kLength, kHidden}, 5);
  for (const std::int64_t kv_heads : {std::int64_t{1}, std::int64_t{2}, kHeads}) {
    for (const std::int64_t window : {0, 3}) {
      for (const bool rotated : {false, true}) {
        CAPTURE(kv_heads);
        CAPTURE(window);
        CAPTURE(rotated);
        const auto weights = attention_weights(kv_heads);
        const auto config = causal_config(kv_heads, window, rotated);
        const auto full = nn::attention_block(x, weights.qkv, weights.out, config);
        for (const auto& lengths : kStepLengths) {
          const auto branch = decoded(x, weights, config, lengths);
          CHECK(distance(nn::rms_norm(x + branch, {}, kBlockEpsilon), full) < 1e-5);
        }
      }
    }
  }
}

TEST_CASE("kv cache: positions beyond its capacity are refused, earlier ones may be overwritten") {
  auto cache = nn::KvCache::make(1, 2, 4, 3, at::TensorOptions(at::kFloat));
  CHECK(cache.capacity() == 4);
  const auto two = random_tensor({1, 2, 2, 3}, 1), other = random_tensor({1, 2, 2, 3}, 2);
  cache.store(two, other, 2);
  CHECK(at::equal(cache.keys.slice(2, 2, 4), two));
  CHECK(at::equal(cache.values.slice(2, 2, 4), other));
  CHECK(cache.keys.slice(2, 0, 2).eq(0).all().item<bool>());
  cache.store(other, two, 1);
  CHECK(at::equal(cache.keys.slice(2, 1, 3), other));
  CHECK(at::equal(cache.keys.slice(2, 3, 4), two.slice(2, 1, 2)));
  const auto refused = [&](std::int64_t first) {
    return test::refusal_of(ErrorKind::Internal, [&] { cache.store(two, two, first); });
  };
  CHECK(test::contains(refused(3), "positions 3 to 4 do not fit; expected them below 4"));
  CHECK(test::contains(refused(-1), "positions -1 to 0 do not fit"));
}

TEST_CASE("kv cache: attention refuses a step beyond the capacity") {
  const auto weights = attention_weights(kHeads);
  auto cache = nn::KvCache::make(kBatch, kHeads, 2, kHeadSize, at::TensorOptions(at::kFloat));
  const auto x = random_tensor({kBatch, 3, kHidden}, 5);
  CHECK(test::contains(test::refusal_of(ErrorKind::Internal,
                                        [&] {
                                          (void)nn::attention_step(x, weights.qkv, weights.out,
                                                                   causal_config(kHeads, 0, false),
                                                                   cache, 0);
                                        }),
                       "positions 0 to 2 do not fit"));
}
