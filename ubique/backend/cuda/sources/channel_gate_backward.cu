// SPDX-License-Identifier: Apache-2.0
// SwiGLU backward on Hopper (channel_gate.cuh): d(swiglu output) is a matrix product whose sums are
// combined with gates and up values in registers and never written. A chunk has 128 inner units;
// their gates and up values are copied to shared memory while the chunk is multiplied.
// INNER: a multiple of 128 * SPLIT. TILES: chunks of gates and up values buffered per warpgroup.
#include "channel_gate.cuh"

constexpr int kUnits = 128, kChunks = INNER / kUnits / SPLIT;
// Layout for 64 tokens: per token two rows of 64 units (128 bytes each); all gates, then all up values.
constexpr unsigned kKindBytes = 64 * kUnits * 2, kTileBytes = 2 * kKindBytes;
constexpr unsigned kTilesAt = STAGES * kPieceBytes, kTilesEnd = kTilesAt + 2 * TILES * kTileBytes;

// Ring buffer of one warpgroup's gates and up values.
using Tiles = RingOf<TILES>;

__device__ inline Tiles tiles_of(char* memory, int group) {
  const unsigned at = kTilesAt + group * TILES * kTileBytes;
  return make_ring<TILES>(memory + at, kTilesEnd - at + STAGES * 16 + group * TILES * 16, 4);
}

__device__ inline void stream_tiles(Tiles tiles, const TensorMap& wide, int group, long long tokens) {
  const int turns = turns_of(tokens);
  for (int turn = blockIdx.x; turn < turns; turn += gridDim.x) {
    const int token = turn / SPLIT * kTokens + group * 64;
    for (int chunk = 0; chunk < kChunks; ++chunk, ++tiles.step) {
      const int slice = (turn % SPLIT * kChunks + chunk) * (kUnits / 64);
      const unsigned to = tiles.stage_bytes(kTileBytes);
      barrier_wait(tiles.empty_now(), tiles.parity() ^ 1);
      barrier_expect(tiles.full_now(), kTileBytes);
      tensor_load(to, wide, slice, token, 0, tiles.full_now());
      tensor_load(to + kKindBytes, wide, INNER / 64 + slice, token, 0, tiles.full_now());
    }
  }
}

struct GateBackward {
  Place place;
  Tiles tiles;
  Bf16 *of_wide, *gated;

  // Address of 16 bytes of a token in the swizzled layout of the copy engine.
  __device__ unsigned at(int token, int part) const {
    const int row = token * 2 + part / 2, sixteenth = part % 2 * 4 + place.lane % 4;
    return tiles.stage_bytes(kTileBytes) + row * 128 + (sixteenth ^ row % 8) * 16;
  }
  // Finishes 8 of every 32 units of a thread's upper (half = 0) or lower (2) token.
  template <int half>
  __device__ void finish(const float (&sums)[64], long long token, int chunk) const {
    const int unit = chunk * kUnits + place.lane % 4 * 8;
    Bf16* const of_gates = of_wide + token * 2 * INNER + unit;
#pragma unroll
    for (int part = 0; part < kUnits / 32; ++part) {
      const unsigned from = at(place.row + half * 4, part);
      uint4 gates = load_16(from), values = load_16(from + kKindBytes);
      const float* const of_gated = sums + part * 16 + half;
      uint4 results;
      back(gates.x, values.x, results.x, of_gated);
      back(gates.y, values.y, results.y, of_gated + 4);
      back(gates.z, values.z, results.z, of_gated + 8);
      back(gates.w, values.w, results.w, of_gated + 12);
      if (token >= place.tokens) continue;
      *reinterpret_cast<uint4*>(of_gates + part * 32) = gates;
      *reinterpret_cast<uint4*>(of_gates + INNER + part * 32) = values;
      *reinterpret_cast<uint4*>(gated + token * INNER + unit + part * 32) = results;
    }
  }
  // Two units: replaces gates and up values by their gradients.
  __device__ static void back(unsigned& gates, unsigned& values, unsigned& results,
                              const float* of_gated) {
    const auto low = gate_gradient(low_of(gates), low_of(values), of_gated[0]);
    const auto high = gate_gradient(high_of(gates), high_of(values), of_gated[1]);
    gates = pack_pair(low.of_gate, high.of_gate);
    values = pack_pair(low.of_value, high.of_value);
    results = pack_pair(low.gated, high.gated);
  }
  __device__ void operator()(const float (&sums)[64], long long token, int chunk) {
    barrier_wait(tiles.full_now(), tiles.parity());
    finish<0>(sums, token, chunk);
    finish<2>(sums, token + 8, chunk);
    __syncwarp();
    place.release(tiles.empty_now());
    ++tiles.step;
  }
};

// 384 threads start with 168 registers each; requesting more than were released would deadlock.
constexpr int kFetching = 40, kMultiplying = 232;
static_assert(kFetching * 128 + kMultiplying * 256 <= 168 * 384, "too many registers");

// `wide` is read in boxes of 64 tokens by 2 slices of 64 units.
extern "C" __global__ void __launch_bounds__(384, 1)
    channel_gate_backward(const Bf16* of_sum, const char* weights,
                          const __grid_constant__ TensorMap wide, Bf16* of_wide, Bf16* gated,
                          long long tokens) {
  extern __shared__ __align__(1024) char memory[];
  const Ring ring = make_ring(memory, kTilesEnd, 8);
  const Tiles tiles[2] = {tiles_of(memory, 0), tiles_of(memory, 1)};
  __syncthreads();
  const int role = threadIdx.x / 128;
  if (role == 0) {
    give_registers<kFetching>();
    if (threadIdx.x == 0) stream_pieces<kChunks>(ring, weights, turns_of(tokens));
    if (threadIdx.x == 32) stream_tiles(tiles[0], wide, 0, tokens);
    if (threadIdx.x == 64) stream_tiles(tiles[1], wide, 1, tokens);
  } else {
    take_registers<kMultiplying>();
    const Place place = my_place(tokens);
    do_turns<kChunks>(ring, of_sum, place, role - 1,
                      GateBackward{place, role == 1 ? tiles[0] : tiles[1], of_wide, gated});
  }
}
