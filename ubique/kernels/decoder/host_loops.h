// SPDX-License-Identifier: Apache-2.0
// The inner loops of a decoding step on the CPU, in the widest vectors of the processor (chosen at
// run time): products of a few rows with a plain weight, attention over cached keys, norms and
// activations. Everything is computed in f32; weights and caches are f32 or bf16. A row's result
// does not depend on the rows beside it.
#pragma once

#include <cstdint>
#include <vector>

namespace ubique::kernels {

/// Values of a tensor in memory.
struct HostValues {
  const void* data = nullptr;
  bool bfloat16 = false;  ///< else f32
};

/// Some rows of a weight times all rows of x.
struct DenseRange {
  HostValues weight;         // (weight rows, columns)
  const float* x = nullptr;  // (rows, columns)
  float* out = nullptr;      // (rows, weight rows)
  std::int64_t rows = 0, columns = 0, weight_rows = 0;
  std::int64_t begin = 0, end = 0;
};

inline constexpr std::int64_t kMostAttendedHeads = 16;

/// The queries of one position that read the same cached head.
struct CachedHeads {
  const float* queries = nullptr;    ///< of `heads` heads, `query_stride` apart
  HostValues keys, values;           // (positions, size)
  std::int64_t first = 0, end = 0;   ///< positions that are seen
  std::int64_t heads = 1, size = 0;  ///< at most kMostAttendedHeads
  std::int64_t query_stride = 0;
  float scale = 1;
  float* out = nullptr;  // (heads, size)
};

/// x += branches, and the norm of the sum.
struct HostNorm {
  float* x = nullptr;                              // (size)
  const float* branches[2] = {};                   ///< null: nothing to add
  const float *weight = nullptr, *bias = nullptr;  ///< null: 1 and 0
  std::int64_t size = 0;
  bool center = true;  ///< layer norm; false = RMS norm
  float epsilon = 0;
  float* out = nullptr;  ///< may be x
};

enum class HostActivation { Silu, Gelu, GeluTanh };

struct HostLoops {
  const char* name;  ///< "avx512"
  void (*multiply)(const DenseRange&);
  void (*attend)(const CachedHeads&);
  void (*normalize)(const HostNorm&);
  /// x = activation(x), times `factors` unless null.
  void (*activate)(HostActivation kind, float* x, const float* factors, std::int64_t count);
  /// The first of the largest values; that of a NaN if there is one.
  std::int64_t (*find_largest)(const float* values, std::int64_t count);
};

const HostLoops& host_loops();
/// Those that this processor has, the best first; the last one is plain C++. For tests.
const std::vector<HostLoops>& all_host_loops();

}  // namespace ubique::kernels
