// A post-normed block of token and channel mixing for few samples, on Hopper: three small kernels a
// layer, each of which fetches its weights while the one before it still runs. What one leaves for
// the next lies as it is read there, so that one bulk copy brings it; the norm along channels is left
// to the next reader. A tile has kTokens tokens, half of a sample, in parts of 8 channels or units.
// LENGTH: L, at most 104. WIDTH: H, a multiple of 128. INNER: of channel mixing, a multiple of 192.
constexpr int kPlaces = (LENGTH + 15) / 16 * 16;  // what products sum over
constexpr int kColumns = (LENGTH + 7) / 8 * 8;    // what they give
constexpr int kTokens = (LENGTH + 1) / 2;         // of a tile, two tiles a sample
constexpr int kMates = 4;                         // blocks of a cluster
constexpr int kGroup = 16, kGroups = WIDTH / kGroup;  // channels of a cluster that mixes tokens
constexpr int kSpan = 32, kSpans = WIDTH / kSpan;     // channels of a cluster on the way down

#define SUMS_24(d) SUMS_16(d, 0), SUMS_4(d, 16), SUMS_4(d, 20)
#define PLACES_16 \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define PLACES_24 PLACES_16 ", %16, %17, %18, %19, %20, %21, %22, %23"
DEFINE_SHARED_PRODUCT(product, 48, 24, "24", "25", "26", "0")
// sums (64, 32) += A (64, 16) B (16, 32), both in shared memory with rows of K.
__device__ inline void product(float (&d)[16], Descriptor a, Descriptor b, bool fresh) {
  asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %18, 0;\n"
               "wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 {" PLACES_16
               "}, %16, %17, add, 1, 1, 0, 0;\n}"
               : SUMS_16(d, 0)
               : "l"(a), "l"(b), "r"(fresh ? 0 : 1));
}
// sums (16, 8) += a (16, 16) b (16, 8), of one warp.
__device__ inline void multiply(float (&sums)[4], const uint4& a, unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
               : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1));
}

__device__ inline void wait_for_others() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
__device__ inline void let_others_start() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
__device__ inline unsigned cluster_rank() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ inline void cluster_arrive() { asm volatile("barrier.cluster.arrive.release;" ::: "memory"); }
// Without waiting for what this thread wrote.
__device__ inline void cluster_leave() { asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory"); }
__device__ inline void cluster_wait() { asm volatile("barrier.cluster.wait.acquire;" ::: "memory"); }
__device__ inline unsigned address_of(unsigned address, unsigned rank) {
  unsigned there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}
// A piece of this block's shared memory to another's, which waits for it at its own barrier.
__device__ inline void bulk_push(unsigned there, unsigned from, unsigned bytes, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
          there),
      "r"(from), "r"(bytes), "r"(barrier)
      : "memory");
}
__device__ inline void store_pair(unsigned to, float first, float second) {
  asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(to), "f"(first), "f"(second) : "memory");
}
__device__ inline float4 read_four(unsigned address) {
  float4 v;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "r"(address));
  return v;
}
// Past the nearest cache: other processors write these between our kernels.
__device__ inline uint4 fetch_16(const void* from) {
  uint4 v;
  asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(from));
  return v;
}
__device__ inline float4 fetch_four(const float* from) {
  const uint4 v = fetch_16(from);
  return make_float4(__uint_as_float(v.x), __uint_as_float(v.y), __uint_as_float(v.z),
                     __uint_as_float(v.w));
}

// A token's root from what the spans of its channels left, in shared memory.
__device__ inline float root_of(unsigned squares, float epsilon) {
  float sum = 0.f;
#pragma unroll
  for (int i = 0; i < kSpans; i += 4) {
    const float4 v = read_four(squares + i * 4);
    sum += v.x + v.y + v.z + v.w;
  }
  return rsqrtf(sum / WIDTH + epsilon);
}

// ---- token mixing ----
constexpr int kUnits = 128, kWideTiles = kUnits / 8;     // a block's; 8 gates and their 8 values a tile
constexpr int kWideSteps = kPlaces / 16, kDownSteps = kUnits / 16, kDownTiles = kPlaces / 16;
constexpr int kMixThreads = 256;
constexpr unsigned kBlockVectors = (kWideTiles * kWideSteps + kDownTiles * kDownSteps) * 32;
constexpr unsigned kRowPitch = kGroup * 2 + 16;          // bytes of a staged row; banks do not meet
constexpr unsigned kRawBytes = LENGTH * kGroup * 4, kSquaresBytes = LENGTH * kSpans * 4;
constexpr unsigned kShareBytes = kColumns * kGroup / kMates * 4;  // sums of the channels one finishes
constexpr int kItems = LENGTH * kGroup / 4, kTurns = (kItems + kMixThreads - 1) / kMixThreads;
static_assert(kWideTiles == 2 * kMixThreads / 32 && kDownTiles <= kMixThreads / 32, "tiles of a warp");
static_assert(kColumns * 2 <= kMixThreads, "two threads finish a place");

struct TokenMemory {
  char raw[(kRawBytes + 127) / 128 * 128], squares[(kSquaresBytes + 127) / 128 * 128];
  char leaving[kMates * kShareBytes], meeting[kMates * kShareBytes];
  char slab[kPlaces * kRowPitch], gated[kUnits * kRowPitch];
  float shares[kMixThreads / 32][4];
  unsigned long long arrived, met;
};

__device__ inline unsigned add_pair(unsigned a, unsigned b) {
  return pack_pair(low_of(a) + low_of(b), high_of(a) + high_of(b));
}
__device__ inline uint2 fetch_8(const void* from) {
  uint2 v;
  asm volatile("ld.global.cg.v2.u32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "l"(from));
  return v;
}
__device__ inline void store_8(unsigned to, uint2 v) {
  asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(to), "r"(v.x), "r"(v.y) : "memory");
}
__device__ inline void store_4_bytes(unsigned to, unsigned v) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(to), "r"(v) : "memory");
}
// Four channels of a group at a place, of a tensor (samples, LENGTH, WIDTH).
__device__ inline const Bf16* item_of(const Bf16* group, int i) {
  return group + static_cast<long long>(i / 4) * WIDTH + i % 4 * 4;
}

// One warp's weights: 16 units for the way up, 16 places for the way down.
struct TokenWeights {
  uint4 wide[2][kWideSteps], down[kDownSteps];
  __device__ TokenWeights(const uint4* block, int warp, int lane) {
#pragma unroll
    for (int i = 0; i < 2 * kWideSteps; ++i) {
      wide[i / kWideSteps][i % kWideSteps] = fetch_16(block + (warp * 2 * kWideSteps + i) * 32 + lane);
    }
    const uint4* rest = block + kWideTiles * kWideSteps * 32;
#pragma unroll
    for (int i = 0; i < kDownSteps; ++i) {
      if (warp < kDownTiles) down[i] = fetch_16(rest + (warp * kDownSteps + i) * 32 + lane);
    }
  }
};

// The gated values of a block's units, to shared memory.
__device__ inline void widen(const TokenWeights& weights, unsigned slab, unsigned gated, int warp,
                             int lane) {
  float sums[2][2][4] = {};
#pragma unroll
  for (int s = 0; s < kWideSteps; ++s) {
    unsigned b[4];
    load_transposed(b, slab + (s * 16 + lane % 16) * kRowPitch + lane / 16 * 16);
#pragma unroll
    for (int m = 0; m < 2; ++m) {
      multiply(sums[m][0], weights.wide[m][s], b[0], b[1]);
      multiply(sums[m][1], weights.wide[m][s], b[2], b[3]);
    }
  }
#pragma unroll
  for (int m = 0; m < 2; ++m) {
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      const float* v = sums[m][n];
      store_4_bytes(gated + (warp * 16 + m * 8 + lane / 4) * kRowPitch + n * 16 + lane % 4 * 4,
                    pack_pair(silu(v[0]) * v[2], silu(v[1]) * v[3]));
    }
  }
}

// The block's part of the branch, sorted by who finishes it.
__device__ inline void narrow(const TokenWeights& weights, unsigned gated, unsigned leaving, int warp,
                              int lane) {
  float sums[2][2][4] = {};  // of even and odd steps
#pragma unroll
  for (int s = 0; s < kDownSteps; ++s) {
    unsigned b[4];
    load_transposed(b, gated + (s * 16 + lane % 16) * kRowPitch + lane / 16 * 16);
    multiply(sums[s % 2][0], weights.down[s], b[0], b[1]);
    multiply(sums[s % 2][1], weights.down[s], b[2], b[3]);
  }
#pragma unroll
  for (int n = 0; n < 2; ++n) {
    const unsigned to = leaving + (n * 2 + lane % 4 / 2) * kShareBytes + lane % 2 * 8;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int place = warp * 16 + r * 8 + lane / 4;
      if (place >= kColumns) continue;
      store_pair(to + place * 16, sums[0][n][r * 2] + sums[1][n][r * 2],
                 sums[0][n][r * 2 + 1] + sums[1][n][r * 2 + 1]);
    }
  }
}

// Four channels' sums from all blocks of the cluster, with the input, over their root mean square;
// a thread has two of them at a place. `y` is the first of them in its tile.
__device__ inline void finish_share(TokenMemory& memory, Bf16* y, int rank, float epsilon) {
  const int thread = threadIdx.x, place = thread / 2, pair = thread % 2;
  float first = 0.f, second = 0.f;
  if (place < LENGTH) {
    const unsigned from = shared_address(memory.meeting) + place * 16 + pair * 8;
#pragma unroll
    for (int i = 0; i < kMates; ++i) {
      float a, b;
      asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(a), "=f"(b) : "r"(from + i * kShareBytes));
      first += a, second += b;
    }
    unsigned own;
    asm volatile("ld.shared.u32 %0, [%1];"
                 : "=r"(own)
                 : "r"(shared_address(memory.slab) + place * kRowPitch + rank * 8 + pair * 4));
    first += low_of(own), second += high_of(own);
  }
  float squares[2] = {first * first, second * second};
#pragma unroll
  for (int offset = 2; offset < 32; offset *= 2) {
    squares[0] += __shfl_xor_sync(~0u, squares[0], offset);
    squares[1] += __shfl_xor_sync(~0u, squares[1], offset);
  }
  if (thread % 32 < 2) {
    memory.shares[thread / 32][pair * 2] = squares[0];
    memory.shares[thread / 32][pair * 2 + 1] = squares[1];
  }
  __syncthreads();
  squares[0] = squares[1] = 0.f;
#pragma unroll
  for (int i = 0; i < kMixThreads / 32; ++i) {
    squares[0] += memory.shares[i][pair * 2];
    squares[1] += memory.shares[i][pair * 2 + 1];
  }
  if (place >= LENGTH) return;
  const int row = place < kTokens ? place : WIDTH / 8 * kTokens + place - kTokens;
  *reinterpret_cast<unsigned*>(y + row * 8 + pair * 2) =
      pack_pair(first * rsqrtf(squares[0] / LENGTH + epsilon),
                second * rsqrtf(squares[1] / LENGTH + epsilon));
}

// A cluster has 16 channels of a sample, each of its blocks 128 of the inner units; weights lie in
// the order of the threads that hold them. The input is what few_down left or, for the first layer,
// `plain`; `injected` is added to it.
extern "C" __global__ void __cluster_dims__(kMates, 1, 1) __launch_bounds__(kMixThreads, 1)
    few_tokens(const char* sums, const char* squares, const Bf16* plain, const Bf16* injected,
               const uint4* weights, Bf16* y, float epsilon) {
  __shared__ __align__(128) TokenMemory memory;
  const unsigned raw = shared_address(memory.raw), marks = shared_address(memory.squares);
  const unsigned slab = shared_address(memory.slab), gated = shared_address(memory.gated);
  const unsigned leaving = shared_address(memory.leaving), meeting = shared_address(memory.meeting);
  const unsigned arrived = shared_address(&memory.arrived), met = shared_address(&memory.met);
  const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
  const int number = blockIdx.x / kMates, sample = number / kGroups, group = number % kGroups;
  const long long start = static_cast<long long>(sample) * LENGTH * WIDTH + group * kGroup;
  const unsigned rank = cluster_rank();
  if (thread == 0) {
    barrier_init(arrived, 1);
    barrier_init(met, 1);
    barrier_publish();
    barrier_expect(met, kMates * kShareBytes);
  }
  cluster_arrive();  // others may write here
  const TokenWeights own_weights(weights + rank * kBlockVectors, warp, lane);
  for (unsigned i = thread * 8; i < (kPlaces - LENGTH) * kRowPitch; i += kMixThreads * 8) {
    store_8(slab + LENGTH * kRowPitch + i, make_uint2(0, 0));
  }
  uint2 added[kTurns];
  if (injected != nullptr) {
#pragma unroll
    for (int k = 0; k < kTurns; ++k) {
      const int i = k * kMixThreads + thread;
      if (i < kItems) added[k] = fetch_8(item_of(injected + start, i));
    }
  }
  cluster_wait();
  wait_for_others();
  let_others_start();
  if (sums != nullptr) {
    if (thread == 0) {
      barrier_expect(arrived, kRawBytes + kSquaresBytes);
      bulk_load(raw, sums + static_cast<long long>(number) * kRawBytes, kRawBytes, arrived);
      bulk_load(marks, squares + static_cast<long long>(sample) * kSquaresBytes, kSquaresBytes, arrived);
    }
    barrier_wait(arrived, 0);
  }
#pragma unroll
  for (int k = 0; k < kTurns; ++k) {
    const int i = k * kMixThreads + thread;
    if (i >= kItems) continue;
    uint2 own;
    if (sums != nullptr) {
      const float root = root_of(marks + i / 4 * kSpans * 4, epsilon);
      const float4 v = read_four(raw + i * 16);
      own = make_uint2(pack_pair(v.x * root, v.y * root), pack_pair(v.z * root, v.w * root));
    } else {
      own = fetch_8(item_of(plain + start, i));
    }
    if (injected != nullptr) own = make_uint2(add_pair(own.x, added[k].x), add_pair(own.y, added[k].y));
    store_8(slab + i / 4 * kRowPitch + i % 4 * 8, own);
  }
  __syncthreads();
  widen(own_weights, slab, gated, warp, lane);
  __syncthreads();
  if (warp < kDownTiles) narrow(own_weights, gated, leaving, warp, lane);
  publish_shared();
  __syncthreads();
  if (thread < kMates) {
    bulk_push(address_of(meeting + rank * kShareBytes, thread), leaving + thread * kShareBytes, kShareBytes,
              address_of(met, thread));
  }
  barrier_wait(met, 0);
  cluster_leave();
  const int channel = group * kGroup + rank * (kGroup / kMates);
  finish_share(memory,
               y + (static_cast<long long>(sample) * 2 * (WIDTH / 8) + channel / 8) * kTokens * 8 + channel % 8,
               rank, epsilon);
  cluster_wait();  // what this block sent has arrived
}

// ---- channel mixing: the gate ----
constexpr unsigned kBarrierBytes = 128;  // at the start of shared memory
constexpr int kGateUnits = 24, kGateColumns = 2 * kGateUnits, kPieces = 4;
constexpr unsigned kGateBytes = kGateColumns * WIDTH * 2;
constexpr unsigned kTokenBytes = kTokens * WIDTH * 2, kPieceBytes = kTokenBytes / kPieces;

// 24 units of a tile's tokens; x (tiles, WIDTH / 8, kTokens, 8), gated (tiles, INNER / 8, kTokens, 8).
extern "C" __global__ void __launch_bounds__(128, 1)
    few_gate(const char* x, const char* weights, Bf16* gated) {
  extern __shared__ __align__(128) char memory[];
  const unsigned full = shared_address(memory), stage = full + kBarrierBytes;
  const unsigned tokens = stage + kGateBytes;
  const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
  const int tile = blockIdx.x / (INNER / kGateUnits), chunk = blockIdx.x % (INNER / kGateUnits);
  if (thread == 0) {
    for (int i = 0; i < 1 + kPieces; ++i) barrier_init(full + i * 8, 1);
    barrier_publish();
    barrier_expect(full, kGateBytes);
    bulk_load(stage, weights + static_cast<long long>(chunk) * kGateBytes, kGateBytes, full);
    wait_for_others();
    let_others_start();
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      barrier_expect(full + 8 + i * 8, kPieceBytes);
      bulk_load(tokens + i * kPieceBytes, x + static_cast<long long>(tile) * kTokenBytes + i * kPieceBytes,
                kPieceBytes, full + 8 + i * 8);
    }
  }
  __syncthreads();
  barrier_wait(full, 0);
  float wide[kGateColumns / 2];
#pragma unroll
  for (int i = 0; i < kPieces; ++i) {
    barrier_wait(full + 8 + i * 8, 0);
    products_begin();
#pragma unroll
    for (int k = 0; k < WIDTH / 16 / kPieces; ++k) {
      const int s = i * (WIDTH / 16 / kPieces) + k;
      product(wide, rows_of_k(tokens + s * 2 * kTokens * 16, kTokens),
              rows_of_k(stage + s * 2 * kGateColumns * 16, kGateColumns), s == 0);
    }
    products_commit();
  }
  products_wait<0>();
  const long long part = static_cast<long long>(tile) * (INNER / 8) + chunk * (kGateUnits / 8);
#pragma unroll
  for (int j = 0; j < kGateUnits / 8; ++j) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int row = warp * 16 + r * 8 + lane / 4, i = j * 8 + r * 2;
      const unsigned pair = pack_pair(silu(wide[i]) * wide[i + 4], silu(wide[i + 1]) * wide[i + 5]);
      if (row < kTokens) {
        *reinterpret_cast<unsigned*>(gated + ((part + j) * kTokens + row) * 8 + lane % 4 * 2) = pair;
      }
    }
  }
}

// ---- channel mixing: the way down ----
constexpr int kSlice = INNER / kMates;  // units that a block sums over
constexpr unsigned kSliceBytes = kSpan * kSlice * 2, kGatedBytes = kTokens * kSlice * 2;
constexpr int kPart = (kTokens + kMates - 1) / kMates;  // tokens that a block finishes
constexpr int kSumPitch = kSpan + 8;                    // floats; banks do not meet
constexpr unsigned kPartBytes = kPart * kSumPitch * 4;
static_assert(kPart * 8 <= 128, "eight threads finish a token");

// A cluster has 32 channels of a tile's tokens, each of its blocks a slice of the inner units. Leaves
// the sums with x in f32 (samples, kGroups, LENGTH, kGroup) and their squares' sums (samples, LENGTH,
// kSpans).
extern "C" __global__ void __cluster_dims__(kMates, 1, 1) __launch_bounds__(128, 1)
    few_down(const char* gated, const Bf16* x, const char* weights, float* sums, float* squares) {
  extern __shared__ __align__(128) char memory[];
  const unsigned full = shared_address(memory), arrived = full + 8, met = full + 16;
  const unsigned leaving = full + kBarrierBytes, meeting = leaving + kMates * kPartBytes;
  const unsigned stage = meeting + kMates * kPartBytes, values = stage + kSliceBytes;
  const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
  const int number = blockIdx.x / kMates, tile = number / kSpans, span = number % kSpans;
  const unsigned rank = cluster_rank();
  if (thread == 0) {
    barrier_init(full, 1);
    barrier_init(arrived, 1);
    barrier_init(met, 1);
    barrier_publish();
    barrier_expect(met, kMates * kPartBytes);
    barrier_expect(full, kSliceBytes);
    bulk_load(stage, weights + (static_cast<long long>(span) * kMates + rank) * kSliceBytes, kSliceBytes,
              full);
  }
  cluster_arrive();  // others may write here
  cluster_wait();
  wait_for_others();
  let_others_start();
  if (thread == 0) {
    barrier_expect(arrived, kGatedBytes);
    bulk_load(values, gated + (static_cast<long long>(tile) * kMates + rank) * kGatedBytes, kGatedBytes,
              arrived);
  }
  const int own = thread / 8, row = rank * kPart + own, column = thread % 8 * 4;
  const int place = tile % 2 * kTokens + row;
  const bool ours = own < kPart && row < kTokens && place < LENGTH;
  uint2 input = make_uint2(0, 0);
  if (ours) {
    const long long part = (static_cast<long long>(tile) * WIDTH + span * kSpan + column) / 8;
    input = fetch_8(x + (part * kTokens + row) * 8 + column % 8);
  }
  barrier_wait(full, 0);
  barrier_wait(arrived, 0);
  float branch[kSpan / 2];
  products_begin();
#pragma unroll
  for (int s = 0; s < kSlice / 16; ++s) {
    product(branch, rows_of_k(values + s * 2 * kTokens * 16, kTokens),
            rows_of_k(stage + s * 2 * kSpan * 16, kSpan), s == 0);
  }
  products_commit();
  products_wait<0>();
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int from = warp * 16 + r * 8 + lane / 4;
    if (from >= kTokens) continue;
#pragma unroll
    for (int j = 0; j < kSpan / 8; ++j) {
      store_pair(leaving + (from * kSumPitch + j * 8 + lane % 4 * 2) * 4, branch[j * 4 + r * 2],
                 branch[j * 4 + r * 2 + 1]);
    }
  }
  publish_shared();
  __syncthreads();
  if (thread < kMates) {
    bulk_push(address_of(meeting + rank * kPartBytes, thread), leaving + thread * kPartBytes, kPartBytes,
              address_of(met, thread));
  }
  barrier_wait(met, 0);
  cluster_leave();
  float4 sum = make_float4(low_of(input.x), high_of(input.x), low_of(input.y), high_of(input.y));
  if (ours) {
#pragma unroll
    for (int from = 0; from < kMates; ++from) {
      const float4 v = read_four(meeting + from * kPartBytes + (own * kSumPitch + column) * 4);
      sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
    }
  }
  float share = sum.x * sum.x + sum.y * sum.y + sum.z * sum.z + sum.w * sum.w;
#pragma unroll
  for (int offset = 4; offset > 0; offset /= 2) share += __shfl_xor_sync(~0u, share, offset);
  if (ours) {
    const long long sample = tile / 2, group = (span * kSpan + column) / kGroup;
    *reinterpret_cast<float4*>(sums + ((sample * kGroups + group) * LENGTH + place) * kGroup +
                               column % kGroup) = sum;
    if (thread % 8 == 0) squares[(sample * LENGTH + place) * kSpans + span] = share;
  }
  cluster_wait();  // what this block sent has arrived
}

// The norm that nobody has done yet: a warp for every token.
extern "C" __global__ void __launch_bounds__(128)
    few_norm(const float* sums, const float* squares, Bf16* y, long long tokens, float epsilon) {
  wait_for_others();
  let_others_start();
  const long long token = blockIdx.x * 4LL + threadIdx.x / 32;
  if (token >= tokens) return;
  const long long sample = token / LENGTH, place = token % LENGTH;
  float sum = 0.f;
#pragma unroll
  for (int i = 0; i < kSpans; i += 4) {
    const float4 v = fetch_four(squares + token * kSpans + i);
    sum += v.x + v.y + v.z + v.w;
  }
  const float root = rsqrtf(sum / WIDTH + epsilon);
  for (int i = threadIdx.x % 32 * 4; i < WIDTH; i += 128) {
    const float4 v =
        fetch_four(sums + ((sample * kGroups + i / kGroup) * LENGTH + place) * kGroup + i % kGroup);
    *reinterpret_cast<uint2*>(y + token * WIDTH + i) =
        make_uint2(pack_pair(v.x * root, v.y * root), pack_pair(v.z * root, v.w * root));
  }
}
