// Attention of long sequences without gradients, on Hopper: queries and keys are turned already. Three
// warpgroups have 64 places each and keep scores and sums in registers; a fourth brings keys and
// values, 96 places at a time, by the tensor copy engine.
// LENGTH, HEADS; heads of 64. CAUSAL. STAGES.
constexpr int kGroups = 3, kKeys = 96, kQueries = kGroups * 64;
constexpr int kQueryTiles = (LENGTH + kQueries - 1) / kQueries;
constexpr unsigned kQueryBytes = 64 * 128, kKeyBytes = kKeys * 128, kStageBytes = 2 * kKeyBytes;

struct alignas(64) TensorMap {
  char bytes[128];
};

// 64 values of `rows` places from `place` on; beyond the last there are zeros.
__device__ inline void tensor_load(unsigned to, const TensorMap& map, int slice, int place, int sample,
                                   unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, "
      "%4, %5}], [%6];" ::"r"(to),
      "l"(&map), "r"(0), "r"(slice), "r"(place), "r"(sample), "r"(barrier)
      : "memory");
}

// Rows of 128 bytes, whose sixteenths change places by their row (the copy engine's swizzle).
__device__ inline Descriptor swizzled(unsigned address) {
  return describe(address, 16, 1024) | static_cast<Descriptor>(1) << 62;
}

struct Tile {
  int sample, head, place;
  __device__ explicit Tile(int number) {
    place = number % kQueryTiles * kQueries;
    head = number / kQueryTiles % HEADS;
    sample = number / kQueryTiles / HEADS;
  }
  // The last of the key tiles that these places see.
  __device__ int key_tiles() const {
    const int last = CAUSAL ? min(place + kQueries, LENGTH) : LENGTH;
    return (last + kKeys - 1) / kKeys;
  }
};

__device__ inline void bring(Ring ring, unsigned queries, unsigned query_full, unsigned query_empty,
                             const TensorMap& query_map, const TensorMap& key_map, int tiles) {
  unsigned turn = 0;
  for (int number = blockIdx.x; number < tiles; number += gridDim.x, turn ^= 1) {
    const Tile tile(number);
    barrier_wait(query_empty, turn ^ 1);
    barrier_expect(query_full, kGroups * kQueryBytes);
    for (int group = 0; group < kGroups; ++group) {
      tensor_load(queries + group * kQueryBytes, query_map, tile.head, tile.place + group * 64,
                  tile.sample, query_full);
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

__device__ inline float power_of_two(float x) {
  float y;
  asm("ex2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ inline float quad_largest(float value) {
  value = fmaxf(value, __shfl_xor_sync(~0u, value, 1));
  return fmaxf(value, __shfl_xor_sync(~0u, value, 2));
}

// What a thread knows of its two rows.
struct Rows {
  float largest[2], sums[2];
};

// Scores to powers of two below the rows' largest, packed as the left operand of products; what was
// summed before shrinks accordingly.
__device__ inline void soften(float (&scores)[48], unsigned (&powers)[6][4], float (&mixed)[32], Rows& rows,
                              int first_key, int row, int lane, float scale) {
  const bool whole = first_key + kKeys <= LENGTH && !CAUSAL;
  float before[2] = {rows.largest[0], rows.largest[1]};
#pragma unroll
  for (int i = 0; i < 48; ++i) {
    if (!whole) {
      const int key = first_key + i / 4 * 8 + lane % 4 * 2 + i % 2;
      if (key >= LENGTH || (CAUSAL && key > row + i / 2 % 2 * 8)) {
        scores[i] = -__int_as_float(0x7f800000);
      }
    }
    rows.largest[i / 2 % 2] = fmaxf(rows.largest[i / 2 % 2], scores[i]);
  }
  float offset[2];
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    rows.largest[r] = quad_largest(rows.largest[r]);
    const float shrink = power_of_two((before[r] - rows.largest[r]) * scale);
    offset[r] = rows.largest[r] * scale;
    rows.sums[r] *= shrink;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      mixed[j * 4 + r * 2] *= shrink;
      mixed[j * 4 + r * 2 + 1] *= shrink;
    }
  }
#pragma unroll
  for (int j = 0; j < 12; ++j) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float a = power_of_two(fmaf(scores[j * 4 + r * 2], scale, -offset[r]));
      const float b = power_of_two(fmaf(scores[j * 4 + r * 2 + 1], scale, -offset[r]));
      rows.sums[r] += a + b;
      powers[j / 2][j % 2 * 2 + r] = pack_pair(a, b);
    }
  }
}

__device__ inline void write_tile(Bf16* y, const float (&mixed)[32], const Rows& rows, const Tile& tile,
                                  int row, int lane) {
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    float sum = rows.sums[r];
    sum += __shfl_xor_sync(~0u, sum, 1);
    sum += __shfl_xor_sync(~0u, sum, 2);
    const float share = __fdividef(1.f, sum);
    unsigned even[4], odd[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int i = j * 8 + r * 2;
      even[j] = pack_pair(mixed[i] * share, mixed[i + 1] * share);
      odd[j] = pack_pair(mixed[i + 4] * share, mixed[i + 5] * share);
    }
    trade(even, lane);
    trade(odd, lane);
    const int place = row + r * 8;
    if (place >= LENGTH) continue;
    const long long token = static_cast<long long>(tile.sample) * LENGTH + place;
    uint4* const to = reinterpret_cast<uint4*>(y + (token * HEADS + tile.head) * 64 + lane % 4 * 16);
    to[0] = make_uint4(even[0], even[1], even[2], even[3]);
    to[1] = make_uint4(odd[0], odd[1], odd[2], odd[3]);
  }
}

// `scale` has log2(e) in it. Both maps are of qkv (samples, LENGTH, 3 HEADS, 64); boxes of 64 and 96.
extern "C" __global__ void __launch_bounds__(512, 1)
    flash(const __grid_constant__ TensorMap query_map, const __grid_constant__ TensorMap key_map, Bf16* y,
          int tiles, float scale) {
  extern __shared__ __align__(1024) char memory[];
  constexpr unsigned kQueriesAt = STAGES * kStageBytes, kBarriersAt = kQueriesAt + kGroups * kQueryBytes;
  Ring ring = make_ring(memory, kBarriersAt, 4 * kGroups);
  const unsigned queries = shared_address(memory) + kQueriesAt;
  const unsigned query_full = shared_address(memory) + kBarriersAt + 16 * STAGES;
  const unsigned query_empty = query_full + 8;
  if (threadIdx.x == 0) {
    barrier_init(query_full, 1);
    barrier_init(query_empty, 4 * kGroups);
    barrier_publish();
  }
  __syncthreads();
  const int role = threadIdx.x / 128;
  if (role == 0) {
    give_registers<24>();
    if (threadIdx.x == 0) bring(ring, queries, query_full, query_empty, query_map, key_map, tiles);
  } else {
    take_registers<160>();
    const int warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32, group = role - 1;
    unsigned turn = 0;
    for (int number = blockIdx.x; number < tiles; number += gridDim.x, turn ^= 1) {
      const Tile tile(number);
      barrier_wait(query_full, turn);
      unsigned a[4][4];
      const int own = warp * 16 + lane % 16;
#pragma unroll
      for (int s = 0; s < 4; ++s) {
        const int sixteenth = (s * 2 + lane / 16) ^ (own % 8);
        load_blocks(a[s], queries + group * kQueryBytes + own * 128 + sixteenth * 16);
      }
      if (lane == 0) barrier_arrive(query_empty);
      const int row = tile.place + group * 64 + warp * 16 + lane / 4;
      float mixed[32];
#pragma unroll
      for (int i = 0; i < 32; ++i) mixed[i] = 0.f;
      Rows rows = {{-1e30f, -1e30f}, {0.f, 0.f}};
      for (int block = 0; block < tile.key_tiles(); ++block, ++ring.step) {
        barrier_wait(ring.full_now(), ring.parity());
        const unsigned stage = ring.stage_bytes(kStageBytes);
        float scores[48];
        products_begin();
#pragma unroll
        for (int s = 0; s < 4; ++s) product(scores, a[s], swizzled(stage + s * 32), s == 0);
        products_commit();
        products_wait<0>();
        unsigned powers[6][4];
        soften(scores, powers, mixed, rows, block * kKeys, row, lane, scale);
        products_begin();
#pragma unroll
        for (int s = 0; s < 6; ++s) {
          product_of_columns(mixed, powers[s], swizzled(stage + kKeyBytes + s * 2048), false);
        }
        products_commit();
        products_wait<0>();
        if (lane == 0) barrier_arrive(ring.empty_now());
      }
      write_tile(y, mixed, rows, tile, row, lane);
    }
  }
}
