// SPDX-License-Identifier: Apache-2.0
// Attention of one position over cached keys in one pass over blocks of them, with a softmax that
// is corrected from block to block.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "ubique/kernels/decoder/host_lanes.h"
#include "ubique/kernels/decoder/host_loops.h"

namespace ubique::kernels::lanes {

inline constexpr std::int64_t kScoreBlock =
    64;  // positions whose keys and values stay in the L1 cache

/// The softmax over the positions so far: its largest score and its sum of exponentials.
struct SoftmaxState {
  float most = -std::numeric_limits<float>::infinity();
  float sum = 0;
};

template <int N, typename Value>
UBIQUE_LANES_INLINE void score_block(const CachedHeads& heads, const float* query,
                                     std::int64_t begin, std::int64_t count, float* scores) {
  const auto* keys = static_cast<const Value*>(heads.keys.data) + begin * heads.size;
  for (std::int64_t i = 0; i < count; ++i, keys += heads.size) {
    using Floats = typename Lanes<N>::Floats;
    Floats sum = {}, key, part;
    std::int64_t at = 0;
    for (; at + N <= heads.size; at += N) {
      get<N>(key, keys + at);
      get<N>(part, query + at);
      sum += key * part;
    }
    float score = sum_of<N>(sum);
    for (; at < heads.size; ++at) score += widened(keys[at]) * query[at];
    scores[i] = score * heads.scale;
  }
}

/// Turns scores into exponentials and returns by how much earlier results shrink.
template <int N>
UBIQUE_LANES_INLINE float soften_block(float* scores, std::int64_t count, SoftmaxState& state) {
  using Floats = typename Lanes<N>::Floats;
  float most = state.most;
  for (std::int64_t i = 0; i < count; ++i) most = scores[i] > most ? scores[i] : most;
  for (auto i = count; i < (count + N - 1) / N * N; ++i) {
    scores[i] = -std::numeric_limits<float>::infinity();
  }
  Floats sum = {}, value;
  for (std::int64_t i = 0; i < count; i += N) {
    get<N>(value, scores + i);
    value -= most;
    exponentials<N>(value);
    put<N>(scores + i, value);
    sum += value;
  }
  const float shrink = std::exp(state.most - most);
  state.sum = state.sum * shrink + sum_of<N>(sum);
  state.most = most;
  return shrink;
}

/// out = out·shrink + scores·values, kWide vectors of each value at a time.
template <int N, int kWide, typename Value>
UBIQUE_LANES_INLINE void mix_values(const CachedHeads& heads, const float* scores,
                                    std::int64_t begin, std::int64_t count, std::int64_t at,
                                    float shrink, float* out) {
  using Floats = typename Lanes<N>::Floats;
  const auto* values = static_cast<const Value*>(heads.values.data) + begin * heads.size + at;
  Floats sums[kWide], value;
  for (int w = 0; w < kWide; ++w) {
    get<N>(sums[w], out + at + w * N);
    sums[w] *= shrink;
  }
  for (std::int64_t i = 0; i < count; ++i, values += heads.size) {
#pragma GCC unroll 4
    for (int w = 0; w < kWide; ++w) {
      get<N>(value, values + w * N);
      sums[w] += value * scores[i];
    }
  }
  for (int w = 0; w < kWide; ++w) put<N>(out + at + w * N, sums[w]);
}

template <int N, typename Value>
UBIQUE_LANES_INLINE void mix_block(const CachedHeads& heads, const float* scores,
                                   std::int64_t begin, std::int64_t count, float shrink,
                                   float* out) {
  std::int64_t at = 0;
  for (; at + 4 * N <= heads.size; at += 4 * N) {
    mix_values<N, 4, Value>(heads, scores, begin, count, at, shrink, out);
  }
  for (; at + N <= heads.size; at += N) {
    mix_values<N, 1, Value>(heads, scores, begin, count, at, shrink, out);
  }
  const auto* values = static_cast<const Value*>(heads.values.data) + begin * heads.size;
  for (; at < heads.size; ++at) {
    float sum = out[at] * shrink;
    for (std::int64_t i = 0; i < count; ++i)
      sum += widened(values[i * heads.size + at]) * scores[i];
    out[at] = sum;
  }
}

template <int N, typename Value>
UBIQUE_LANES_INLINE void attend_heads(const CachedHeads& heads) {
  SoftmaxState states[kMostAttendedHeads];
  std::fill_n(heads.out, heads.heads * heads.size, 0.0F);
  float scores[kScoreBlock];
  for (auto begin = heads.first; begin < heads.end; begin += kScoreBlock) {
    const auto count = std::min(kScoreBlock, heads.end - begin);
    for (std::int64_t head = 0; head < heads.heads; ++head) {
      score_block<N, Value>(heads, heads.queries + head * heads.query_stride, begin, count, scores);
      const float shrink = soften_block<N>(scores, count, states[head]);
      mix_block<N, Value>(heads, scores, begin, count, shrink, heads.out + head * heads.size);
    }
  }
  for (std::int64_t head = 0; head < heads.heads; ++head) {
    const float factor = 1 / states[head].sum;
    for (std::int64_t i = 0; i < heads.size; ++i) heads.out[head * heads.size + i] *= factor;
  }
}

}  // namespace ubique::kernels::lanes
