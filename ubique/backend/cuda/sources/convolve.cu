// SPDX-License-Identifier: Apache-2.0
// A dilated 3x3x3 convolution on tensor cores, channels last, with equal input and output channels
// and optional bias and ReLU: for every voxel the product of 27 shifted voxels (27 x channels) with
// the weights. cuDNN takes 1.2 (32 channels) to 3 times (8) as long.
//
// A block computes PLANES planes, one dilation apart, of a tile of TILE voxels, and walks down the
// rows y, y + dilation, y + 2 dilation ...: two thirds of the input rows that it needs are already in
// shared memory. A warp computes 64 voxels of one plane. Outside the volume the input is zero.
// SCALAR: 0 = f16, 1 = bf16. CHANNELS: a multiple of 8. TILE: a multiple of 64. RELU: 0 or 1.
#include "tiles.cuh"
#include "values.cuh"

constexpr int kOctets = 27 * kParts;         // eights of the product's inner extent: (tap, input part)
constexpr int kSteps = (kOctets + 1) / 2;    // sixteens, the unit of the tensor cores
constexpr int kWarpVoxels = 64, kRowTiles = kWarpVoxels / 16;
constexpr int kWarps = PLANES * (TILE / kWarpVoxels), kThreads = 32 * kWarps;
constexpr int kSlots = 4, kInputPlanes = PLANES + 2;

struct Extent {
  int samples, depth, height, width, dilation;
  int segment;  // rows per walk of a block
};

// Reorders the weights as the lanes read them: (step, output part, lane) of two words.
extern "C" __global__ void convolve_weights(const unsigned short* weight, long long out_stride,
                                            long long in_stride, long long tap_stride,
                                            unsigned short* arranged) {
  const int value = blockIdx.x * blockDim.x + threadIdx.x;
  if (value >= kSteps * kParts * 32 * 4) return;
  const int element = value % 4, lane = value / 4 % 32;
  const int out = value / 128 % kParts * 8 + lane / 4;
  const int octet = value / 128 / kParts * 2 + element / 2;
  const int in = octet % kParts * 8 + lane % 4 * 2 + element % 2;
  arranged[value] = octet >= kOctets ? 0
                                     : weight[out * out_stride + in * in_stride +
                                              octet / kParts * tap_stride];
}

// Starts copying voxels [first, first + count) of a row; zeros outside it and for a null row.
__device__ inline void copy_row(Part* to, const Part* row, const Part* any, int first, int count,
                                int width) {
  for (int i = threadIdx.x; i < count * kParts; i += kThreads) {
    const int voxel = i / kParts, part = i % kParts, w = first + voxel;
    const bool inside = row != nullptr && w >= 0 && w < width;
    const Part* from = inside ? row + w * kParts + part : any;
    copy_part(to + place(voxel, part), from, inside);
  }
}

// Sums over all taps for 64 voxels. `rows` are the addresses of the nine input rows, `offsets` the
// position of this lane's voxel in a row for each shift and part.
__device__ inline void add_taps(float (&sums)[kRowTiles][kParts][4], const unsigned (&rows)[9],
                                const unsigned (&offsets)[3][kParts], const uint2* weights) {
  const int lane = threadIdx.x % 32;
  const bool upper = lane >= 16;  // provides the addresses of the step's second octet
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    const int low = 2 * step, high = 2 * step + 1 < kOctets ? 2 * step + 1 : low;
    const unsigned row = upper ? rows[high / kParts / 3] : rows[low / kParts / 3];
    const unsigned offset = upper ? offsets[high / kParts % 3][high % kParts]
                                  : offsets[low / kParts % 3][low % kParts];
    uint2 right[kParts];
#pragma unroll
    for (int part = 0; part < kParts; ++part) right[part] = weights[(step * kParts + part) * 32 + lane];
#pragma unroll
    for (int tile = 0; tile < kRowTiles; ++tile) {
      unsigned left[4];
      load_blocks(left, row + offset + tile * 16 * kParts * 16);
#pragma unroll
      for (int part = 0; part < kParts; ++part) multiply(sums[tile][part], left, right[part].x, right[part].y);
    }
  }
}

// Adds the bias, applies ReLU and rounds; `row` is the row's first voxel.
__device__ inline void write_row(const float (&sums)[kRowTiles][kParts][4], const float* bias,
                                 unsigned* row, int first, int width) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int part = 0; part < kParts; ++part) {
    const int out = part * 8 + lane % 4 * 2;
    const float low = bias != nullptr ? bias[out] : 0.f, high = bias != nullptr ? bias[out + 1] : 0.f;
#pragma unroll
    for (int tile = 0; tile < kRowTiles; ++tile) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int w = first + tile * 16 + half * 8 + lane / 4;
        float a = sums[tile][part][2 * half] + low, b = sums[tile][part][2 * half + 1] + high;
        if (RELU) a = a < 0.f ? 0.f : a, b = b < 0.f ? 0.f : b;
        if (w < width) {
          row[(w * CHANNELS + out) / 2] = to_scalar(a) | unsigned(to_scalar(b)) << 16;
        }
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(kThreads)
    convolve(const Part* x, const uint2* arranged, const float* bias, unsigned* result,
             Extent extent) {
  extern __shared__ Part memory[];
  const int dilation = extent.dilation, halo = TILE + 2 * dilation, row_parts = halo * kParts;
  uint2* const weights = reinterpret_cast<uint2*>(memory + kSlots * kInputPlanes * row_parts);
  for (int i = threadIdx.x; i < kSteps * kParts * 32; i += kThreads) weights[i] = arranged[i];

  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int plane_of_warp = warp / (TILE / kWarpVoxels), first = warp % (TILE / kWarpVoxels) * kWarpVoxels;
  unsigned offsets[3][kParts];
#pragma unroll
  for (int shift = 0; shift < 3; ++shift) {
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      offsets[shift][part] = 16 * place(first + lane % 16 + shift * dilation, part);
    }
  }

  const int tiles = (extent.width + TILE - 1) / TILE;
  const int row_starts = dilation < extent.height ? dilation : extent.height;
  const int plane_starts = dilation < extent.depth ? dilation : extent.depth;
  const int most_rows = (extent.height + dilation - 1) / dilation;
  const int segments = (most_rows + extent.segment - 1) / extent.segment;
  const int groups = ((extent.depth + dilation - 1) / dilation + PLANES - 1) / PLANES;
  const long long columns =
      static_cast<long long>(extent.samples) * groups * plane_starts * segments * row_starts * tiles;
  for (long long column = blockIdx.x; column < columns; column += gridDim.x) {
    long long rest = column;
    const int w = static_cast<int>(rest % tiles) * TILE;
    rest /= tiles;
    const int row_start = static_cast<int>(rest % row_starts);
    rest /= row_starts;
    const int segment = static_cast<int>(rest % segments) * extent.segment;
    rest /= segments;
    const int plane_start = static_cast<int>(rest % plane_starts);
    rest /= plane_starts;
    const int z = plane_start + static_cast<int>(rest % groups) * PLANES * dilation;
    const long long sample = rest / groups;
    const int rows = (extent.height - row_start + dilation - 1) / dilation;
    const int end = segment + extent.segment < rows ? segment + extent.segment : rows;
    if (z >= extent.depth || segment >= end) continue;

    const auto voxel_of = [&](int depth, int row) {
      return ((sample * extent.depth + depth) * extent.height + row_start + row * dilation) * extent.width;
    };
    const auto copy_input = [&](int row) {
      for (int plane = 0; plane < kInputPlanes; ++plane) {
        const int depth = z + (plane - 1) * dilation;
        const bool inside = row >= 0 && row < rows && depth >= 0 && depth < extent.depth;
        copy_row(memory + ((row + kSlots) % kSlots * kInputPlanes + plane) * row_parts,
                 inside ? x + voxel_of(depth, row) * kParts : nullptr, x, w - dilation, halo,
                 extent.width);
      }
    };

    __syncthreads();  // the previous column may still be read
    copy_input(segment - 1);
    copy_input(segment);
    copy_input(segment + 1);
    const int depth = z + plane_of_warp * dilation;
    for (int row = segment; row < end; ++row) {
      copies_done();
      __syncthreads();
      if (row + 1 < end) copy_input(row + 2);
      if (depth >= extent.depth || w + first >= extent.width) continue;
      unsigned addresses[9];
#pragma unroll
      for (int tap = 0; tap < 9; ++tap) {
        const int slot = (row + tap % 3 - 1 + kSlots) % kSlots, plane = plane_of_warp + tap / 3;
        addresses[tap] = shared_address(memory + (slot * kInputPlanes + plane) * row_parts);
      }
      float sums[kRowTiles][kParts][4] = {};
      add_taps(sums, addresses, offsets, weights);
      write_row(sums, bias, result + voxel_of(depth, row) * (CHANNELS / 2), w + first, extent.width);
    }
  }
}
