// SPDX-License-Identifier: Apache-2.0
// A linear layer for at most 16 rows, with the norm before it and what follows it: as fast as its
// weights can be read. Tensor cores multiply 16 rows by 8 features; the warps of a block share the
// columns, so that a block has 8 features of its own or a few times as many, and its first weights
// are on their way before the kernel before it has ended.
// ROWS: 8 or 16, at least as many as there are. WIDTH: columns, a multiple of 32. PIECES: so many
// times the rows are staged, if shared memory is too small for all columns. TILES: 8 features each
// for a block at a time. GATED: half of the tiles are gates, the others what they let through.
#include "decode.cuh"

constexpr int kThreads = 256, kWarps = 8, kMostLoads = 16;  // of 16 bytes, in flight per thread
constexpr int kVectors = WIDTH / 8;                         // of a row
constexpr int kSteps = WIDTH / 32 / PIECES;                 // of 32 columns, in a piece
constexpr int kPieceVectors = kSteps * 4;
constexpr int kPitch = kPieceVectors + (kSteps % 2 == 0 ? 4 : 0);  // avoids bank conflicts
constexpr int kWarpSteps = (kSteps + kWarps - 1) / kWarps;
constexpr int kChunks = (kWarpSteps * TILES + kMostLoads - 1) / kMostLoads;
constexpr int kChunk = (kWarpSteps + kChunks - 1) / kChunks;  // steps whose weights are in flight
constexpr int kOutTiles = GATED ? TILES / 2 : TILES, kFeatures = 8 * kOutTiles;
constexpr int kTileSums = ROWS * 8, kSets = ROWS / 8;  // rows 0 to 7, and 8 to 15
constexpr int kNormedVectors = kWarpSteps * kSets * kThreads;
constexpr int kOutputs = (kOutTiles * kTileSums + kThreads - 1) / kThreads;  // of a thread
static_assert(WIDTH % (32 * PIECES) == 0, "whole steps");
static_assert(!GATED || TILES % 2 == 0, "a gate for each");

struct Layers {
  const Vector* weight[3];  // (features of each, WIDTH); for GATED gate and up
  const float* bias[3];     // or null
  int ends[3];              // features up to the end of each
};

struct Lane {
  int warp, group, place;  // of the matrix instructions: group 0 to 7, place 0 to 3
};

__device__ inline int layer_of(const Layers& layers, int feature) {
  return feature < layers.ends[0] ? 0 : feature < layers.ends[1] ? 1 : 2;
}

// The first vector of this lane's feature of tile i of a block.
__device__ inline const Vector* weight_row(const Layers& layers, int features, int tile, int i,
                                           const Lane& lane) {
  int which = 0, row = 0;
  if (GATED) {
    which = i / kOutTiles;
    row = tile * kFeatures + i % kOutTiles * 8;
    row = row < features ? row : features - 8;  // what is beyond is not stored
  } else {
    row = tile * kFeatures + i * 8;
    row = row < features ? row : features - 8;
    which = layer_of(layers, row);
    row -= which == 0 ? 0 : layers.ends[which - 1];
  }
  return layers.weight[which] + static_cast<long long>(row + lane.group) * kVectors + lane.place;
}

__device__ inline bool in_piece(int step) { return kSteps % kWarps == 0 || step < kSteps; }

// Weights of this warp's steps of a chunk; `from` is moved along by whole pieces only.
__device__ inline Vector load_weight(const Vector* from, int piece, int chunk, int j, int warp) {
  const int turn = chunk * kChunk + j, step = turn * kWarps + warp;
  if (turn >= kWarpSteps || !in_piece(step)) return {};
  return stream(from + (piece * kSteps + step) * 4);
}

// Begins to copy a piece of the rows into shared memory.
__device__ inline void stage(const Vector* x, int rows, int piece, Vector* staged) {
  for (int i = threadIdx.x; i < rows * kPieceVectors; i += kThreads) {
    const int row = i / kPieceVectors, column = i % kPieceVectors;
    copy_later(staged + row * kPitch + column, x + row * kVectors + piece * kPieceVectors + column);
  }
  end_copies();
}

__device__ inline float sum_of_four(float value) {  // lanes that have the same row
  value += __shfl_xor_sync(~0u, value, 1);
  return value + __shfl_xor_sync(~0u, value, 2);
}

// Columns of a row that a warp has.
__device__ inline int columns_of(int warp) { return (kSteps - warp + kWarps - 1) / kWarps * 32; }

struct Scaling {
  float mean, scale;
};

// Of a row, from the mean of each warp's columns and the sum of squares beside it.
__device__ inline Scaling scaling_of(const float* parts, int row, float epsilon) {
  float mean = 0.f, squares = 0.f;
#pragma unroll
  for (int warp = 0; warp < kWarps; ++warp) {
    mean += parts[(warp * ROWS + row) * 2] * columns_of(warp);
  }
  mean /= WIDTH;
#pragma unroll
  for (int warp = 0; warp < kWarps; ++warp) {
    const float* part = parts + (warp * ROWS + row) * 2;
    squares += part[1] + columns_of(warp) * (part[0] - mean) * (part[0] - mean);
  }
  return {mean, rsqrtf(squares / WIDTH + epsilon)};
}

__device__ inline Vector normed_vector(const Vector& raw, const Scaling& by, const float* affine) {
  const float4* weights = reinterpret_cast<const float4*>(affine);
  const float4* biases = reinterpret_cast<const float4*>(affine + WIDTH);
  const float shift = -by.mean * by.scale;
  float values[kLanes];
  unpack(raw, values);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float4 w = weights[half], b = biases[half];
    float* v = values + 4 * half;
    v[0] = (v[0] * by.scale + shift) * w.x + b.x;
    v[1] = (v[1] * by.scale + shift) * w.y + b.y;
    v[2] = (v[2] * by.scale + shift) * w.z + b.z;
    v[3] = (v[3] * by.scale + shift) * w.w + b.w;
  }
  return pack(values);
}

// The norms of the rows into shared memory, where a thread reads only what it has written: `own` is
// its column of (kWarpSteps, kSets, kThreads). `affine` has weights, then biases.
__device__ inline void stage_normed(const Vector* x, int rows, const float* affine, bool center,
                                    float epsilon, const Lane& lane, Vector* own, float* parts) {
  constexpr bool kKeeps = kWarpSteps * kSets <= 8;  // in registers; else in shared memory
  Vector kept[kKeeps ? kWarpSteps : 1][kSets];
  const auto has = [&](int j, int set) {
    return lane.group + 8 * set < rows && j * kWarps + lane.warp < kSteps;
  };
#pragma unroll
  for (int j = 0; j < kWarpSteps; ++j) {
#pragma unroll
    for (int set = 0; set < kSets; ++set) {
      const Vector* from =
          x + (lane.group + 8 * set) * kVectors + (j * kWarps + lane.warp) * 4 + lane.place;
      if (kKeeps) {
        kept[kKeeps ? j : 0][set] = has(j, set) ? fetch(from) : Vector{};
      } else if (has(j, set)) {
        copy_later(own + (j * kSets + set) * kThreads, from);
      }
    }
  }
  if (!kKeeps) {
    end_copies();
    wait_for_copies<0>();
  }
  const auto unpack_part = [&](int j, int set, float(&values)[kLanes]) {
    if (kKeeps) return unpack(kept[kKeeps ? j : 0][set], values);
    unpack(has(j, set) ? own[(j * kSets + set) * kThreads] : Vector{}, values);
  };
#pragma unroll
  for (int set = 0; set < kSets; ++set) {
    float mean = 0.f, squares = 0.f;
    if (center) {
#pragma unroll
      for (int j = 0; j < kWarpSteps; ++j) {
        float values[kLanes];
        unpack_part(j, set, values);
        mean += ((values[0] + values[1]) + (values[2] + values[3])) +
                ((values[4] + values[5]) + (values[6] + values[7]));
      }
      mean = sum_of_four(mean) / (columns_of(lane.warp) > 0 ? columns_of(lane.warp) : 1);
    }
#pragma unroll
    for (int j = 0; j < kWarpSteps; ++j) {
      if (j * kWarps + lane.warp >= kSteps) continue;
      float values[kLanes], sums[2] = {};
      unpack_part(j, set, values);
#pragma unroll
      for (int c = 0; c < kLanes; ++c) sums[c % 2] += (values[c] - mean) * (values[c] - mean);
      squares += sums[0] + sums[1];
    }
    squares = sum_of_four(squares);
    if (lane.place != 0) continue;
    float* part = parts + (lane.warp * ROWS + lane.group + 8 * set) * 2;
    part[0] = mean;
    part[1] = squares;
  }
  __syncthreads();
#pragma unroll
  for (int set = 0; set < kSets; ++set) {
    const Scaling by = scaling_of(parts, lane.group + 8 * set, epsilon);
#pragma unroll
    for (int j = 0; j < kWarpSteps; ++j) {
      if (!has(j, set)) continue;
      Vector* mine = own + (j * kSets + set) * kThreads;
      *mine = normed_vector(kKeeps ? kept[kKeeps ? j : 0][set] : *mine, by,
                            affine + (j * kWarps + lane.warp) * 32 + lane.place * 8);
    }
  }
}

__device__ inline float activate(float x, int kind) {
  if (kind == 1) return x / (1.f + __expf(-x));
  if (kind == 2) return .5f * x * (1.f + erff(x * .70710678f));
  if (kind == 3) return .5f * x * (1.f + tanhf(.79788456f * (x + .044715f * x * x * x)));
  return x;
}

// The feature of value k of this thread, or -1.
__device__ inline int feature_of(int tile, int k) {
  const int i = (static_cast<int>(threadIdx.x) + k * kThreads) / kTileSums;
  return i < kOutTiles ? tile * kFeatures + i * 8 + static_cast<int>(threadIdx.x) % 8 : -1;
}

// `norm_kind`: 0 none, 1 RMS, 2 layer norm; weight and bias or null. `activation`: 0 none, 1 SiLU,
// 2 GELU, 3 GELU by tanh. Stores x Wᵀ + bias (rows, features), activated, plus `residual` if there
// is one, as scalars, or as f32 in `logits` with the largest of each row and block in `best`
// (blocks, rows).
extern "C" __global__ void __launch_bounds__(256, 2)
    decode_product(const Vector* x, const float* norm_weight, const float* norm_bias, int norm_kind,
                   float epsilon, Layers layers, const Scalar* residual, Scalar* out, float* logits,
                   Best* best, int rows, int features, int activation) {
  extern __shared__ __align__(16) unsigned char memory[];
  Vector* staged = reinterpret_cast<Vector*>(memory);
  // Two pieces, of which one arrives while the other is used.
  const int staged_vectors = NORMED ? kNormedVectors : (PIECES > 1 ? 2 : 1) * rows * kPitch;
  float* affine = reinterpret_cast<float*>(staged + staged_vectors);
  float* parts = affine + 2 * WIDTH;  // (warps, ROWS, 2), like affine only if NORMED
  float* sums = NORMED ? parts + 2 * kWarps * ROWS : affine;  // (warps, tiles, ROWS, 8)
  const int thread = threadIdx.x, low_lane = thread % 32;
  const Lane lane{thread / 32, low_lane / 4, low_lane % 4};
  const int tiles = (features + kFeatures - 1) / kFeatures;
  const int stride = gridDim.x;
  int tile = blockIdx.x;
  let_others_start();

  const Vector* from[TILES];
  Vector weights[kChunk][TILES];
  const auto begin_tile = [&](int which) {
#pragma unroll
    for (int i = 0; i < TILES; ++i) from[i] = weight_row(layers, features, which, i, lane);
  };
  const auto load = [&](int piece, int chunk, int j) {
#pragma unroll
    for (int i = 0; i < TILES; ++i) {
      weights[j][i] = load_weight(from[i], piece, chunk, j, lane.warp);
    }
  };
  // What is added to the values that this thread finishes: the bias is a constant, others are not.
  const int row = thread / 8 % ROWS;
  float added[kOutputs], gate[kOutputs];  // gate: before the gate's activation, or the residual
  const auto add_biases = [&](int which_tile) {
#pragma unroll
    for (int k = 0; k < kOutputs; ++k) {
      const int feature = feature_of(which_tile, k);
      added[k] = gate[k] = 0.f;
      if (feature < 0 || feature >= features || row >= rows) continue;
      const int which = GATED ? 1 : layer_of(layers, feature);
      const int before = GATED || which == 0 ? 0 : layers.ends[which - 1];
      if (layers.bias[which] != nullptr) added[k] = layers.bias[which][feature - before];
      if (GATED && layers.bias[0] != nullptr) gate[k] = layers.bias[0][feature];
    }
  };
  const auto add_residual = [&](int which_tile) {
    if (GATED || residual == nullptr) return;
#pragma unroll
    for (int k = 0; k < kOutputs; ++k) {
      const int feature = feature_of(which_tile, k);
      if (feature < 0 || feature >= features || row >= rows) continue;
      gate[k] = to_float(fetch(residual + static_cast<long long>(row) * features + feature));
    }
  };
  begin_tile(tile);
#pragma unroll
  for (int j = 0; j < kChunk; ++j) load(0, 0, j);
  add_biases(tile);
  if (NORMED) {
    for (int i = thread; i < WIDTH; i += kThreads) {
      affine[i] = norm_weight != nullptr ? norm_weight[i] : 1.f;
      affine[WIDTH + i] = norm_bias != nullptr ? norm_bias[i] : 0.f;
    }
    __syncthreads();
  }
  wait_for_others();
  if (NORMED) {
    stage_normed(x, rows, affine, norm_kind == 2, epsilon, lane, staged + thread, parts);
  } else {
    stage(x, rows, 0, staged);
  }
  add_residual(tile);
  if (PIECES == 1 && !NORMED) {
    wait_for_copies<0>();
    __syncthreads();
  }

  Best mine{-__int_as_float(0x7f800000), 0};
  for (; tile < tiles; tile += stride) {
    float total[2][TILES][4] = {};  // two sums, since one waits for itself
#pragma unroll 1
    for (int piece = 0; piece < PIECES; ++piece) {
      const Vector* rows_now = staged + (PIECES > 1 ? piece % 2 * rows * kPitch : 0);
      if (PIECES > 1) {
        if (piece > 0) __syncthreads();  // the buffer is free
        if (piece + 1 < PIECES) {
          stage(x, rows, piece + 1, staged + (piece + 1) % 2 * rows * kPitch);
          wait_for_copies<1>();
        } else {
          wait_for_copies<0>();
        }
        __syncthreads();
      }
#pragma unroll 1
      for (int chunk = 0; chunk < kChunks; ++chunk) {
        int next_piece = piece, next_chunk = chunk + 1;
        if (next_chunk == kChunks) next_piece = piece + 1, next_chunk = 0;
        bool more = next_piece < PIECES;
        if (!more && tile + stride < tiles) {
          begin_tile(tile + stride);
          more = true;
          next_piece = 0;
        }
#pragma unroll
        for (int j = 0; j < kChunk; ++j) {
          const int turn = chunk * kChunk + j, step = turn * kWarps + lane.warp;
          if (turn < kWarpSteps && in_piece(step)) {
            const Vector* column = NORMED ? staged + turn * kSets * kThreads + thread
                                          : rows_now + step * 4 + lane.place + lane.group * kPitch;
            const Vector a = lane.group < rows ? *column : Vector{};
            Vector b = {};
            if (ROWS == 16 && lane.group + 8 < rows) {
              b = column[NORMED ? (kSets - 1) * kThreads : 8 * kPitch];
            }
#pragma unroll
            for (int i = 0; i < TILES; ++i) {
              const Vector& w = weights[j][i];
              multiply(total[0][i], a.words[0], b.words[0], a.words[1], b.words[1], w.words[0],
                       w.words[1]);
              multiply(total[1][i], a.words[2], b.words[2], a.words[3], b.words[3], w.words[2],
                       w.words[3]);
            }
          }
          if (more) load(next_piece, next_chunk, j);
        }
      }
    }

#pragma unroll
    for (int i = 0; i < TILES; ++i) {
      float* to = sums + (lane.warp * TILES + i) * kTileSums + lane.group * 8 + lane.place * 2;
      to[0] = total[0][i][0] + total[1][i][0];
      to[1] = total[0][i][1] + total[1][i][1];
      if (ROWS == 16) {
        to[64] = total[0][i][2] + total[1][i][2];
        to[65] = total[0][i][3] + total[1][i][3];
      }
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kOutputs; ++k) {
      const int index = thread + k * kThreads, feature = feature_of(tile, k);
      if (feature < 0 || feature >= features || row >= rows) continue;
      float value = added[k], before = gate[k];
#pragma unroll
      for (int warp = 0; warp < kWarps; ++warp) {
        const float* of_warp = sums + warp * TILES * kTileSums + index;
        if (GATED) before += of_warp[0];
        value += of_warp[GATED ? kOutTiles * kTileSums : 0];
      }
      value = GATED ? activate(before, activation) * value : activate(value, activation) + before;
      const long long place = static_cast<long long>(row) * features + feature;
      if (logits != nullptr) {
        logits[place] = value;
        mine = better(mine, {value, feature});
      } else {
        out[place] = to_scalar(value);
      }
    }
    if (tile + stride < tiles) {
      add_biases(tile + stride);
      add_residual(tile + stride);
    }
    __syncthreads();
  }
  if (best == nullptr) return;
  Best* found = reinterpret_cast<Best*>(sums);
  found[thread] = mine;
  __syncthreads();
  if (thread >= rows) return;
  for (int k = thread * 8; k < kThreads; k += ROWS * 8) {
    for (int i = 0; i < 8; ++i)
      mine = k == thread * 8 && i == 0 ? found[k] : better(mine, found[k + i]);
  }
  best[blockIdx.x * rows + thread] = mine;
}
