// SPDX-License-Identifier: Apache-2.0
// residual + branch + the branch's bias, and the sum's layer or RMS norm; and the gradients of all
// of these: each in one pass over memory. WARPS warps share a row of WIDTH values; a block has so
// many rows at a time. A thread takes four neighbouring values in each turn, so that a warp reads
// bytes that lie together in f32 and in 16 bits alike, and issues a row's loads before it uses one.
// SCALAR is the dtype of branch and norm, WIDE_RESIDUAL tells whether the residual stream is f32 or
// SCALAR. CENTER: layer norm. Sums are in f32.
#include "values.cuh"

constexpr int kWarps = WARPS == 8 ? 8 : 12, kThreads = 32 * kWarps;
constexpr int kRows = kWarps / WARPS, kRowThreads = 32 * WARPS;
constexpr int kFours = WIDTH / 4, kTurns = (kFours + kRowThreads - 1) / kRowThreads;
constexpr float kShare = 1.f / WIDTH;
static_assert(WIDTH % 8 == 0 && kWarps % WARPS == 0, "whole fours, whole rows");

struct alignas(16) Four {
  float at[4];
};
struct alignas(8) Narrow {  // four values of SCALAR
  unsigned words[2];
};

__device__ inline Four widened(const Four& four) { return four; }
__device__ inline Four widened(const Narrow& narrow) {
  Four four;
  unpack_word(narrow.words[0], four.at[0], four.at[1]);
  unpack_word(narrow.words[1], four.at[2], four.at[3]);
  return four;
}
__device__ inline void set(Four& to, const Four& four) { to = four; }
__device__ inline void set(Narrow& to, const Four& four) {
  to = {{pack_word(four.at[0], four.at[1]), pack_word(four.at[2], four.at[3])}};
}
__device__ inline void add(Four& to, const Four& four) {
#pragma unroll
  for (int i = 0; i < 4; ++i) to.at[i] += four.at[i];
}

#if WIDE_RESIDUAL
typedef Four Stream;
#else
typedef Narrow Stream;
#endif

struct Sums {
  float first, second;
};

// The sums over the threads of a row. All threads of the block call it together.
__device__ inline Sums row_sums(Sums mine) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) {
    mine.first += __shfl_xor_sync(~0u, mine.first, offset);
    mine.second += __shfl_xor_sync(~0u, mine.second, offset);
  }
#if WARPS > 1
  __shared__ Sums warps[kWarps];
  const int warp = threadIdx.x / 32, first = warp / WARPS * WARPS;
  __syncthreads();  // the sums of the call before have been read
  if ((threadIdx.x & 31) == 0) warps[warp] = mine;
  __syncthreads();
  mine = {0.f, 0.f};
#pragma unroll
  for (int i = 0; i < WARPS; ++i) {
    mine.first += warps[first + i].first;
    mine.second += warps[first + i].second;
  }
#endif
  return mine;
}

// Calls visit(k, at) for the fours of this thread: the one of turn k is number `at` of its row.
template <typename Visit>
__device__ inline void for_fours(Visit visit) {
#pragma unroll
  for (int k = 0; k < kTurns; ++k) {
    const int at = k * kRowThreads + threadIdx.x % kRowThreads;
    if ((k + 1) * kRowThreads <= kFours || at < kFours) visit(k, at);
  }
}

extern "C" __global__ void __launch_bounds__(kThreads, 2)
    add_norm(const Stream* residual, const Narrow* branch, const Four* branch_bias,
             const Four* weight, const Four* bias, Stream* sum, Narrow* normed, float* statistics,
             long long rows, float epsilon) {
  for (long long base = static_cast<long long>(blockIdx.x) * kRows; base < rows;
       base += static_cast<long long>(gridDim.x) * kRows) {
    const long long row = base + threadIdx.x / kRowThreads, start = row * kFours;
    const bool mine = row < rows;
    Four x[kTurns];
    float total = 0.f;
    if (mine) {
      Stream stream[kTurns];
      Narrow added[kTurns];
      for_fours([&](int k, int at) {
        stream[k] = residual[start + at];
        if (branch != nullptr) added[k] = branch[start + at];
      });
      for_fours([&](int k, int at) {
        x[k] = widened(stream[k]);
        if (branch != nullptr) {
          add(x[k], widened(added[k]));
          if (branch_bias != nullptr) add(x[k], branch_bias[at]);
          set(sum[start + at], x[k]);
        }
        total += (x[k].at[0] + x[k].at[1]) + (x[k].at[2] + x[k].at[3]);
      });
    }
    const float mean = CENTER ? row_sums({total, 0.f}).first * kShare : 0.f;
    float squares = 0.f;
    if (mine) {
      for_fours([&](int k, int) {
#pragma unroll
        for (int i = 0; i < 4; ++i) squares += (x[k].at[i] - mean) * (x[k].at[i] - mean);
      });
    }
    const float inverse = rsqrtf(row_sums({squares, 0.f}).first * kShare + epsilon);
    if (!mine) continue;
    for_fours([&](int k, int at) {
      const Four scale = weight[at];
      Four shift = {};
      if (bias != nullptr) shift = bias[at];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        x[k].at[i] = (x[k].at[i] - mean) * inverse * scale.at[i] + shift.at[i];
      }
      set(normed[start + at], x[k]);
    });
    if (threadIdx.x % kRowThreads == 0) {
      statistics[2 * row] = mean;
      statistics[2 * row + 1] = inverse;
    }
  }
}

// Adds up what the rows of a block have, one after the other: the same order every time.
__device__ inline void add_rows(const Four (&values)[kTurns], float* shared, float* result) {
  for (int turn = 0; turn < kRows; ++turn) {
    __syncthreads();
    if (static_cast<int>(threadIdx.x) / kRowThreads != turn) continue;
    for_fours([&](int k, int at) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        float& all = shared[4 * at + i];
        all = turn == 0 ? values[k].at[i] : all + values[k].at[i];
      }
    });
  }
  __syncthreads();
  for (int i = threadIdx.x; i < WIDTH; i += kThreads) result[i] = shared[i];
}

// `partial` (gridDim.x, sums, WIDTH): each block's share of the gradients of weight, bias and, if
// `sums` is 3, the branch's bias; or null.
extern "C" __global__ void __launch_bounds__(kThreads, 1)
    add_norm_backward(const Stream* of_sum, const Narrow* of_norm, const Stream* sum,
                      const Four* weight, const float* statistics, Stream* of_residual,
                      Narrow* of_branch, float* partial, int sums, long long rows) {
  Four of_weight[kTurns] = {}, of_bias[kTurns] = {}, of_branch_bias[kTurns] = {};
  for (long long base = static_cast<long long>(blockIdx.x) * kRows; base < rows;
       base += static_cast<long long>(gridDim.x) * kRows) {
    const long long row = base + threadIdx.x / kRowThreads, start = row * kFours;
    const bool mine = row < rows;
    Stream stream[kTurns], outer[kTurns];
    Narrow incoming[kTurns];
    Four x[kTurns];
    float inverse = 0.f;
    Sums all = {0.f, 0.f};  // of g * x and of g, where g is the gradient of the normed x
    if (mine) {
      for_fours([&](int k, int at) {
        stream[k] = sum[start + at];
        incoming[k] = of_norm[start + at];
      });
      for_fours([&](int k, int at) {
        if (of_sum != nullptr) outer[k] = of_sum[start + at];
      });
      const float mean = statistics[2 * row];
      inverse = statistics[2 * row + 1];
      for_fours([&](int k, int at) {
        const Four scale = weight[at], g = widened(incoming[k]);
        x[k] = widened(stream[k]);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          x[k].at[i] = (x[k].at[i] - mean) * inverse;
          of_weight[k].at[i] += g.at[i] * x[k].at[i];
          of_bias[k].at[i] += g.at[i];
          all.first += g.at[i] * scale.at[i] * x[k].at[i];
          all.second += g.at[i] * scale.at[i];
        }
      });
    }
    all = row_sums(all);
    const float along = all.first * kShare, total = CENTER ? all.second * kShare : 0.f;
    if (!mine) continue;
    for_fours([&](int k, int at) {
      const Four scale = weight[at], g = widened(incoming[k]);
      Four result = {};
      if (of_sum != nullptr) result = widened(outer[k]);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        result.at[i] += inverse * (g.at[i] * scale.at[i] - total - x[k].at[i] * along);
      }
      set(of_residual[start + at], result);
      if (of_branch != nullptr) set(of_branch[start + at], result);
      add(of_branch_bias[k], result);
    });
  }
  if (partial == nullptr) return;
  __shared__ float shared[WIDTH];
  float* mine = partial + static_cast<long long>(blockIdx.x) * sums * WIDTH;
  add_rows(of_weight, shared, mine);
  add_rows(of_bias, shared, mine + WIDTH);
  if (sums == 3) add_rows(of_branch_bias, shared, mine + 2 * WIDTH);
}
