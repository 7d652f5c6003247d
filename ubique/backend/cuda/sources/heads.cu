// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding of queries and keys, in place, and its backward, which also joins the
// gradients of queries, keys and values. Rotation is in f32. HALF: vectors per half head.
#include "values.cuh"

struct Pair {
  float first[kLanes], second[kLanes];
};

__device__ inline void turn(Pair& pair, const float* cos, const float* sin, float direction) {
#pragma unroll
  for (int lane = 0; lane < kLanes; ++lane) {
    const float c = cos[lane], s = direction * sin[lane], a = pair.first[lane];
    pair.first[lane] = a * c - pair.second[lane] * s;
    pair.second[lane] = pair.second[lane] * c + a * s;
  }
}

__device__ inline Pair read_pair(const Vector* at) {
  Pair pair;
  unpack(at[0], pair.first);
  unpack(at[HALF], pair.second);
  return pair;
}
__device__ inline void write_pair(Vector* at, const Pair& pair) {
  at[0] = pack(pair.first);
  at[HALF] = pack(pair.second);
}

// x (tokens, 3, heads, size), in vectors. Token t is at position t % length.
extern "C" __global__ void rotate_heads(Vector* x, const float* cos, const float* sin,
                                        long long tokens, int length, int heads) {
  const long long items = tokens * heads * HALF;
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < items;
       i += stride) {
    const int part = i % HALF, head = i / HALF % heads;
    const long long token = i / HALF / heads;
    const int angle = static_cast<int>(token % length) * HALF * 2 * kLanes + part * kLanes;
    Vector* const query = x + (token * 3 * heads + head) * HALF * 2 + part;
    Vector* const key = query + static_cast<long long>(heads) * HALF * 2;
    Pair pair = read_pair(query), other = read_pair(key);
    turn(pair, cos + angle, sin + angle, 1.f);
    turn(other, cos + angle, sin + angle, 1.f);
    write_pair(query, pair);
    write_pair(key, other);
  }
}

// Vectors from one sample, head and position to the next.
struct Strides {
  long long sample, head, place;
};

extern "C" __global__ void join_heads(const Vector* q, const Vector* k, const Vector* v, Strides of_q,
                                      Strides of_k, Strides of_v, Vector* x, const float* cos,
                                      const float* sin, long long tokens, int length, int heads) {
  const long long items = tokens * heads * HALF;
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < items;
       i += stride) {
    const int part = i % HALF, head = i / HALF % heads;
    const long long token = i / HALF / heads;
    const int place = static_cast<int>(token % length);
    const long long sample = token / length;
    const auto from = [&](const Vector* base, const Strides& s) {
      return base + sample * s.sample + head * s.head + place * s.place + part;
    };
    const int angle = place * HALF * 2 * kLanes + part * kLanes;
    Pair pair = read_pair(from(q, of_q)), other = read_pair(from(k, of_k));
    turn(pair, cos + angle, sin + angle, -1.f);
    turn(other, cos + angle, sin + angle, -1.f);
    Vector* const query = x + (token * 3 * heads + head) * HALF * 2 + part;
    const long long next = static_cast<long long>(heads) * HALF * 2;
    write_pair(query, pair);
    write_pair(query + next, other);
    const Vector* const value = from(v, of_v);
    query[2 * next] = value[0];
    query[2 * next + HALF] = value[HALF];
  }
}
