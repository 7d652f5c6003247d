// The token-mixing sub-layer in one kernel each way, on Hopper: rms_norm(x + down(swiglu(gate_up x)))
// over the L places of every channel. Two warpgroups have 64 channels of one sample each and keep
// their sums in registers, as attention kernels do; a third streams the weights through shared
// memory, 64 inner units at a time. Channels are the rows of every product: x (L, H) is read as its
// transpose and nothing is transposed in memory.
// LENGTH: L, at most 104. WIDTH: H, a multiple of 128. INNER: a multiple of 128. STAGES.
constexpr int kPlaces = (LENGTH + 15) / 16 * 16;  // what products sum over
constexpr int kColumns = (LENGTH + 7) / 8 * 8;    // what they give
constexpr int kSums = kColumns / 2;               // of one thread
constexpr int kSteps = kPlaces / 16;
constexpr int kUnits = 64, kChunks = INNER / kUnits;
constexpr int kSlabs = WIDTH / 128;  // of a sample, each of two warpgroups

constexpr unsigned kWideBytes = 2 * kUnits * kPlaces * 2;   // (128, places): gates, then values
constexpr unsigned kDownBytes = kColumns * kUnits * 2;      // (columns, 64)
constexpr unsigned kStageBytes = kWideBytes + kDownBytes;
constexpr unsigned kSlabBytes = kPlaces * kPitch;

// The weights once for every tile of this block, chunk by chunk.
__device__ inline void stream_weights(Ring ring, const char* weights, unsigned bytes, int tiles) {
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    for (int chunk = 0; chunk < kChunks; ++chunk, ++ring.step) {
      barrier_wait(ring.empty_now(), ring.parity() ^ 1);
      barrier_expect(ring.full_now(), bytes);
      bulk_load(ring.stage_bytes(bytes), weights + static_cast<long long>(chunk) * bytes, bytes,
                ring.full_now());
    }
  }
}

// 64 channels of a sample, from a place's row of `pitch` bytes on.
struct Slab {
  long long start;  // first value in memory
  __device__ Slab(int tile, int group) {
    const int sample = tile / kSlabs, slab = tile % kSlabs;
    start = static_cast<long long>(sample) * LENGTH * WIDTH + slab * 128 + group * 64;
  }
};

__device__ inline void fetch_slab(unsigned to, const Bf16* x, const Slab& slab, int thread) {
  for (int i = thread; i < LENGTH * 8; i += 128) {
    const int place = i / 8, part = i % 8;
    copy_16(to + place * kPitch + part * 16, x + slab.start + place * WIDTH + part * 8);
  }
}

// One warp's 16 channels and all places, as the left operand of products.
__device__ inline void load_fragments(unsigned (&a)[kSteps][4], unsigned slab, int warp, int lane) {
  const unsigned row = (lane / 16) * 8 + lane % 8, column = warp * 16 + lane / 8 % 2 * 8;
#pragma unroll
  for (int s = 0; s < kSteps; ++s) {
    load_transposed(a[s], slab + (s * 16 + row) * kPitch + column * 2);
  }
}

// Values (channels, places) to shared memory as (places, channels).
template <int blocks>
__device__ inline void stage_transposed(unsigned to, const unsigned (&first)[blocks],
                                        const unsigned (&second)[blocks], int warp, int lane) {
  const unsigned column = (warp * 16 + lane / 8 % 2 * 8) * 2;
  const unsigned row = lane % 8 + lane / 16 * 8;
#pragma unroll
  for (int j = 0; j + 1 < blocks; j += 2) {
    store_transposed_4(to + (j * 8 + row) * kPitch + column, first[j], second[j], first[j + 1],
                       second[j + 1]);
  }
  if (blocks % 2 == 1) {
    store_transposed_2(to + ((blocks - 1) * 8 + lane % 8) * kPitch + column, first[blocks - 1],
                       second[blocks - 1]);
  }
}

__device__ inline float quad_sum(float value) {
  value += __shfl_xor_sync(~0u, value, 1);
  return value + __shfl_xor_sync(~0u, value, 2);
}

__device__ inline void clear_shared(unsigned from, unsigned bytes) {
  for (unsigned i = threadIdx.x * 16; i < bytes; i += blockDim.x * 16) {
    asm volatile("st.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(from + i), "r"(0) : "memory");
  }
}

#if PASS == 0
// Gates and values of the stage that `ring` is at.
__device__ inline void begin_chunk(float (&wide)[64], const unsigned (&a)[kSteps][4],
                                   const Ring& ring) {
  barrier_wait(ring.full_now(), ring.parity());
  const unsigned stage = ring.stage_bytes(kStageBytes);
  products_begin();
#pragma unroll
  for (int s = 0; s < kSteps; ++s) {
    product(wide, a[s], rows_of_k(stage + s * 2 * 128 * 16, 128), s == 0);
  }
  products_commit();
}

struct Forward {
  Bf16* y;
  float* inverse;
  float epsilon;
  unsigned slab_memory[2];
  int group, warp, lane, thread;

  __device__ static void gate(unsigned (&gated)[4][4], const float (&wide)[64]) {
#pragma unroll
    for (int j = 0; j < 8; ++j) {
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const int i = j * 4 + r * 2;
        gated[j / 2][j % 2 * 2 + r] =
            pack_pair(silu(wide[i]) * wide[32 + i], silu(wide[i + 1]) * wide[33 + i]);
      }
    }
  }
  __device__ static void narrow(float (&sums)[kSums], const unsigned (&gated)[4][4],
                                unsigned stage, bool fresh) {
    products_begin();
#pragma unroll
    for (int s = 0; s < 4; ++s) {
      product(sums, gated[s], rows_of_k(stage + kWideBytes + s * 2 * kColumns * 16, kColumns),
              fresh && s == 0);
    }
    products_commit();
  }
  // `now` has this chunk's gates and values; the next one's are on their way while they are gated.
  __device__ void chunk(float (&sums)[kSums], const float (&now)[64], float (&next)[64],
                        const unsigned (&a)[kSteps][4], Ring& ring, bool fresh) const {
    const Ring here = ring;
    ++ring.step;
    begin_chunk(next, a, ring);
    unsigned gated[4][4];
    gate(gated, now);
    narrow(sums, gated, here.stage_bytes(kStageBytes), fresh);
    products_wait<0>();
    if (lane == 0) barrier_arrive(here.empty_now());
  }
  __device__ void last_chunk(float (&sums)[kSums], const float (&now)[64], Ring& ring) const {
    unsigned gated[4][4];
    gate(gated, now);
    narrow(sums, gated, ring.stage_bytes(kStageBytes), false);
    products_wait<0>();
    if (lane == 0) barrier_arrive(ring.empty_now());
    ++ring.step;
  }

  // The sum with x, over its root mean square; fragments hold x where sums hold the branch.
  __device__ void finish(float (&sums)[kSums], const unsigned (&a)[kSteps][4], const Slab& slab,
                         unsigned staging) const {
    float squares[2] = {0.f, 0.f};
#pragma unroll
    for (int j = 0; j < kColumns / 8; ++j) {
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const unsigned pair = a[j / 2][j % 2 * 2 + r];
        float &first = sums[j * 4 + r * 2], &second = sums[j * 4 + r * 2 + 1];
        first += low_of(pair);
        second += high_of(pair);
        squares[r] += first * first + second * second;
      }
    }
    unsigned packed[2][kColumns / 8];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float root = rsqrtf(quad_sum(squares[r]) / LENGTH + epsilon);
      if (lane % 4 == 0) {
        const long long channel = slab.start % WIDTH + warp * 16 + lane / 4 + r * 8;
        inverse[slab.start / (static_cast<long long>(LENGTH) * WIDTH) * WIDTH + channel] = root;
      }
#pragma unroll
      for (int j = 0; j < kColumns / 8; ++j) {
        packed[r][j] = pack_pair(sums[j * 4 + r * 2] * root, sums[j * 4 + r * 2 + 1] * root);
      }
    }
    group_sync(1 + group);  // everybody has read x from there
    stage_transposed(staging, packed[0], packed[1], warp, lane);
    group_sync(1 + group);
    write_rows(y + slab.start, staging, LENGTH, WIDTH, thread);
  }
};

extern "C" __global__ void __launch_bounds__(384, 1)
    token_mix(const Bf16* x, const char* weights, Bf16* y, float* inverse, int tiles,
              float epsilon) {
  extern __shared__ __align__(128) char memory[];
  constexpr unsigned kSlabsAt = STAGES * kStageBytes, kBarriersAt = kSlabsAt + 4 * kSlabBytes;
  Ring ring = make_ring(memory, kBarriersAt, 8);
  clear_shared(shared_address(memory) + kSlabsAt, 4 * kSlabBytes);  // places beyond the last are 0
  __syncthreads();
  const int role = threadIdx.x / 128;
  if (role == 0) {
    give_registers<24>();
    if (threadIdx.x == 0) stream_weights(ring, weights, kStageBytes, tiles);
  } else {
    take_registers<240>();
    Forward forward{y, inverse, epsilon};
    forward.group = role - 1;
    forward.thread = threadIdx.x % 128;
    forward.warp = forward.thread / 32;
    forward.lane = threadIdx.x % 32;
    const unsigned slabs = shared_address(memory) + kSlabsAt + forward.group * 2 * kSlabBytes;
    fetch_slab(slabs, x, Slab(blockIdx.x, forward.group), forward.thread);
    int turn = 0;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x, turn ^= 1) {
      copies_done();
      group_sync(1 + forward.group);
      unsigned a[kSteps][4];
      load_fragments(a, slabs + turn * kSlabBytes, forward.warp, forward.lane);
      const int next = tile + gridDim.x;
      if (next < tiles) {
        fetch_slab(slabs + (turn ^ 1) * kSlabBytes, x, Slab(next, forward.group), forward.thread);
      }
      float sums[kSums], even[64], odd[64];
      begin_chunk(even, a, ring);
      products_wait<0>();
      for (int chunk = 0; chunk < kChunks - 2; chunk += 2) {
        forward.chunk(sums, even, odd, a, ring, chunk == 0);
        forward.chunk(sums, odd, even, a, ring, false);
      }
      forward.chunk(sums, even, odd, a, ring, kChunks == 2);
      forward.last_chunk(sums, odd, ring);
      forward.finish(sums, a, Slab(tile, forward.group), slabs + turn * kSlabBytes);
    }
  }
}
#endif

#if PASS == 1
// The gradient of x, and what the weights' gradients are made of: the gradients of gates and values
// (samples, 2 INNER, WIDTH) and the gated values (samples, INNER, WIDTH), all worked out again from x.
constexpr unsigned kBackBytes = kUnits * kPlaces * 2;        // (64, places): down, transposed
constexpr unsigned kReturnBytes = kColumns * 2 * kUnits * 2;  // (columns, 128): gate_up, transposed
constexpr unsigned kBothBytes = kWideBytes + kBackBytes + kReturnBytes;
constexpr unsigned kBlockSlabBytes = kPlaces * 128;  // in blocks of 8 places and 8 channels
constexpr unsigned kStagingBytes = kColumns * kPitch;

__device__ inline unsigned block_address(int place, int part) {
  return (place / 8 * 8 + part) * 128 + place % 8 * 16;
}

__device__ inline void fetch_blocks(unsigned to, const Bf16* x, const Slab& slab, int thread) {
  for (int i = thread; i < LENGTH * 8; i += 128) {
    const int place = i / 8, part = i % 8;
    copy_16(to + block_address(place, part), x + slab.start + place * WIDTH + part * 8);
  }
}

// 64 channels by 16 places, channels in rows.
__device__ inline Descriptor rows_of_channels(unsigned slab, int step) {
  return describe(slab + step * 2 * 1024, 1024, 128);
}

struct Backward {
  Bf16 *of_x, *of_wide, *gated;
  unsigned staging;
  int group, warp, lane, thread;

  __device__ void write_units(const unsigned (&values)[4][4], Bf16* to) const {
    unsigned first[8], second[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      first[j] = values[j / 2][j % 2 * 2];
      second[j] = values[j / 2][j % 2 * 2 + 1];
    }
    group_sync(1 + group);  // what was there has been written
    stage_transposed(staging, first, second, warp, lane);
    group_sync(1 + group);
    write_rows(to, staging, kUnits, WIDTH, thread);
  }

  __device__ void finish(const float (&sums)[kSums], unsigned of_sum_slab, const Slab& slab) const {
    unsigned first[kColumns / 8], second[kColumns / 8];
    const unsigned part = warp * 2 + lane / 8 % 2, row = lane / 16 * 8 + lane % 8;
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
      unsigned a[4];
      load_transposed(a, of_sum_slab + block_address(s * 16 + row, part));
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int j = s * 2 + e;
        if (j >= kColumns / 8) continue;
        first[j] = pack_pair(sums[j * 4] + low_of(a[e * 2]), sums[j * 4 + 1] + high_of(a[e * 2]));
        second[j] = pack_pair(sums[j * 4 + 2] + low_of(a[e * 2 + 1]),
                              sums[j * 4 + 3] + high_of(a[e * 2 + 1]));
      }
    }
    group_sync(1 + group);
    stage_transposed(staging, first, second, warp, lane);
    group_sync(1 + group);
    write_rows(of_x + slab.start, staging, LENGTH, WIDTH, thread);
  }
};

extern "C" __global__ void __launch_bounds__(384, 1)
    token_mix_backward(const Bf16* of_sum, const Bf16* x, const char* weights, Bf16* of_x,
                       Bf16* of_wide, Bf16* gated, int tiles) {
  extern __shared__ __align__(128) char memory[];
  constexpr unsigned kSlabsAt = STAGES * kBothBytes, kStagingAt = kSlabsAt + 4 * kBlockSlabBytes;
  constexpr unsigned kBarriersAt = kStagingAt + 2 * kStagingBytes;
  Ring ring = make_ring(memory, kBarriersAt, 8);
  clear_shared(shared_address(memory) + kSlabsAt, 4 * kBlockSlabBytes);
  publish_shared();
  __syncthreads();
  const int role = threadIdx.x / 128;
  if (role == 0) {
    give_registers<24>();
    if (threadIdx.x == 0) stream_weights(ring, weights, kBothBytes, tiles);
  } else {
    take_registers<240>();
    Backward backward{of_x, of_wide, gated};
    backward.group = role - 1;
    backward.thread = threadIdx.x % 128;
    backward.warp = backward.thread / 32;
    backward.lane = threadIdx.x % 32;
    backward.staging = shared_address(memory) + kStagingAt + backward.group * kStagingBytes;
    const unsigned x_slab = shared_address(memory) + kSlabsAt + backward.group * 2 * kBlockSlabBytes;
    const unsigned sum_slab = x_slab + kBlockSlabBytes;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      const Slab slab(tile, backward.group);
      group_sync(1 + backward.group);  // nobody reads the last tile's any more
      fetch_blocks(x_slab, x, slab, backward.thread);
      fetch_blocks(sum_slab, of_sum, slab, backward.thread);
      copies_done();
      publish_shared();
      group_sync(1 + backward.group);
      const long long sample = tile / kSlabs, column = slab.start % WIDTH;
      float sums[kSums];
      for (int chunk = 0; chunk < kChunks; ++chunk, ++ring.step) {
        float wide[64], of_gated[32];
        barrier_wait(ring.full_now(), ring.parity());
        const unsigned stage = ring.stage_bytes(kBothBytes);
        products_begin();
#pragma unroll
        for (int s = 0; s < kSteps; ++s) {
          product_across(wide, rows_of_channels(x_slab, s), rows_of_k(stage + s * 2 * 128 * 16, 128),
                  s == 0);
        }
#pragma unroll
        for (int s = 0; s < kSteps; ++s) {
          product_across(of_gated, rows_of_channels(sum_slab, s),
                  rows_of_k(stage + kWideBytes + s * 2 * kUnits * 16, kUnits), s == 0);
        }
        products_commit();
        products_wait<0>();
        unsigned of_gate[4][4], of_up[4][4], values[4][4];
#pragma unroll
        for (int j = 0; j < 8; ++j) {
#pragma unroll
          for (int r = 0; r < 2; ++r) {
            float g[2], u[2], v[2];
#pragma unroll
            for (int e = 0; e < 2; ++e) {
              const int i = j * 4 + r * 2 + e;
              const float gate = wide[i], up = wide[32 + i], from = of_gated[i];
              const float open = fmaf(0.5f, fast_tanh(0.5f * gate), 0.5f), value = gate * open;
              g[e] = from * up * fmaf(value, 1.f - open, open);
              u[e] = from * value;
              v[e] = value * up;
            }
            of_gate[j / 2][j % 2 * 2 + r] = pack_pair(g[0], g[1]);
            of_up[j / 2][j % 2 * 2 + r] = pack_pair(u[0], u[1]);
            values[j / 2][j % 2 * 2 + r] = pack_pair(v[0], v[1]);
          }
        }
        const unsigned back = stage + kWideBytes + kBackBytes;
        products_begin();
#pragma unroll
        for (int s = 0; s < 4; ++s) {
          product(sums, of_gate[s], rows_of_k(back + s * 2 * kColumns * 16, kColumns),
                  chunk == 0 && s == 0);
        }
#pragma unroll
        for (int s = 0; s < 4; ++s) {
          product(sums, of_up[s], rows_of_k(back + (s + 4) * 2 * kColumns * 16, kColumns), false);
        }
        products_commit();
        // While those run, what the weights' gradients need goes out.
        const long long unit = static_cast<long long>(chunk) * kUnits;
        Bf16* const rows = of_wide + (sample * 2 * INNER + unit) * WIDTH + column;
        backward.write_units(of_gate, rows);
        backward.write_units(of_up, rows + static_cast<long long>(INNER) * WIDTH);
        backward.write_units(values, gated + (sample * INNER + unit) * WIDTH + column);
        products_wait<0>();
        if (backward.lane == 0) barrier_arrive(ring.empty_now());
      }
      backward.finish(sums, sum_slab, slab);
    }
  }
}
#endif

#if PASS == 2
// The forward pass for few samples, where one block after another would take too long: a cluster has
// 64 channels of a sample, each of its blocks one chunk of the inner units; their sums meet in shared
// memory, where every block finishes a few of the channels.
constexpr int kShare = 64 / kChunks;            // channels that a block finishes
constexpr int kSumPitch = kColumns + 4;         // floats from channel to channel; banks do not meet

__device__ inline void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
}
__device__ inline float read_from(unsigned address, unsigned rank) {
  float value;
  asm volatile(
      "{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %1, %2;\n"
      "ld.shared::cluster.f32 %0, [there];\n}"
      : "=f"(value)
      : "r"(address), "r"(rank));
  return value;
}

// Sums of this block's chunk to shared memory, channels in rows.
__device__ inline void leave_sums(unsigned to, const float (&sums)[kSums], int warp, int lane) {
#pragma unroll
  for (int i = 0; i < kSums; ++i) {
    const int channel = warp * 16 + lane / 4 + i / 2 % 2 * 8, place = i / 4 * 8 + lane % 4 * 2 + i % 2;
    asm volatile("st.shared.f32 [%0], %1;" ::"r"(to + (channel * kSumPitch + place) * 4), "f"(sums[i])
                 : "memory");
  }
}

// 16 threads have one channel.
__device__ inline void finish_channels(unsigned sums, unsigned slab, Bf16* y, float* inverse,
                                       const Slab& from, int thread, float epsilon) {
  constexpr int kThreads = 128 / kShare, kPer = (LENGTH + kThreads - 1) / kThreads;
  const int channel = cluster_rank() * kShare + thread / kThreads, lane = thread % kThreads;
  float values[kPer], squares = 0.f;
#pragma unroll
  for (int k = 0; k < kPer; ++k) {
    const int place = k * kThreads + lane;
    values[k] = 0.f;
    if (place >= LENGTH) continue;
#pragma unroll
    for (int rank = 0; rank < kChunks; ++rank) {
      values[k] += read_from(sums + (channel * kSumPitch + place) * 4, rank);
    }
    unsigned short own;
    asm volatile("ld.shared.u16 %0, [%1];" : "=h"(own) : "r"(slab + place * kPitch + channel * 2));
    values[k] += __uint_as_float(static_cast<unsigned>(own) << 16);
    squares += values[k] * values[k];
  }
#pragma unroll
  for (int offset = kThreads / 2; offset > 0; offset /= 2) {
    squares += __shfl_xor_sync(~0u, squares, offset);
  }
  const float root = rsqrtf(squares / LENGTH + epsilon);
  const long long sample = from.start / (static_cast<long long>(LENGTH) * WIDTH);
  if (lane == 0) inverse[sample * WIDTH + from.start % WIDTH + channel] = root;
#pragma unroll
  for (int k = 0; k < kPer; ++k) {
    const int place = k * kThreads + lane;
    if (place < LENGTH) {
      y[from.start + static_cast<long long>(place) * WIDTH + channel] = to_bfloat(values[k] * root);
    }
  }
}

extern "C" __global__ void __cluster_dims__(kChunks, 1, 1) __launch_bounds__(128, 1)
    token_mix_few(const Bf16* x, const char* weights, Bf16* y, float* inverse, float epsilon) {
  extern __shared__ __align__(128) char memory[];
  const unsigned stage = shared_address(memory), slab = stage + kStageBytes;
  const unsigned sums_at = slab + kSlabBytes, full = sums_at + 64 * kSumPitch * 4;
  const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
  const int number = blockIdx.x / kChunks;  // 64 channels of a sample
  const Slab from(number / 2, number % 2);
  if (thread == 0) {
    barrier_init(full, 1);
    barrier_publish();
    barrier_expect(full, kStageBytes);
    bulk_load(stage, weights + static_cast<long long>(cluster_rank()) * kStageBytes, kStageBytes, full);
  }
  clear_shared(slab + LENGTH * kPitch, (kPlaces - LENGTH) * kPitch);
  fetch_slab(slab, x, from, thread);
  copies_done();
  __syncthreads();
  unsigned a[kSteps][4];
  load_fragments(a, slab, warp, lane);
  barrier_wait(full, 0);
  float wide[64], sums[kSums];
  products_begin();
#pragma unroll
  for (int s = 0; s < kSteps; ++s) {
    product(wide, a[s], rows_of_k(stage + s * 2 * 128 * 16, 128), s == 0);
  }
  products_commit();
  products_wait<0>();
  unsigned gated[4][4];
#pragma unroll
  for (int j = 0; j < 8; ++j) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int i = j * 4 + r * 2;
      gated[j / 2][j % 2 * 2 + r] =
          pack_pair(silu(wide[i]) * wide[32 + i], silu(wide[i + 1]) * wide[33 + i]);
    }
  }
  products_begin();
#pragma unroll
  for (int s = 0; s < 4; ++s) {
    product(sums, gated[s], rows_of_k(stage + kWideBytes + s * 2 * kColumns * 16, kColumns), s == 0);
  }
  products_commit();
  products_wait<0>();
  leave_sums(sums_at, sums, warp, lane);
  cluster_sync();
  finish_channels(sums_at, slab, y, inverse, from, thread, epsilon);
  cluster_sync();  // others may still read this block's sums
}
#endif
