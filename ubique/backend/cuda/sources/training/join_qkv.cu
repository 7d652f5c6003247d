// SPDX-License-Identifier: Apache-2.0
// The gradients of queries, keys and values side by side, as the product that they were cut from,
// with the sums of its columns, which are the gradient of the product's bias. One pass.
#include "column_sums.cuh"

constexpr int kAtOnce = 4;

// (B, heads, T, size) with any strides, in vectors; heads of `size` vectors.
struct Part {
  const Vector* at;
  long long batch, head, row;
  int heads;
};
struct Parts {
  Part part[3];
};

// Where the vector of a joined row comes from, in row 0 of its part.
struct Source {
  const Vector* at;
  long long batch, row;
};
__device__ inline Source source_of(const Parts& parts, int vector, int size) {
  int head = vector / size, which = 0;
  if (head >= parts.part[0].heads) head -= parts.part[0].heads, which = 1;
  if (which == 1 && head >= parts.part[1].heads) head -= parts.part[1].heads, which = 2;
  // One after the other: an index that varies would move the parts into slow memory.
  Part part = parts.part[0];
  if (which == 1) part = parts.part[1];
  if (which == 2) part = parts.part[2];
  return {part.at + head * part.head + vector % size, part.batch, part.row};
}

// `product` (B * T, vectors).
extern "C" __global__ void __launch_bounds__(kTileThreads)
    join_qkv(Parts parts, Vector* product, float* partial, int batch, int length, int vectors,
               int size) {
  const Tile tile = tile_of(vectors);
  const bool inside = tile.vector < vectors;
  const long long rows = static_cast<long long>(batch) * length;
  float sums[kLanes] = {};
  if (inside) {
    const Source source = source_of(parts, tile.vector, size);
    for (long long first = tile.row; first < rows; first += kAtOnce * tile.by) {
      Vector in[kAtOnce];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const long long row = first + i * tile.by;
        if (row >= rows) continue;
        const int sample = static_cast<int>(row) / length;  // rows are fewer than 2^31
        in[i] = source.at[sample * source.batch + (row - static_cast<long long>(sample) * length) * source.row];
      }
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const long long row = first + i * tile.by;
        if (row >= rows) continue;
        float values[kLanes];
        unpack(in[i], values);
#pragma unroll
        for (int lane = 0; lane < kLanes; ++lane) sums[lane] += values[lane];
        product[row * vectors + tile.vector] = in[i];
      }
    }
  }
  store_sums(sums, tile, vectors, partial);
}
