// SPDX-License-Identifier: Apache-2.0
// Products, norms and activations, and everything compiled for each instruction set.
#include "ubique/kernels/decoder/host_loops.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "ubique/kernels/decoder/host_attend.h"
#include "ubique/kernels/decoder/host_lanes.h"

#if defined(__x86_64__)
#define UBIQUE_DECODE_512 [[gnu::target("avx512f,avx512bw,avx512vl,avx2,fma")]]
#define UBIQUE_DECODE_256 [[gnu::target("avx2,fma")]]
#endif

namespace ubique::kernels {
namespace {

using namespace lanes;

/// Dot products of one weight row with kRows rows of x. Each has two sums over alternating vectors,
/// whatever kRows is.
template <int N, int kRows, typename Value>
UBIQUE_LANES_INLINE void dot_rows(const Value* weight, const float* x, std::int64_t columns,
                                  float* out, std::int64_t out_stride) {
  using Floats = typename Lanes<N>::Floats;
  constexpr std::int64_t kAhead = 4096 / sizeof(Value);  // the memory is what limits
  Floats sums[kRows][2] = {};
  std::int64_t i = 0;
  for (; i + 2 * N <= columns; i += 2 * N) {
    __builtin_prefetch(weight + i + kAhead);
    if constexpr (sizeof(Value) * N >= 64) __builtin_prefetch(weight + i + N + kAhead);
    Floats first, second, value;
    get<N>(first, weight + i);
    get<N>(second, weight + i + N);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      get<N>(value, x + r * columns + i);
      sums[r][0] += first * value;
      get<N>(value, x + r * columns + i + N);
      sums[r][1] += second * value;
    }
  }
  for (int r = 0; r < kRows; ++r) {
    float sum = sum_of<N>(sums[r][0] + sums[r][1]);
    for (auto rest = i; rest < columns; ++rest) {
      sum += widened(weight[rest]) * x[r * columns + rest];
    }
    out[r * out_stride] = sum;
  }
}

template <int N, typename Value>
UBIQUE_LANES_INLINE void multiply_range(const DenseRange& range) {
  const auto* weight = static_cast<const Value*>(range.weight.data);
  for (auto column = range.begin; column < range.end; ++column) {
    const Value* row = weight + column * range.columns;
    std::int64_t r = 0;
    for (; r + 4 <= range.rows; r += 4) {
      dot_rows<N, 4>(row, range.x + r * range.columns, range.columns,
                     range.out + r * range.weight_rows + column, range.weight_rows);
    }
    for (; r < range.rows; ++r) {
      dot_rows<N, 1>(row, range.x + r * range.columns, range.columns,
                     range.out + r * range.weight_rows + column, range.weight_rows);
    }
  }
}

/// Adds the branches; returns the sum of all values.
template <int N>
UBIQUE_LANES_INLINE float add_branches(const HostNorm& norm) {
  using Floats = typename Lanes<N>::Floats;
  Floats sum = {}, value, branch;
  std::int64_t i = 0;
  for (; i + N <= norm.size; i += N) {
    get<N>(value, norm.x + i);
    for (const float* added : norm.branches) {
      if (added == nullptr) continue;
      get<N>(branch, added + i);
      value += branch;
    }
    put<N>(norm.x + i, value);
    sum += value;
  }
  float total = sum_of<N>(sum);
  for (; i < norm.size; ++i) {
    for (const float* added : norm.branches) norm.x[i] += added == nullptr ? 0 : added[i];
    total += norm.x[i];
  }
  return total;
}

template <int N>
UBIQUE_LANES_INLINE void normalize_row(const HostNorm& norm) {
  using Floats = typename Lanes<N>::Floats;
  const float total = add_branches<N>(norm);
  const auto size = static_cast<float>(norm.size);
  const float mean = norm.center ? total / size : 0;
  Floats squares = {}, value, weight, bias;
  std::int64_t i = 0;
  for (; i + N <= norm.size; i += N) {
    get<N>(value, norm.x + i);
    value -= mean;
    squares += value * value;
  }
  float square = sum_of<N>(squares);
  for (; i < norm.size; ++i) square += (norm.x[i] - mean) * (norm.x[i] - mean);
  const float inverse = 1 / std::sqrt(square / size + norm.epsilon);
  for (i = 0; i + N <= norm.size; i += N) {
    get<N>(value, norm.x + i);
    value = (value - mean) * inverse;
    if (norm.weight != nullptr) {
      get<N>(weight, norm.weight + i);
      value *= weight;
    }
    if (norm.bias != nullptr) {
      get<N>(bias, norm.bias + i);
      value += bias;
    }
    put<N>(norm.out + i, value);
  }
  for (; i < norm.size; ++i) {
    const float one = (norm.x[i] - mean) * inverse;
    norm.out[i] = one * (norm.weight == nullptr ? 1 : norm.weight[i]) +
                  (norm.bias == nullptr ? 0 : norm.bias[i]);
  }
}

/// x·sigmoid(inner): SiLU with inner = x, GELU's tanh form with inner = 2·√(2/π)·(x + 0.044715·x³).
template <int N>
UBIQUE_LANES_INLINE void gate_lanes(bool gelu, typename Lanes<N>::Floats& x) {
  constexpr float kTwice = 1.5957691216F;
  auto inner = gelu ? -kTwice * (x + 0.044715F * x * x * x) : -x;
  exponentials<N>(inner);
  x = x / (1.0F + inner);
}

template <int N>
UBIQUE_LANES_INLINE void activate_row(HostActivation kind, float* x, const float* factors,
                                      std::int64_t count) {
  using Floats = typename Lanes<N>::Floats;
  for (std::int64_t i = 0; i < count; i += N) {
    const auto here = std::min<std::int64_t>(N, count - i);
    Floats value = {}, factor = {};
    std::memcpy(&value, x + i, static_cast<std::size_t>(here) * sizeof(float));
    if (kind == HostActivation::Gelu) {
      for (int lane = 0; lane < N; ++lane) {
        value[lane] = 0.5F * value[lane] * (1 + std::erf(value[lane] * 0.70710678F));
      }
    } else {
      gate_lanes<N>(kind == HostActivation::GeluTanh, value);
    }
    if (factors != nullptr) {
      std::memcpy(&factor, factors + i, static_cast<std::size_t>(here) * sizeof(float));
      value *= factor;
    }
    std::memcpy(x + i, &value, static_cast<std::size_t>(here) * sizeof(float));
  }
}

template <int N>
UBIQUE_LANES_INLINE std::int64_t largest_of(const float* values, std::int64_t count) {
  using Floats = typename Lanes<N>::Floats;
  Floats most = Floats{} - std::numeric_limits<float>::infinity(), value, sum = {};
  std::int64_t i = 0;
  for (; i + N <= count; i += N) {
    get<N>(value, values + i);
    most = value > most ? value : most;
    sum += value * 0.0F;  // NaN if there is a NaN or an infinity
  }
  float best = -std::numeric_limits<float>::infinity();
  for (int lane = 0; lane < N; ++lane) best = std::max(best, static_cast<float>(most[lane]));
  bool finite = sum_of<N>(sum) == 0;
  for (; i < count; ++i) {
    best = std::max(best, values[i]);
    finite &= std::isfinite(values[i]);
  }
  for (std::int64_t at = 0; at < count; ++at) {
    if (finite ? values[at] == best : std::isnan(values[at])) return at;
  }
  return std::find(values, values + count, best) - values;  // infinities, but no NaN
}

#define UBIQUE_HOST_LOOPS(suffix, lanes, target)                                        \
  target void multiply_##suffix(const DenseRange& range) {                              \
    if (range.weight.bfloat16) return multiply_range<lanes, std::uint16_t>(range);      \
    multiply_range<lanes, float>(range);                                                \
  }                                                                                     \
  target void attend_##suffix(const CachedHeads& heads) {                               \
    if (heads.keys.bfloat16) return attend_heads<lanes, std::uint16_t>(heads);          \
    attend_heads<lanes, float>(heads);                                                  \
  }                                                                                     \
  target void normalize_##suffix(const HostNorm& norm) { normalize_row<lanes>(norm); }  \
  target void activate_##suffix(HostActivation kind, float* x, const float* factors,    \
                                std::int64_t count) {                                   \
    activate_row<lanes>(kind, x, factors, count);                                       \
  }                                                                                     \
  target std::int64_t find_largest_##suffix(const float* values, std::int64_t count) {  \
    return largest_of<lanes>(values, count);                                            \
  }                                                                                     \
  constexpr HostLoops kLoops_##suffix {                                                 \
    #suffix, multiply_##suffix, attend_##suffix, normalize_##suffix, activate_##suffix, \
        find_largest_##suffix                                                           \
  }

#if defined(__x86_64__)
UBIQUE_HOST_LOOPS(avx512, 16, UBIQUE_DECODE_512);
UBIQUE_HOST_LOOPS(avx2, 8, UBIQUE_DECODE_256);
#endif
UBIQUE_HOST_LOOPS(plain, 4, );

}  // namespace

const std::vector<HostLoops>& all_host_loops() {
  static const std::vector<HostLoops> loops = [] {
    std::vector<HostLoops> found;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
      found.push_back(kLoops_avx512);
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
      found.push_back(kLoops_avx2);
    }
#endif
    found.push_back(kLoops_plain);
    return found;
  }();
  return loops;
}

const HostLoops& host_loops() { return all_host_loops().front(); }

}  // namespace ubique::kernels
