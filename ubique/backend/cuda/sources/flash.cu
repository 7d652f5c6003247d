// SPDX-License-Identifier: Apache-2.0
// Attention of long sequences on Hopper; queries and keys are already rotated. Three warpgroups with 64
// queries each keep scores and sums in registers and take turns at the tensor cores, so that the products
// of one overlap with the exponentials of the others; a fourth loads keys and values, 96 positions at a
// time, with the tensor copy engine.
// LENGTH, HEADS; heads of 64. CAUSAL. STAGES.
#include "ring.cuh"

constexpr int kGroups = 3, kKeys = 96, kQueries = kGroups * 64, kThreads = 128 + kGroups * 128;
constexpr int kQueryTiles = (LENGTH + kQueries - 1) / kQueries;
constexpr int kFewKeys = 64;  // size of the last key tile, if enough and all queries see it
constexpr bool kLastFew = !CAUSAL && (LENGTH - 1) % kKeys < kFewKeys;
constexpr unsigned kQueryBytes = 64 * 128, kKeyBytes = kKeys * 128, kStageBytes = 2 * kKeyBytes;

// Rows of 128 bytes in the copy engine's swizzle.
__device__ inline Descriptor swizzled(unsigned address) {
  return describe(address, 16, 1024) | static_cast<Descriptor>(1) << 62;
}

__device__ inline void everyone() { asm volatile("bar.sync 0, %0;" ::"n"(kThreads) : "memory"); }
// The warpgroups take turns in issuing products.
__device__ inline void turn_wait(int group) {
  asm volatile("bar.sync %0, 256;" ::"r"(group + 1) : "memory");
}
__device__ inline void turn_pass(int group) {
  asm volatile("bar.arrive %0, 256;" ::"r"((group + 1) % kGroups + 1) : "memory");
}

struct Tile {
  int sample, head, place;
  __device__ explicit Tile(int number) {
    place = number % kQueryTiles * kQueries;
    head = number / kQueryTiles % HEADS;
    sample = number / kQueryTiles / HEADS;
  }
  // Key tiles visible to these queries: at least two.
  __device__ int key_tiles() const {
    const int last = CAUSAL ? min(place + kQueries, LENGTH) : LENGTH;
    return (last + kKeys - 1) / kKeys;
  }
};

struct Queries {
  unsigned places, full, empty;  // addresses
  unsigned turn;
};

__device__ inline void bring(Ring& ring, Queries& queries, const TensorMap& query_map,
                             const TensorMap& key_map, int tiles) {
  for (int number = blockIdx.x; number < tiles; number += gridDim.x, queries.turn ^= 1) {
    const Tile tile(number);
    barrier_wait(queries.empty, queries.turn ^ 1);
    barrier_expect(queries.full, kGroups * kQueryBytes);
    for (int group = 0; group < kGroups; ++group) {
      tensor_load(queries.places + group * kQueryBytes, query_map, tile.head, tile.place + group * 64,
                  tile.sample, queries.full);
    }
    for (int block = 0; block < tile.key_tiles(); ++block, ++ring.step) {
      barrier_wait(ring.empty_now(), ring.parity() ^ 1);
      barrier_expect(ring.full_now(), kStageBytes);
      const unsigned stage = ring.stage_bytes(kStageBytes);
      tensor_load(stage, key_map, HEADS + tile.head, block * kKeys, tile.sample, ring.full_now());
      tensor_load(stage + kKeyBytes, key_map, 2 * HEADS + tile.head, block * kKeys, tile.sample,
                  ring.full_now());
    }
  }
}

// A thread's state in a warpgroup.
struct Work {
  int group, warp, lane;
  float scale;
  unsigned asked[4][4];               // queries, the left operand of four products
  unsigned powers[kKeys / 16][4];     // of the last scores, also a left operand
  float mixed[32];                    // weighted sums of values
  float offset[2], sums[2], shrink[2];  // two rows: powers are 2^(score scale + offset)
  bool grew;
};

__device__ inline void load_queries(Work& work, const Queries& queries) {
  barrier_wait(queries.full, queries.turn);
  const int own = work.warp * 16 + work.lane % 16;
  const unsigned at = queries.places + work.group * kQueryBytes + own * 128 +
                      (work.lane / 16 ^ own % 8) * 16;
#pragma unroll
  for (int s = 0; s < 4; ++s) load_blocks(work.asked[s], at ^ s * 32);
  if (work.lane == 0) barrier_arrive(queries.empty);
}

template <int count>
__device__ inline void score(float (&scores)[count], const Work& work, unsigned stage) {
#pragma unroll
  for (int i = 0; i < count; ++i) scores[i] = 0.f;  // otherwise the old values would stay live until here
  products_begin();
#pragma unroll
  for (int s = 0; s < 4; ++s) product(scores, work.asked[s], swizzled(stage + s * 32), s == 0);
  products_commit();
}

template <int keys>
__device__ inline void mix(Work& work, unsigned stage) {
  products_begin();
#pragma unroll
  for (int s = 0; s < keys / 16; ++s) {
    product_of_columns(work.mixed, work.powers[s], swizzled(stage + kKeyBytes + s * 2048), false);
  }
  products_commit();
}

__device__ inline float power_of_two(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ inline float quad_largest(float value) {
  value = fmaxf(value, __shfl_xor_sync(~0u, value, 1));
  return fmaxf(value, __shfl_xor_sync(~0u, value, 2));
}

template <int count>
__device__ inline void mask(float (&scores)[count], int first_key, int row, int lane) {
#pragma unroll
  for (int i = 0; i < count; ++i) {
    const int key = first_key + i / 4 * 8 + lane % 4 * 2 + i % 2;
    if (key >= LENGTH || (CAUSAL && key > row + i / 2 % 2 * 8)) {
      scores[i] = -__int_as_float(0x7f800000);
    }
  }
}

// How the rows' offsets (their maxima, in theory) are found. Taking the maximum of all scores costs a
// tenth of the time. The maximum of the first keys will do unless later scores exceed it beyond f32's
// range (kTrusting, checked at the end); kCareful looks at all scores and rescales when they exceed the
// known maximum 256-fold.
enum Care { kFirst, kTrusting, kCareful };

template <Care care, int count>
__device__ inline void find_offsets(Work& work, const float (&scores)[count]) {
  float top[2];
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    float even = scores[r * 2], odd = scores[r * 2 + 1];
#pragma unroll
    for (int i = r * 2 + 4; i < count; i += 4) {
      even = fmaxf(even, scores[i]);
      odd = fmaxf(odd, scores[i + 1]);
    }
    top[r] = fmaxf(even, odd) * work.scale;
  }
  if (care == kCareful) {
    work.grew = __any_sync(~0u, fmaxf(top[0] + work.offset[0], top[1] + work.offset[1]) > 8.f);
    if (!work.grew) return;
  }
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const float offset = -quad_largest(top[r]), before = work.offset[r];
    work.offset[r] = care == kFirst ? offset : fminf(offset, before);
    work.shrink[r] = care == kFirst ? 0.f : power_of_two(work.offset[r] - before);
    work.sums[r] = care == kFirst ? 0.f : work.sums[r] * work.shrink[r];
  }
}

// Replaces scores by packed powers of two; rescales earlier sums if the offset changed.
template <Care care, int count>
__device__ inline void soften(Work& work, float (&scores)[count], int first_key, int row) {
  const int last = CAUSAL ? min(row - work.lane / 4, LENGTH - 1) : LENGTH - 1;
  if (first_key + 2 * count > last + 1) mask(scores, first_key, row, work.lane);
  if (care != kTrusting) find_offsets<care>(work, scores);
#pragma unroll
  for (int i = 0; i < count; ++i) {
    scores[i] = power_of_two(fmaf(scores[i], work.scale, work.offset[i / 2 % 2]));
    work.sums[i / 2 % 2] += scores[i];
  }
#pragma unroll
  for (int j = 0; j < count / 2; ++j) {
    work.powers[j / 4][j % 4] = pack_pair(scores[j * 2], scores[j * 2 + 1]);
  }
  if (care == kFirst || (care == kCareful && work.grew)) {
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      work.mixed[i] = care == kFirst ? 0.f : work.mixed[i] * work.shrink[i / 2 % 2];
    }
  }
}

// Scores of the next keys, and the weighted sum of the previous values.
template <Care care, int keys>
__device__ inline void go_on(Work& work, Ring& ring, int first_key, int row) {
  const unsigned before = ring.stage_bytes(kStageBytes), empty = ring.empty_now();
  ++ring.step;
  barrier_wait(ring.full_now(), ring.parity());
  float scores[keys / 2];
  turn_wait(work.group);
  score(scores, work, ring.stage_bytes(kStageBytes));
  mix<kKeys>(work, before);
  turn_pass(work.group);
  products_wait<0>();
  if (work.lane == 0) barrier_arrive(empty);
  soften<care>(work, scores, first_key, row);
}

// Also writes the log-sum-exp (samples, HEADS, LENGTH) unless `logs` is null.
__device__ inline void write_tile(Bf16* y, float* logs, const Work& work, const Tile& tile, int row) {
  const int lane = work.lane;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    float sum = work.sums[r];
    sum += __shfl_xor_sync(~0u, sum, 1);
    sum += __shfl_xor_sync(~0u, sum, 2);
    const float share = __fdividef(1.f, sum);
    unsigned even[4], odd[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int i = j * 8 + r * 2;
      even[j] = pack_pair(work.mixed[i] * share, work.mixed[i + 1] * share);
      odd[j] = pack_pair(work.mixed[i + 4] * share, work.mixed[i + 5] * share);
    }
    trade(even, lane);
    trade(odd, lane);
    const int place = row + r * 8;
    if (place >= LENGTH) continue;
    if (logs && lane % 4 == 0) {
      logs[(static_cast<long long>(tile.sample) * HEADS + tile.head) * LENGTH + place] =
          0.69314718f * (__log2f(sum) - work.offset[r]);
    }
    const long long token = static_cast<long long>(tile.sample) * LENGTH + place;
    uint4* const to = reinterpret_cast<uint4*>(y + (token * HEADS + tile.head) * 64 + lane % 4 * 16);
    to[0] = make_uint4(even[0], even[1], even[2], even[3]);
    to[1] = make_uint4(odd[0], odd[1], odd[2], odd[3]);
  }
}

// Returns true if all sums stayed in range.
template <Care care>
__device__ inline bool attend_tiles(Ring& ring, Queries& queries, Bf16* y, float* logs, int tiles,
                                    float scale) {
  constexpr bool kFew = kLastFew && care == kTrusting;
  Work work;
  work.group = threadIdx.x / 128 - 1, work.warp = threadIdx.x / 32 % 4, work.lane = threadIdx.x % 32;
  work.scale = scale;
  bool good = true;
  float scores[kKeys / 2];
  load_queries(work, queries);
  barrier_wait(ring.full_now(), ring.parity());
  score(scores, work, ring.stage_bytes(kStageBytes));
  for (int number = blockIdx.x; number < tiles; number += gridDim.x) {
    const Tile tile(number);
    const int row = tile.place + work.group * 64 + work.warp * 16 + work.lane / 4;
    const int blocks = tile.key_tiles();
    products_wait<0>();
    soften<kFirst>(work, scores, 0, row);
#pragma unroll 1
    for (int block = 1; block < blocks - kFew; ++block) {
      go_on<care, kKeys>(work, ring, block * kKeys, row);
    }
    if (kFew) go_on<care, kFewKeys>(work, ring, (blocks - 1) * kKeys, row);
    const unsigned stage = ring.stage_bytes(kStageBytes), empty = ring.empty_now();
    ++ring.step;
    queries.turn ^= 1;
    turn_wait(work.group);
    mix<kFew ? kFewKeys : kKeys>(work, stage);
    if (number + gridDim.x < tiles) {
      load_queries(work, queries);
      barrier_wait(ring.full_now(), ring.parity());
    }
    score(scores, work, ring.stage_bytes(kStageBytes));  // for the next tile; unused after the last
    turn_pass(work.group);
    products_wait<1>();
    if (work.lane == 0) barrier_arrive(empty);
    good &= work.sums[0] < 1e30f && work.sums[1] < 1e30f;
    write_tile(y, logs, work, tile, row);
  }
  products_wait<0>();
  return good;
}

// `scale` includes the factor log2(e). Both maps are of qkv (samples, LENGTH, 3 HEADS, 64); boxes of
// 64 and 96. `logs` may be null.
extern "C" __global__ void __launch_bounds__(kThreads, 1)
    flash(const __grid_constant__ TensorMap query_map, const __grid_constant__ TensorMap key_map, Bf16* y,
          float* logs, int tiles, float scale) {
  extern __shared__ __align__(1024) char memory[];
  constexpr unsigned kQueriesAt = STAGES * kStageBytes, kBarriersAt = kQueriesAt + kGroups * kQueryBytes;
  constexpr unsigned kMoreAt = kBarriersAt + 16 * STAGES;
  Ring ring = make_ring(memory, kBarriersAt, 4 * kGroups);
  const unsigned base = shared_address(memory);
  Queries queries = {base + kQueriesAt, base + kMoreAt, base + kMoreAt + 8, 0};
  volatile int* const again = reinterpret_cast<int*>(memory + kMoreAt + 16);
  if (threadIdx.x == 0) {
    barrier_init(queries.full, 1);
    barrier_init(queries.empty, 4 * kGroups);
    barrier_publish();
    *again = 0;
  }
  everyone();
  if (threadIdx.x < 128) {
    give_registers<32>();
    if (threadIdx.x == 0) bring(ring, queries, query_map, key_map, tiles);
    everyone();
    if (*again && threadIdx.x == 0) bring(ring, queries, query_map, key_map, tiles);
  } else {
    take_registers<160>();
    if (threadIdx.x / 128 == kGroups) turn_pass(kGroups - 1);
    if (!attend_tiles<kTrusting>(ring, queries, y, logs, tiles, scale)) *again = 1;
    everyone();
    if (*again) attend_tiles<kCareful>(ring, queries, y, logs, tiles, scale);
  }
}
