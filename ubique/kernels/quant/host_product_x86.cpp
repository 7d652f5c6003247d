// SPDX-License-Identifier: Apache-2.0
// AVX-512 with VNNI, and AVX2. Each has a few functions for its registers; the loops over tiles and
// groups are shared templates that are inlined into functions compiled for that instruction set.
#include "ubique/kernels/quant/host_product_x86.h"

#include <algorithm>

#if defined(__x86_64__)
#include <immintrin.h>

#pragma GCC diagnostic push
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC 12, falsely, about its own intrinsics
#endif

#define UBIQUE_VNNI [[gnu::target("avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]]
#define UBIQUE_WIDE [[gnu::target("avx2,fma,f16c")]]

namespace ubique::kernels {
namespace {

constexpr std::int64_t kX86Group = 32;
constexpr std::int64_t kPrefetchAhead = 2048;  // bytes: the processor's own prefetch ends at pages

UBIQUE_VNNI void quantize_row_vnni(const float* from, std::int64_t groups, std::int32_t zero,
                                   std::int8_t* values, float* scales, std::int32_t* offsets) {
  for (std::int64_t group = 0; group < groups; ++group) {
    const __m512 a = _mm512_loadu_ps(from + group * kX86Group);
    const __m512 b = _mm512_loadu_ps(from + group * kX86Group + 16);
    const float most = _mm512_reduce_max_ps(_mm512_max_ps(_mm512_abs_ps(a), _mm512_abs_ps(b)));
    const __m512 factor = _mm512_set1_ps(most > 0 ? 127 / most : 0);
    const __m512i low = _mm512_cvtps_epi32(_mm512_mul_ps(a, factor));
    const __m512i high = _mm512_cvtps_epi32(_mm512_mul_ps(b, factor));
    auto* to = reinterpret_cast<__m128i*>(values + group * kX86Group);
    _mm_storeu_si128(to, _mm512_cvtsepi32_epi8(low));
    _mm_storeu_si128(to + 1, _mm512_cvtsepi32_epi8(high));
    scales[group] = most / 127;
    offsets[group] = -zero * _mm512_reduce_add_epi32(_mm512_add_epi32(low, high));
  }
}

UBIQUE_VNNI inline std::int32_t four_bytes(const std::int8_t* from) {
  std::int32_t four;
  __builtin_memcpy(&four, from, 4);
  return four;
}

/// Adds the products of 4 inputs, for 16 rows of the weight and kRows rows of x. Int4 has a sum for
/// its low and one for its high bits: one chain of eight takes longer than reading the weights.
template <int kRows>
UBIQUE_VNNI inline void add_quad_vnni(__m512i (*sums)[2], __m512i weights,
                                      const std::int8_t* const* values, int quad, int turn) {
  for (int r = 0; r < kRows; ++r) {
    const __m512i x = _mm512_set1_epi32(four_bytes(values[r] + quad * 4));
    sums[r][turn] = _mm512_dpbusd_epi32(sums[r][turn], weights, x);
  }
}

/// 16 rows of the weight times kRows rows of x.
template <bool kNibbles, int kRows>
UBIQUE_VNNI void multiply_tile_vnni(const TileRange& range, std::int64_t tile, std::int64_t x_row) {
  const auto& weight = *range.weight;
  const auto& x = *range.x;
  const auto* scales = weight.tile(tile);
  const auto* weights = scales + weight.scale_bytes;
  const __m512i mask = _mm512_set1_epi8(15);
  __m512 results[kRows];
  for (int r = 0; r < kRows; ++r) results[r] = _mm512_setzero_ps();
  for (std::int64_t group = 0; group < weight.groups; ++group) {
    __m512i sums[kRows][2];
    const std::int8_t* values[kRows];
    for (int r = 0; r < kRows; ++r) {
      const auto at = (x_row + r) * weight.groups + group;
      sums[r][0] = _mm512_set1_epi32(x.offsets[at]);
      sums[r][1] = _mm512_setzero_si512();
      values[r] = x.values + at * kX86Group;
    }
    for (int quad = 0; quad < (kNibbles ? 4 : 8); ++quad, weights += 64) {
      const __m512i w = _mm512_loadu_si512(weights);
      if constexpr (kNibbles) {
        _mm_prefetch(weights + kPrefetchAhead, _MM_HINT_T0);
        add_quad_vnni<kRows>(sums, _mm512_and_si512(w, mask), values, quad, 0);
        add_quad_vnni<kRows>(sums, _mm512_and_si512(_mm512_srli_epi16(w, 4), mask), values,
                             quad + 4, 1);
      } else {
        add_quad_vnni<kRows>(sums, w, values, quad, 0);
      }
    }
    const auto* halves = reinterpret_cast<const __m256i*>(scales + group * kTileRows * 2);
    const __m512 scale = _mm512_cvtph_ps(_mm256_loadu_si256(halves));
    for (int r = 0; r < kRows; ++r) {
      const __m512 factor =
          _mm512_mul_ps(scale, _mm512_set1_ps(x.scales[(x_row + r) * weight.groups + group]));
      const __m512i sum = _mm512_add_epi32(sums[r][0], sums[r][1]);
      results[r] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum), factor, results[r]);
    }
  }
  const auto count = std::min(kTileRows, weight.rows - tile * kTileRows);
  const auto present = static_cast<__mmask16>((1U << count) - 1U);
  for (int r = 0; r < kRows; ++r) {
    float* out = range.out + (x_row + r) * weight.rows + tile * kTileRows;
    _mm512_mask_storeu_ps(out, present, results[r]);
  }
}

template <bool kNibbles>
UBIQUE_VNNI void multiply_range_vnni(const TileRange& range) {
  for (auto tile = range.begin; tile < range.end; ++tile) {
    std::int64_t row = 0;
    for (; row + 4 <= range.x->rows; row += 4) multiply_tile_vnni<kNibbles, 4>(range, tile, row);
    for (; row < range.x->rows; ++row) multiply_tile_vnni<kNibbles, 1>(range, tile, row);
  }
}

UBIQUE_VNNI void multiply_tiles_vnni(const TileRange& range) {
  if (range.weight->format == QuantFormat::Int8) return multiply_range_vnni<false>(range);
  multiply_range_vnni<true>(range);
}

UBIQUE_VNNI void multiply_nf4_avx512(const Nf4Range& range) {
  const auto blocks = range.columns / 64;
  const __m512 code = _mm512_loadu_ps(range.code);
  for (auto row = range.begin; row < range.end; ++row) {
    for (std::int64_t x_row = 0; x_row < range.rows; ++x_row) {
      const float* even = range.even + x_row * range.columns / 2;
      const float* odd = range.odd + x_row * range.columns / 2;
      const auto* packed = range.packed + row * blocks * 32;
      __m512 result = _mm512_setzero_ps();
      for (std::int64_t block = 0; block < blocks; ++block, packed += 32, even += 32, odd += 32) {
        __m512 sum = _mm512_setzero_ps();
        for (int half = 0; half < 2; ++half) {
          const auto* bytes = reinterpret_cast<const __m128i*>(packed) + half;
          const __m512i low = _mm512_cvtepu8_epi32(_mm_loadu_si128(bytes));
          const __m512i high = _mm512_srli_epi32(low, 4);  // the look-up takes the low 4 bits
          sum = _mm512_fmadd_ps(_mm512_permutexvar_ps(high, code),
                                _mm512_loadu_ps(even + half * 16), sum);
          sum = _mm512_fmadd_ps(_mm512_permutexvar_ps(low, code), _mm512_loadu_ps(odd + half * 16),
                                sum);
        }
        const __m512 scale = _mm512_set1_ps(range.scales[row * blocks + block]);
        result = _mm512_fmadd_ps(sum, scale, result);
      }
      range.out[x_row * range.weight_rows + row] = _mm512_reduce_add_ps(result);
    }
  }
}

UBIQUE_WIDE void quantize_row_avx2(const float* from, std::int64_t groups, std::int32_t zero,
                                   std::int8_t* values, float* scales, std::int32_t* offsets) {
  const __m256 sign = _mm256_set1_ps(-0.0F);
  for (std::int64_t group = 0; group < groups; ++group) {
    __m256 x[4];
    __m256 most8 = _mm256_setzero_ps();
    for (int i = 0; i < 4; ++i) {
      x[i] = _mm256_loadu_ps(from + group * kX86Group + i * 8);
      most8 = _mm256_max_ps(most8, _mm256_andnot_ps(sign, x[i]));
    }
    alignas(32) float lanes[8];
    _mm256_store_ps(lanes, most8);
    const float most = *std::max_element(lanes, lanes + 8);
    const __m256 factor = _mm256_set1_ps(most > 0 ? 127 / most : 0);
    std::int32_t sum = 0;
    for (int i = 0; i < 4; ++i) {
      alignas(32) std::int32_t rounded[8];
      _mm256_store_si256(reinterpret_cast<__m256i*>(rounded),
                         _mm256_cvtps_epi32(_mm256_mul_ps(x[i], factor)));
      for (int j = 0; j < 8; ++j) {
        const auto value = std::clamp(rounded[j], -127, 127);
        values[group * kX86Group + i * 8 + j] = static_cast<std::int8_t>(value);
        sum += value;
      }
    }
    scales[group] = most / 127;
    offsets[group] = -zero * sum;
  }
}

/// Adds products of 4 bytes each. Products of two must fit into 16 bits.
UBIQUE_WIDE inline void add_quads_avx2(__m256i& sums, __m256i unsigned_bytes,
                                       __m256i signed_bytes) {
  const __m256i pairs = _mm256_maddubs_epi16(unsigned_bytes, signed_bytes);
  sums = _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}

UBIQUE_WIDE inline void load_four_avx2(__m256i& fours, const std::int8_t* from) {
  std::int32_t four;
  __builtin_memcpy(&four, from, 4);
  fours = _mm256_set1_epi32(four);
}

/// 8 rows (half a tile) times one row of x, for one group: `weights` is the half of its first
/// quad. Int8 goes by magnitudes of at most 128, so that no product overflows.
template <bool kNibbles>
UBIQUE_WIDE inline void group_sums_avx2(__m256i& sums, const std::uint8_t* weights,
                                        const std::int8_t* x, std::int32_t offset) {
  const __m256i mask = _mm256_set1_epi8(15);
  sums = kNibbles ? _mm256_set1_epi32(offset) : _mm256_setzero_si256();
  for (int quad = 0; quad < (kNibbles ? 4 : 8); ++quad, weights += 64) {
    const __m256i w = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weights));
    __m256i four;
    load_four_avx2(four, x + quad * 4);
    if constexpr (kNibbles) {
      add_quads_avx2(sums, _mm256_and_si256(w, mask), four);
      load_four_avx2(four, x + quad * 4 + 16);
      add_quads_avx2(sums, _mm256_and_si256(_mm256_srli_epi16(w, 4), mask), four);
    } else {
      const __m256i value = _mm256_xor_si256(w, _mm256_set1_epi8(-128));
      add_quads_avx2(sums, _mm256_abs_epi8(value), _mm256_sign_epi8(four, value));
    }
  }
}

template <bool kNibbles>
UBIQUE_WIDE void multiply_tile_avx2(const TileRange& range, std::int64_t tile, std::int64_t x_row) {
  const auto& weight = *range.weight;
  const auto* scales = weight.tile(tile);
  const auto* weights = scales + weight.scale_bytes;
  __m256 results[2] = {_mm256_setzero_ps(), _mm256_setzero_ps()};
  for (std::int64_t group = 0; group < weight.groups; ++group) {
    const auto at = x_row * weight.groups + group;
    for (int half = 0; half < 2; ++half) {
      __m256i sums;
      group_sums_avx2<kNibbles>(sums, weights + half * 32, range.x->values + at * kX86Group,
                                range.x->offsets[at]);
      const auto* halves = reinterpret_cast<const __m128i*>(scales + group * kTileRows * 2) + half;
      const __m256 factor = _mm256_mul_ps(_mm256_cvtph_ps(_mm_loadu_si128(halves)),
                                          _mm256_set1_ps(range.x->scales[at]));
      results[half] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sums), factor, results[half]);
    }
    weights += kNibbles ? 256 : 512;
  }
  alignas(32) float out[kTileRows];
  _mm256_store_ps(out, results[0]);
  _mm256_store_ps(out + 8, results[1]);
  const auto count = std::min(kTileRows, weight.rows - tile * kTileRows);
  std::copy_n(out, count, range.out + x_row * weight.rows + tile * kTileRows);
}

UBIQUE_WIDE void multiply_tiles_avx2(const TileRange& range) {
  for (auto tile = range.begin; tile < range.end; ++tile) {
    for (std::int64_t row = 0; row < range.x->rows; ++row) {
      if (range.weight->format == QuantFormat::Int8) {
        multiply_tile_avx2<false>(range, tile, row);
      } else {
        multiply_tile_avx2<true>(range, tile, row);
      }
    }
  }
}

/// Looks 8 values up in a code of 16, held in two registers.
UBIQUE_WIDE inline void look_up_avx2(__m256& found, __m256i index, __m256 low, __m256 high) {
  const __m256 above = _mm256_castsi256_ps(_mm256_slli_epi32(index, 28));  // bit 3 as the sign
  found = _mm256_blendv_ps(_mm256_permutevar8x32_ps(low, index),
                           _mm256_permutevar8x32_ps(high, index), above);
}

UBIQUE_WIDE void multiply_nf4_avx2(const Nf4Range& range) {
  const auto blocks = range.columns / 64;
  const __m256 low = _mm256_loadu_ps(range.code), high = _mm256_loadu_ps(range.code + 8);
  for (auto row = range.begin; row < range.end; ++row) {
    for (std::int64_t x_row = 0; x_row < range.rows; ++x_row) {
      const float* even = range.even + x_row * range.columns / 2;
      const float* odd = range.odd + x_row * range.columns / 2;
      const auto* packed = range.packed + row * blocks * 32;
      __m256 result = _mm256_setzero_ps();
      for (std::int64_t block = 0; block < blocks; ++block, packed += 32, even += 32, odd += 32) {
        __m256 sum = _mm256_setzero_ps();
        for (int part = 0; part < 4; ++part) {
          const auto* bytes = reinterpret_cast<const __m128i*>(packed + part * 8);
          const __m256i second = _mm256_cvtepu8_epi32(_mm_loadl_epi64(bytes));
          const __m256i first = _mm256_srli_epi32(second, 4);
          __m256 value;
          look_up_avx2(value, first, low, high);
          sum = _mm256_fmadd_ps(value, _mm256_loadu_ps(even + part * 8), sum);
          look_up_avx2(value, second, low, high);
          sum = _mm256_fmadd_ps(value, _mm256_loadu_ps(odd + part * 8), sum);
        }
        const __m256 scale = _mm256_set1_ps(range.scales[row * blocks + block]);
        result = _mm256_fmadd_ps(sum, scale, result);
      }
      alignas(32) float lanes[8];
      _mm256_store_ps(lanes, result);
      float total = 0;
      for (const float lane : lanes) total += lane;
      range.out[x_row * range.weight_rows + row] = total;
    }
  }
}

}  // namespace

std::vector<QuantKernels> x86_quant_kernels() {
  std::vector<QuantKernels> found;
  if (__builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl")) {
    found.push_back({"avx512_vnni", quantize_row_vnni, multiply_tiles_vnni, multiply_nf4_avx512});
  }
  // Every processor with AVX2 has F16C, which not every compiler can ask for.
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    found.push_back({"avx2", quantize_row_avx2, multiply_tiles_avx2, multiply_nf4_avx2});
  }
  return found;
}

}  // namespace ubique::kernels
#pragma GCC diagnostic pop
#else
namespace ubique::kernels {
std::vector<QuantKernels> x86_quant_kernels() { return {}; }
}  // namespace ubique::kernels
#endif
