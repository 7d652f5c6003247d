// Attention of short sequences in one kernel, without gradients: queries and keys are turned by their
// places on the way into shared memory, scores never leave registers. A block has one head of one
// sample, each of its warps 16 places. From sm_80 on.
// LENGTH: at most 128. HEAD: 64. HEADS. CAUSAL. ROTATE. SCALAR: 0 = f16, 1 = bf16.
constexpr int kRows = (LENGTH + 15) / 16 * 16;  // places, filled up with zeros
constexpr int kWarps = kRows / 16;
constexpr int kBlocks = (LENGTH + 7) / 8;       // of 8 keys
constexpr int kSteps = kRows / 16;              // of 16 keys
constexpr int kRowBytes = HEAD * 2 + 16;        // banks do not meet
constexpr int kHalf = HEAD / 2 / kLanes;        // vectors of half a head
constexpr unsigned kPartBytes = kRows * kRowBytes;

__device__ inline unsigned address_of(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ inline void load_blocks(unsigned (&values)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(values[0]), "=r"(values[1]), "=r"(values[2]), "=r"(values[3])
               : "r"(address));
}
__device__ inline void load_turned(unsigned (&values)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(values[0]), "=r"(values[1]), "=r"(values[2]), "=r"(values[3])
               : "r"(address));
}

#if SCALAR == 1
#define KIND "bf16"
#else
#define KIND "f16"
#endif
__device__ inline void multiply(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." KIND "." KIND ".f32 {%0, %1, %2, %3}, "
               "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ inline unsigned pair_of(float low, float high) {
  unsigned pair;
  asm("cvt.rn." KIND "x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}
__device__ inline float power_of_two(float x) {
  float y;
  asm("ex2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// One part (queries, keys or values) of the head: (LENGTH, HEAD), places `stride` vectors apart.
__device__ inline void fetch_part(char* to, const Vector* from, long long stride, const float* cos,
                                  const float* sin, bool turn) {
  for (int i = threadIdx.x; i < LENGTH * kHalf; i += blockDim.x) {
    const int place = i / kHalf, part = i % kHalf;
    const Vector* const source = from + place * stride + part;
    Vector first = source[0], second = source[kHalf];
    if (turn) {
      float a[kLanes], b[kLanes];
      unpack(first, a);
      unpack(second, b);
      const float* const c = cos + place * HEAD + part * kLanes;
      const float* const s = sin + place * HEAD + part * kLanes;
#pragma unroll
      for (int lane = 0; lane < kLanes; ++lane) {
        const float before = a[lane];
        a[lane] = before * c[lane] - b[lane] * s[lane];
        b[lane] = b[lane] * c[lane] + before * s[lane];
      }
      first = pack(a);
      second = pack(b);
    }
    Vector* const row = reinterpret_cast<Vector*>(to + place * kRowBytes);
    row[part] = first;
    row[part + kHalf] = second;
  }
  const Vector zero = {};
  for (int i = threadIdx.x; i < (kRows - LENGTH) * 2 * kHalf; i += blockDim.x) {
    reinterpret_cast<Vector*>(to + (LENGTH + i / (2 * kHalf)) * kRowBytes)[i % (2 * kHalf)] = zero;
  }
}

// Scores of 16 places with all keys, as powers of two below the largest; gives the rows' sums.
__device__ inline void soften(float (&scores)[kBlocks][4], float (&sums)[2], int row, int lane,
                              float scale) {
  float largest[2] = {-__int_as_float(0x7f800000), -__int_as_float(0x7f800000)};
#pragma unroll
  for (int j = 0; j < kBlocks; ++j) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int key = j * 8 + lane % 4 * 2 + i % 2;
      const bool seen = key < LENGTH && (!CAUSAL || key <= row + i / 2 * 8);
      scores[j][i] = seen ? scores[j][i] * scale : -__int_as_float(0x7f800000);
      largest[i / 2] = fmaxf(largest[i / 2], scores[j][i]);
    }
  }
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    largest[r] = fmaxf(largest[r], __shfl_xor_sync(~0u, largest[r], 1));
    largest[r] = fmaxf(largest[r], __shfl_xor_sync(~0u, largest[r], 2));
    sums[r] = 0.f;
  }
#pragma unroll
  for (int j = 0; j < kBlocks; ++j) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      scores[j][i] = power_of_two(scores[j][i] - largest[i / 2]);
      sums[i / 2] += scores[j][i];
    }
  }
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    sums[r] += __shfl_xor_sync(~0u, sums[r], 1);
    sums[r] += __shfl_xor_sync(~0u, sums[r], 2);
  }
}

// qkv (samples, LENGTH, 3, HEADS, HEAD) to y (samples, LENGTH, HEADS, HEAD). `scale` has log2(e) in it.
extern "C" __global__ void __launch_bounds__(kWarps * 32)
    attend(const Vector* qkv, Vector* y, const float* cos, const float* sin, float scale) {
  extern __shared__ __align__(16) char memory[];
  char *const queries = memory, *const keys = memory + kPartBytes, *const values = keys + kPartBytes;
  constexpr long long kToken = 3LL * HEADS * 2 * kHalf;  // vectors of one place
  const long long sample = blockIdx.x / HEADS;
  const int head = blockIdx.x % HEADS;
  const Vector* const start = qkv + sample * LENGTH * kToken + head * 2 * kHalf;
  fetch_part(queries, start, kToken, cos, sin, ROTATE);
  fetch_part(keys, start + HEADS * 2 * kHalf, kToken, cos, sin, ROTATE);
  fetch_part(values, start + 2 * HEADS * 2 * kHalf, kToken, cos, sin, false);
  __syncthreads();

  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = warp * 16 + lane / 4;
  unsigned a[HEAD / 16][4];
  const unsigned own = address_of(queries) + (warp * 16 + lane % 16) * kRowBytes + lane / 16 * 16;
#pragma unroll
  for (int s = 0; s < HEAD / 16; ++s) load_blocks(a[s], own + s * 32);
  float scores[kBlocks][4] = {};
#pragma unroll
  for (int j = 0; j < kBlocks; ++j) {
    const unsigned key = address_of(keys) + (j * 8 + lane % 8) * kRowBytes + lane / 8 * 16;
#pragma unroll
    for (int s = 0; s < HEAD / 16; s += 2) {
      unsigned b[4];
      load_blocks(b, key + s * 32);
      multiply(scores[j], a[s], b[0], b[1]);
      multiply(scores[j], a[s + 1], b[2], b[3]);
    }
  }
  float sums[2];
  soften(scores, sums, row, lane, scale);

  float mixed[HEAD / 8][4] = {};
#pragma unroll
  for (int s = 0; s < kSteps; ++s) {
    unsigned p[4];
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const int j = 2 * s + e;
      p[2 * e] = j < kBlocks ? pair_of(scores[j < kBlocks ? j : 0][0], scores[j < kBlocks ? j : 0][1]) : 0;
      p[2 * e + 1] = j < kBlocks ? pair_of(scores[j < kBlocks ? j : 0][2], scores[j < kBlocks ? j : 0][3]) : 0;
    }
    const unsigned value = address_of(values) + (s * 16 + lane % 16) * kRowBytes + lane / 16 * 16;
#pragma unroll
    for (int n = 0; n < HEAD / 8; n += 2) {
      unsigned b[4];
      load_turned(b, value + n * 16);
      multiply(mixed[n], p, b[0], b[1]);
      multiply(mixed[n + 1], p, b[2], b[3]);
    }
  }
  // A warp's own queries have been read: their place takes the result on its way out.
  __syncwarp();
#pragma unroll
  for (int n = 0; n < HEAD / 8; ++n) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float share = __fdividef(1.f, sums[r]);
      *reinterpret_cast<unsigned*>(queries + (row + r * 8) * kRowBytes + (n * 8 + lane % 4 * 2) * 2) =
          pair_of(mixed[n][r * 2] * share, mixed[n][r * 2 + 1] * share);
    }
  }
  __syncwarp();
  for (int i = lane; i < 16 * 2 * kHalf; i += 32) {
    const int place = warp * 16 + i / (2 * kHalf), part = i % (2 * kHalf);
    if (place >= LENGTH) continue;
    const long long to = (sample * LENGTH + place) * HEADS + head;
    y[to * 2 * kHalf + part] = reinterpret_cast<const Vector*>(queries + place * kRowBytes)[part];
  }
}
