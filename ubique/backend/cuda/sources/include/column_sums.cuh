// SPDX-License-Identifier: Apache-2.0
// Kernels that walk over a matrix of 16-bit values and also add up its columns. A block has a tile
// of 32 vectors of columns, one for each lane, and every (slabs * 8)th row, one for each warp; its
// sums go to a row of its own, and these rows are added afterwards: the same order every time.
#pragma once

#include "values.cuh"

constexpr int kTileThreads = 256, kTileWarps = 8, kTileVectors = 32;

struct Tile {
  int vector;         // of a row; may lie beyond its end
  long long row, by;  // the first row of this thread, and from each to the next
  int slab;
};

// gridDim.x is a multiple of the number of tiles, which cover `vectors` vectors a row.
__device__ inline Tile tile_of(int vectors) {
  const int tiles = (vectors + kTileVectors - 1) / kTileVectors;
  const int slab = blockIdx.x / tiles, slabs = gridDim.x / tiles;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  return {static_cast<int>(blockIdx.x) % tiles * kTileVectors + lane,
          static_cast<long long>(slab) * kTileWarps + warp,
          static_cast<long long>(slabs) * kTileWarps, slab};
}

// Writes the sums of the block's columns to its row of `partial` (slabs, vectors * kLanes). All
// threads of the block call it together.
__device__ inline void store_sums(const float (&sums)[kLanes], const Tile& tile, int vectors,
                                  float* partial) {
  __shared__ float shared[kTileWarps][kTileVectors * kLanes];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (int i = 0; i < kLanes; ++i) shared[warp][i * kTileVectors + lane] = sums[i];
  __syncthreads();
  // The thread adds up one column: number `warp` of the eight of its lane's vector.
  float sum = 0.f;
#pragma unroll
  for (int i = 0; i < kTileWarps; ++i) sum += shared[i][warp * kTileVectors + lane];
  if (tile.vector < vectors) {
    partial[(static_cast<long long>(tile.slab) * vectors + tile.vector) * kLanes + warp] = sum;
  }
}
