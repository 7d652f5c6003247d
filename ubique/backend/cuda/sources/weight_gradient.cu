// SPDX-License-Identifier: Apache-2.0
// Weight gradient of a dilated 3x3x3 convolution on tensor cores, channels last, with equal input and
// output channels: for each of 27 taps the product of the gradient (channels, voxels) and the shifted
// input (voxels, channels). cuDNN takes 2.5 (32 channels) to 14 times (8) as long.
//
// A block walks down the rows y, y + dilation, y + 2 dilation ... of one plane, a tile of TILE
// voxels wide: six of the nine input rows that a gradient row needs are already in shared memory.
// Each of nine warps has the three taps of one (plane, row) offset; sums stay in registers until
// the block is done. The blocks' partial results are added in a fixed order.
// SCALAR: 0 = f16, 1 = bf16. CHANNELS: a multiple of 8. TILE: a multiple of 16.
#include "tiles.cuh"

constexpr int kOctets = 3 * kParts;             // rows of the product, in eights: (tap, input part)
constexpr int kRowTiles = (kOctets + 1) / 2;    // in sixteens
constexpr int kWarps = 9, kThreads = 32 * kWarps;
constexpr int kInputSlots = 4, kGradientSlots = 2;

struct Extent {
  int samples, depth, height, width, dilation;
};

// Starts copying voxels [first, first + count) of a row; zeros outside the volume.
__device__ inline void copy_row(Part* to, const Part* row, int first, int count, int width) {
  for (int i = threadIdx.x; i < count * kParts; i += kThreads) {
    const int voxel = i / kParts, part = i % kParts, w = first + voxel;
    const bool inside = w >= 0 && w < width;
    const Part* from = row + (inside ? w * kParts + part : 0);
    copy_part(to + place(voxel, part), from, inside);
  }
}

__device__ inline void load_transposed_half(const Part* from, unsigned& first, unsigned& second) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(first), "=r"(second)
               : "r"(shared_address(from)));
}

// sums += input^T gradient for the warp's taps, over one row of TILE voxels.
__device__ inline void add_row(float (&sums)[kRowTiles][kParts][4], const Part* gradient,
                               const Part* input, int dilation) {
  const int lane = threadIdx.x % 32, quarter = lane / 8;
#pragma unroll 2
  for (int first = 0; first < TILE; first += 16) {
    unsigned right[kParts][2];
#pragma unroll
    for (int part = 0; part + 1 < kParts; part += 2) {
      unsigned both[4];
      const int voxel = first + quarter % 2 * 8 + lane % 8;
      load_transposed(both, shared_address(gradient + place(voxel, part + quarter / 2)));
      right[part][0] = both[0], right[part][1] = both[1];
      right[part + 1][0] = both[2], right[part + 1][1] = both[3];
    }
    if (kParts % 2 == 1) {
      load_transposed_half(gradient + place(first + quarter % 2 * 8 + lane % 8, kParts - 1),
                           right[kParts - 1][0], right[kParts - 1][1]);
    }
#pragma unroll
    for (int tile = 0; tile < kRowTiles; ++tile) {
      const int wanted = 2 * tile + quarter % 2, octet = wanted < kOctets ? wanted : kOctets - 1;
      const int voxel = first + quarter / 2 * 8 + lane % 8 + octet / kParts * dilation;
      unsigned left[4];
      load_transposed(left, shared_address(input + place(voxel, octet % kParts)));
#pragma unroll
      for (int part = 0; part < kParts; ++part) {
        multiply(sums[tile][part], left, right[part][0], right[part][1]);
      }
    }
  }
}

// Writes one row (27, CHANNELS in, CHANNELS out) of `partial`.
__device__ inline void write_sums(const float (&sums)[kRowTiles][kParts][4], float* partial) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float* own = partial + static_cast<long long>(blockIdx.x) * 27 * CHANNELS * CHANNELS;
#pragma unroll
  for (int tile = 0; tile < kRowTiles; ++tile) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int octet = 2 * tile + half;
      if (octet >= kOctets) continue;
      const int tap = warp * 3 + octet / kParts, in = octet % kParts * 8 + lane / 4;
#pragma unroll
      for (int part = 0; part < kParts; ++part) {
        const int out = part * 8 + lane % 4 * 2;
        float* to = own + (tap * CHANNELS + in) * CHANNELS + out;
        to[0] = sums[tile][part][2 * half];
        to[1] = sums[tile][part][2 * half + 1];
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(kThreads)
    weight_gradient(const Part* gradient, const Part* x, Extent extent, float* partial) {
  extern __shared__ Part memory[];
  const int dilation = extent.dilation, halo = TILE + 2 * dilation;
  const int input_row = halo * kParts, gradient_row = TILE * kParts;
  Part* const gradients = memory + kInputSlots * 3 * input_row;
  const int warp = threadIdx.x / 32, plane_tap = warp / 3, row_tap = warp % 3;
  float sums[kRowTiles][kParts][4] = {};

  const int tiles = (extent.width + TILE - 1) / TILE;
  const int starts = dilation < extent.height ? dilation : extent.height;
  const long long columns = static_cast<long long>(extent.samples) * extent.depth * starts * tiles;
  for (long long column = blockIdx.x; column < columns; column += gridDim.x) {
    const int w = static_cast<int>(column % tiles) * TILE;
    const int start = static_cast<int>(column / tiles % starts);
    const long long plane = column / tiles / starts;  // (sample, depth)
    const int z = static_cast<int>(plane % extent.depth);
    const int rows = (extent.height - start + dilation - 1) / dilation;

    const auto row_of = [&](const Part* volume, long long p, int row) {
      const long long y = start + static_cast<long long>(row) * dilation;
      return volume + (p * extent.height + y) * extent.width * kParts;
    };
    const auto copy_input = [&](int row) {
      if (row >= rows) return;
      for (int tap = 0; tap < 3; ++tap) {
        const int depth = z + (tap - 1) * dilation;
        if (depth < 0 || depth >= extent.depth) continue;
        copy_row(memory + (row % kInputSlots * 3 + tap) * input_row,
                 row_of(x, plane + static_cast<long long>(tap - 1) * dilation, row), w - dilation,
                 halo, extent.width);
      }
    };
    const auto copy_gradient = [&](int row) {
      if (row >= rows) return;
      copy_row(gradients + row % kGradientSlots * gradient_row, row_of(gradient, plane, row), w,
               TILE, extent.width);
    };

    __syncthreads();  // the previous column may still be read
    copy_input(0);
    copy_input(1);
    copy_gradient(0);
    const int depth = z + (plane_tap - 1) * dilation;
    for (int row = 0; row < rows; ++row) {
      copies_done();
      __syncthreads();
      copy_input(row + 2);
      copy_gradient(row + 1);
      const int met = row + row_tap - 1;
      if (met < 0 || met >= rows || depth < 0 || depth >= extent.depth) continue;
      add_row(sums, gradients + row % kGradientSlots * gradient_row,
              memory + (met % kInputSlots * 3 + plane_tap) * input_row, dilation);
    }
  }
  write_sums(sums, partial);
}

// Adds the blocks' rows to (out, in, tap).
extern "C" __global__ void weight_gradient_total(const float* partial, int rows, float* result) {
  constexpr int kValues = 27 * CHANNELS * CHANNELS;
  const int value = blockIdx.x * blockDim.x + threadIdx.x;
  if (value >= kValues) return;
  float sum = 0;
  for (int row = 0; row < rows; ++row) sum += partial[static_cast<long long>(row) * kValues + value];
  const int out = value % CHANNELS, in = value / CHANNELS % CHANNELS, tap = value / CHANNELS / CHANNELS;
  result[(out * CHANNELS + in) * 27 + tap] = sum;
}
