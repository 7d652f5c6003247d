// SPDX-License-Identifier: Apache-2.0
// Products of a few rows with a quantised weight on the CPU, reading the packed weight directly, in
// the widest vectors of the processor (chosen at run time). What limits them is the memory's speed.
#pragma once

#include <cstdint>

#include "ubique/kernels/quant/host_weight.h"

namespace ubique::kernels {

inline constexpr std::int64_t kMostHostRows = 16;  ///< beyond, a whole matrix product is faster

/// Rows of x in 8 bits, in groups of 32 with an f32 scale.
struct Int8Rows {
  std::int64_t rows = 0, groups = 0;
  std::int8_t* values = nullptr;    ///< (rows, groups, 32), from -127 to 127
  float* scales = nullptr;          ///< (rows, groups)
  std::int32_t* offsets = nullptr;  ///< (rows, groups): -128 or -8 times the sum of the values
};

struct TileRange {
  const HostWeight* weight = nullptr;
  const Int8Rows* x = nullptr;
  float* out = nullptr;  ///< (rows, weight rows)
  std::int64_t begin = 0, end = 0;
};

/// Some rows of an Nf4 weight times f32 rows; the weight's rows are whole blocks of 64.
struct Nf4Range {
  const std::uint8_t* packed = nullptr;
  const float* scales = nullptr;  ///< one a block
  const float* code = nullptr;    ///< 16 values
  const float* even = nullptr;    ///< (rows, columns / 2): x at even places
  const float* odd = nullptr;
  float* out = nullptr;  ///< (rows, weight rows)
  std::int64_t rows = 0, columns = 0, weight_rows = 0;
  std::int64_t begin = 0, end = 0;
};

struct QuantKernels {
  const char* name;  ///< "avx512_vnni"
  /// One row of f32 as int8; `zero` is what was added to the weight: 128 or 8.
  void (*quantize_row)(const float* from, std::int64_t groups, std::int32_t zero,
                       std::int8_t* values, float* scales, std::int32_t* offsets);
  void (*multiply_tiles)(const TileRange&);
  void (*multiply_nf4)(const Nf4Range&);
};

const QuantKernels& quant_kernels();
/// Those that this processor has, the best first; the last one is plain C++. For tests.
const std::vector<QuantKernels>& all_quant_kernels();

}  // namespace ubique::kernels
