// SPDX-License-Identifier: Apache-2.0
// The first and the last kernel of a decoding step: the embedding of the new tokens, and the
// likeliest token of each row of logits with the inputs of the step after this one.
#include "decode.cuh"

constexpr int kThreads = 256;

// `inputs` (2, rows): ids and positions. `place_table` (positions, vectors) or null.
extern "C" __global__ void decode_embed(const long long* inputs, const Vector* tokens,
                                        const Vector* place_table, Vector* x, int rows,
                                        int vectors) {
  let_others_start();
  const int row = blockIdx.x;
  const Vector* token = tokens + inputs[row] * vectors;
  const Vector* place = place_table + (place_table != nullptr ? inputs[rows + row] * vectors : 0);
  for (int i = threadIdx.x; i < vectors; i += kThreads) {
    float values[kLanes];
    unpack(token[i], values);
    if (place_table != nullptr) {
      float added[kLanes];
      unpack(place[i], added);
#pragma unroll
      for (int k = 0; k < kLanes; ++k) values[k] += added[k];
    }
    x[row * vectors + i] = pack(values);
  }
}

// `best` (blocks, rows). `likeliest` (rows, 2): id and logit. `next` (2, rows): the token with its
// position; a text at its end is repeated.
extern "C" __global__ void decode_choose(const Best* best, const long long* inputs,
                                         float* likeliest, long long* next, int blocks, int rows,
                                         int capacity) {
  extern __shared__ __align__(16) unsigned char memory[];
  Best* found = reinterpret_cast<Best*>(memory);
  const int row = blockIdx.x, thread = threadIdx.x;
  let_others_start();
  wait_for_others();
  Best mine{-__int_as_float(0x7f800000), 0x7fffffff};
  for (int i = thread; i < blocks; i += kThreads) {
    const float* from = reinterpret_cast<const float*>(best + i * rows + row);
    mine = better(mine, {fetch(from), __float_as_int(fetch(from + 1))});
  }
  found[thread] = mine;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (thread < half) found[thread] = better(found[thread], found[thread + half]);
  }
  if (thread != 0) return;
  likeliest[2 * row] = static_cast<float>(found[0].place);
  likeliest[2 * row + 1] = found[0].value;
  const long long position = inputs[rows + row];
  const bool goes_on = position + 1 < capacity;
  next[row] = goes_on ? found[0].place : inputs[row];
  next[rows + row] = goes_on ? position + 1 : position;
}
