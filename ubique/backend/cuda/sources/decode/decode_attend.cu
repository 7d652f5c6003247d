// SPDX-License-Identifier: Apache-2.0
// Attention of one new position of each text over its cached keys. A block has one text, up to 16
// query heads that share keys, and kSpan positions; the block that finishes last adds up the parts
// of a long text. The new key and value are stored on the way.
// SIZE: of a head, 64 or 128. WARPS: of a block.
#include "decode.cuh"

constexpr int kSpan = 512;      // positions of a block
constexpr int kHeads = 16;      // query heads of a block
constexpr int kPositions = 16;  // of a warp at a time
constexpr int kVectors = SIZE / 8, kBlocks = SIZE / 32, kHalves = SIZE / 64;
constexpr int kTurns = kSpan / (kPositions * WARPS);
constexpr float kNone = -1e30f;
static_assert(kTurns * kPositions * WARPS == kSpan && SIZE % 64 == 0, "whole warps and halves");

// Where the heads are in a row of the qkv product.
struct HeadPlaces {
  int row, query, key, value, query_stride, key_stride;
};
struct Texts {
  Scalar *keys, *values;  // (texts, kv heads, capacity, SIZE)
  int kv_heads, capacity, window;
};
struct Turning {  // what happens to queries and keys: norms (SIZE) and rotation (positions, size)
  const float *query_norm, *key_norm, *cos, *sin;
  int size;
  float epsilon;
};

// Keys and values of 16 positions, as the matrix instructions read them.
struct Cached {
  Vector keys[2][kBlocks];
  Vector values[kHalves][4];
};

__device__ inline int key_position(int base, int n, int group) { return base + 8 * n + group; }
__device__ inline int value_position(int base, int i, int place) {
  return base + 2 * place + i % 2 + i / 2 * 8;
}

// Those before `end`, others are 0.
__device__ inline void load_cached(Cached& cached, const Vector* keys, const Vector* values,
                                   int base, int end, int group, int place) {
#pragma unroll
  for (int n = 0; n < 2; ++n) {
    const int position = key_position(base, n, group);
#pragma unroll
    for (int b = 0; b < kBlocks; ++b) {
      cached.keys[n][b] =
          position < end ? fetch(keys + position * kVectors + b * 4 + place) : Vector{};
    }
  }
#pragma unroll
  for (int h = 0; h < kHalves; ++h) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int position = value_position(base, i, place);
      cached.values[h][i] =
          position < end ? fetch(values + position * kVectors + h * 8 + group) : Vector{};
    }
  }
}

// Puts the new position's key and value, which the cache may not show yet, into their places.
__device__ inline void add_fresh(Cached& cached, const Vector* key, const Vector* value, int base,
                                 int fresh, int group, int place) {
#pragma unroll
  for (int n = 0; n < 2; ++n) {
    if (key_position(base, n, group) != fresh) continue;
#pragma unroll
    for (int b = 0; b < kBlocks; ++b) cached.keys[n][b] = key[b * 4 + place];
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (value_position(base, i, place) != fresh) continue;
#pragma unroll
    for (int h = 0; h < kHalves; ++h) cached.values[h][i] = value[h * 8 + group];
  }
}

constexpr int kMine = SIZE / 32;  // values of a head for each lane

// One head by one warp, of which each lane has some values: normed and rotated, to `to` and perhaps
// also to `cache`.
__device__ inline void prepare_head(const Scalar (&head)[kMine], const float* norm,
                                    const Turning& turning, bool rotates, long long position,
                                    float* scratch, Scalar* to, Scalar* cache) {
  const int lane = threadIdx.x % 32;
  float x[kMine], squares = 0.f;
#pragma unroll
  for (int j = 0; j < kMine; ++j) {
    x[j] = to_float(head[j]);
    squares += x[j] * x[j];
  }
  if (norm != nullptr) {
    const float scale = rsqrtf(warp_sum(squares) / SIZE + turning.epsilon);
#pragma unroll
    for (int j = 0; j < kMine; ++j) {
      x[j] = to_float(to_scalar(x[j] * scale * norm[lane + 32 * j]));
    }
  }
  if (rotates && turning.cos != nullptr) {
#pragma unroll
    for (int j = 0; j < kMine; ++j) scratch[lane + 32 * j] = x[j];
    __syncwarp();
    const int half = turning.size / 2;
#pragma unroll
    for (int j = 0; j < kMine; ++j) {
      const int d = lane + 32 * j;
      if (d >= turning.size) continue;
      const float partner = d < half ? -scratch[d + half] : scratch[d - half];
      const long long angle = position * turning.size + d;
      x[j] = x[j] * turning.cos[angle] + partner * turning.sin[angle];
    }
    __syncwarp();
  }
#pragma unroll
  for (int j = 0; j < kMine; ++j) {
    const Scalar value = to_scalar(x[j]);
    to[lane + 32 * j] = value;
    if (cache != nullptr) cache[lane + 32 * j] = value;
  }
}

// What a warp knows after some positions: for heads g and g + 8 the largest score, this lane's
// share of the sum of weights, and the weighted sum of values.
struct Running {
  float largest[2], weight[2];
  float sum[kHalves][8][4];
};

__device__ inline unsigned pair_of(const Vector& first, const Vector& second, int j) {
  const unsigned a = first.words[j / 2], b = second.words[j / 2];
  return j % 2 == 0 ? (a & 0xffffu) | b << 16 : a >> 16 | (b & 0xffff0000u);
}

__device__ inline void attend(Running& running, const Cached& cached, const Vector (&low)[kBlocks],
                              const Vector (&high)[kBlocks], int base, int first, int last,
                              float scale, int place) {
  float scores[2][4] = {};
#pragma unroll
  for (int n = 0; n < 2; ++n) {
#pragma unroll
    for (int b = 0; b < kBlocks; ++b) {
      const Vector &key = cached.keys[n][b], &q = low[b], &r = high[b];
      multiply(scores[n], q.words[0], r.words[0], q.words[1], r.words[1], key.words[0],
               key.words[1]);
      multiply(scores[n], q.words[2], r.words[2], q.words[3], r.words[3], key.words[2],
               key.words[3]);
    }
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      const int position = base + 8 * n + 2 * place + c % 2;
      const bool seen = position >= first && position <= last;
      scores[n][c] = seen ? scores[n][c] * scale : kNone;
    }
  }
  float kept[2];
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    float largest = running.largest[r];
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      largest = fmaxf(largest, fmaxf(scores[n][2 * r], scores[n][2 * r + 1]));
    }
    largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, 1));
    largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, 2));
    kept[r] = exp2f(running.largest[r] - largest);
    running.largest[r] = largest;
    running.weight[r] *= kept[r];
#pragma unroll
    for (int n = 0; n < 2; ++n) {
#pragma unroll
      for (int c = 2 * r; c < 2 * r + 2; ++c) {
        scores[n][c] = scores[n][c] > kNone ? exp2f(scores[n][c] - largest) : 0.f;
        running.weight[r] += scores[n][c];
      }
    }
  }
  const unsigned a0 = pack_two(scores[0][0], scores[0][1]);
  const unsigned a1 = pack_two(scores[0][2], scores[0][3]);
  const unsigned a2 = pack_two(scores[1][0], scores[1][1]);
  const unsigned a3 = pack_two(scores[1][2], scores[1][3]);
#pragma unroll
  for (int h = 0; h < kHalves; ++h) {
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      float(&sum)[4] = running.sum[h][j];
      sum[0] *= kept[0], sum[1] *= kept[0], sum[2] *= kept[1], sum[3] *= kept[1];
      const Vector(&v)[4] = cached.values[h];
      multiply(sum, a0, a1, a2, a3, pair_of(v[0], v[1], j), pair_of(v[2], v[3], j));
    }
  }
}

// Parts of a result: for each head SIZE sums, then the largest score and the sum of weights.
constexpr int kPart = SIZE + 2;

// One head's share of this lane, with the largest score and the sum of weights.
struct Merged {
  float values[kMine], largest, weight;
};

// Of the block's warps, by one warp.
__device__ inline Merged merge_warps(const float* parts, int head, int lane) {
  const float* part = parts + (lane % WARPS * kHeads + head) * kPart;
  const float largest = lane < WARPS ? part[SIZE] : kNone;
  Merged merged{{}, warp_max(largest), 0.f};
  const float factor = lane < WARPS ? exp2f(largest - merged.largest) : 0.f;
  merged.weight = warp_sum(factor * (lane < WARPS ? part[SIZE + 1] : 0.f));
#pragma unroll
  for (int warp = 0; warp < WARPS; ++warp) {
    const float share = __shfl_sync(~0u, factor, warp);
#pragma unroll
    for (int j = 0; j < kMine; ++j) {
      merged.values[j] += share * parts[(warp * kHeads + head) * kPart + lane + 32 * j];
    }
  }
  return merged;
}

// Of `count` blocks, which have written `all`, by one warp.
__device__ inline Merged merge_blocks(const float* all, int head, int count, int lane) {
  constexpr int kAtOnce = 4;
  const auto part = [&](int i) { return all + (i * kHeads + head) * kPart; };
  Merged merged{{}, kNone, 0.f};
  for (int i = lane; i < count; i += 32) {
    merged.largest = fmaxf(merged.largest, fetch(part(i) + SIZE));
  }
  merged.largest = warp_max(merged.largest);
  for (int base = 0; base < count; base += kAtOnce) {
    float shares[kAtOnce], weights[kAtOnce], values[kAtOnce][kMine];
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
      const float* from = part(base + u < count ? base + u : base);
      shares[u] = fetch(from + SIZE);
      weights[u] = fetch(from + SIZE + 1);
#pragma unroll
      for (int j = 0; j < kMine; ++j) values[u][j] = fetch(from + lane + 32 * j);
    }
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
      const float share = base + u < count ? exp2f(shares[u] - merged.largest) : 0.f;
      merged.weight += share * weights[u];
#pragma unroll
      for (int j = 0; j < kMine; ++j) merged.values[j] += share * values[u][j];
    }
  }
  return merged;
}

__device__ inline void store_head(Scalar* out, const Merged& merged, int lane) {
#pragma unroll
  for (int j = 0; j < kMine; ++j) {
    out[lane + 32 * j] = to_scalar(merged.values[j] / merged.weight);
  }
}

// `partial` (groups of heads, splits, kHeads, kPart) and `counters` (groups of heads), which are 0
// before and after, for texts longer than kSpan; `mixed` (texts, heads, SIZE).
extern "C" __global__ void __launch_bounds__(32 * WARPS, 1)
    decode_attend(const Scalar* qkv, HeadPlaces places, const long long* positions, Texts texts,
                  Turning turning, float* partial, unsigned* counters, Scalar* mixed, int heads,
                  int splits, float scale) {
  extern __shared__ __align__(16) unsigned char memory[];
  Scalar* queries = reinterpret_cast<Scalar*>(memory);          // (kHeads, SIZE)
  Scalar* fresh = queries + kHeads * SIZE;                      // key and value
  float* scratch = reinterpret_cast<float*>(fresh + 2 * SIZE);  // (WARPS, SIZE)
  float* parts = scratch + WARPS * SIZE;                        // (WARPS, kHeads, kPart)
  int* is_last = reinterpret_cast<int*>(parts + WARPS * kHeads * kPart);
  const int thread = threadIdx.x, warp = thread / 32, group = thread % 32 / 4, place = thread % 4;
  const int sharing = heads / texts.kv_heads, groups = (sharing + kHeads - 1) / kHeads;
  const int split = blockIdx.x % splits, unit = blockIdx.x / splits;
  const int kv_head = unit / groups % texts.kv_heads, text = unit / groups / texts.kv_heads;
  const int in_group = unit % groups * kHeads, first_head = kv_head * sharing + in_group;
  const int count = sharing - in_group < kHeads ? sharing - in_group : kHeads;
  let_others_start();

  // Positions and older keys were written before this step began.
  const int last = static_cast<int>(positions[text]);
  const int first = texts.window > 0 && last >= texts.window ? last + 1 - texts.window : 0;
  const int begin = first / kSpan, active = last / kSpan - begin + 1;
  if (split < begin || split >= begin + active) return;
  const long long offset =
      (static_cast<long long>(text) * texts.kv_heads + kv_head) * texts.capacity * SIZE;
  const Vector* keys = reinterpret_cast<const Vector*>(texts.keys + offset);
  const Vector* values = reinterpret_cast<const Vector*>(texts.values + offset);
  int base = split * kSpan + warp * kPositions;
  Cached cached;
  load_cached(cached, keys, values, base, last, group, place);
  wait_for_others();

  const bool owns_last = last / kSpan == split;
  const Scalar* row = qkv + static_cast<long long>(text) * places.row;
  constexpr int kItems = kHeads + 2, kItemTurns = (kItems + WARPS - 1) / WARPS;
  const int lane = thread % 32;
  Scalar heads_of_warp[kItemTurns][kMine];
#pragma unroll
  for (int turn = 0; turn < kItemTurns; ++turn) {
    const int item = turn * WARPS + warp;
    const bool is_query = item < count, is_key = item == kHeads, is_value = item == kHeads + 1;
    const int from = is_query ? places.query + (first_head + item) * places.query_stride
                     : is_key ? places.key + kv_head * places.key_stride
                              : places.value + kv_head * places.key_stride;
    const bool wanted = is_query || (owns_last && (is_key || is_value));
#pragma unroll
    for (int j = 0; j < kMine; ++j) {
      heads_of_warp[turn][j] = wanted ? fetch(row + from + lane + 32 * j) : Scalar{0};
    }
  }
#pragma unroll
  for (int turn = 0; turn < kItemTurns; ++turn) {
    const int item = turn * WARPS + warp;
    if (item < count) {
      prepare_head(heads_of_warp[turn], turning.query_norm, turning, true, last,
                   scratch + warp * SIZE, queries + item * SIZE, nullptr);
    } else if (item < kHeads) {
      for (int d = lane; d < SIZE; d += 32) queries[item * SIZE + d] = 0;
    } else if (item < kItems && owns_last) {
      const bool is_key = item == kHeads;
      Scalar* cache = is_key ? texts.keys : texts.values;
      prepare_head(heads_of_warp[turn], is_key ? turning.key_norm : nullptr, turning, is_key, last,
                   scratch + warp * SIZE, fresh + (is_key ? 0 : SIZE),
                   cache + offset + static_cast<long long>(last) * SIZE);
    }
  }
  __syncthreads();

  Vector low[kBlocks], high[kBlocks];
  const Vector* staged = reinterpret_cast<const Vector*>(queries);
#pragma unroll
  for (int b = 0; b < kBlocks; ++b) {
    low[b] = staged[group * kVectors + b * 4 + place];
    high[b] = staged[(group + 8) * kVectors + b * 4 + place];
  }
  Running running = {};
  running.largest[0] = running.largest[1] = kNone;
  for (int turn = 0; turn < kTurns; ++turn, base += WARPS * kPositions) {
    if (base > last || base + kPositions <= first) {
      if (turn + 1 < kTurns) {
        load_cached(cached, keys, values, base + WARPS * kPositions, last, group, place);
      }
      continue;
    }
    if (owns_last) {
      add_fresh(cached, reinterpret_cast<const Vector*>(fresh),
                reinterpret_cast<const Vector*>(fresh + SIZE), base, last, group, place);
    }
    attend(running, cached, low, high, base, first, last, scale, place);
    if (turn + 1 < kTurns) {
      load_cached(cached, keys, values, base + WARPS * kPositions, last, group, place);
    }
  }

#pragma unroll
  for (int r = 0; r < 2; ++r) {
    float weight = running.weight[r];
    weight += __shfl_xor_sync(~0u, weight, 1);
    weight += __shfl_xor_sync(~0u, weight, 2);
    float* part = parts + (warp * kHeads + group + 8 * r) * kPart;
#pragma unroll
    for (int h = 0; h < kHalves; ++h) {
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        part[h * 64 + 16 * place + j] = running.sum[h][j][2 * r];
        part[h * 64 + 16 * place + 8 + j] = running.sum[h][j][2 * r + 1];
      }
    }
    if (place == 0) {
      part[SIZE] = running.largest[r];
      part[SIZE + 1] = weight;
    }
  }
  __syncthreads();
  Scalar* out = mixed + (static_cast<long long>(text) * heads + first_head) * SIZE;
  float* mine = partial + (static_cast<long long>(unit) * splits + split) * kHeads * kPart;
  for (int head = warp; head < count; head += WARPS) {
    const auto merged = merge_warps(parts, head, lane);
    if (active == 1) {
      store_head(out + head * SIZE, merged, lane);
      continue;
    }
#pragma unroll
    for (int j = 0; j < kMine; ++j) mine[head * kPart + lane + 32 * j] = merged.values[j];
    if (lane != 0) continue;
    mine[head * kPart + SIZE] = merged.largest;
    mine[head * kPart + SIZE + 1] = merged.weight;
  }
  if (active == 1) return;
  __threadfence();
  __syncthreads();
  if (thread == 0) {
    *is_last = atomicAdd(counters + unit, 1u) == static_cast<unsigned>(active - 1);
    if (*is_last) counters[unit] = 0;
    __threadfence();
  }
  __syncthreads();
  if (!*is_last) return;
  const float* all = partial + (static_cast<long long>(unit) * splits + begin) * kHeads * kPart;
  for (int head = warp; head < count; head += WARPS) {
    store_head(out + head * SIZE, merge_blocks(all, head, active, lane), lane);
  }
}
