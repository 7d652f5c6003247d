// SPDX-License-Identifier: Apache-2.0
// ubique::channel_gate (a product and SwiGLU) and its backward on Hopper cards, in bf16
// (sources/channel_gate*.cu).
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/library.h>

#include <algorithm>
#include <string>
#include <vector>

#include "../runtime/kernel.h"
#include "../runtime/tensor_map.h"

namespace ubique::backend {
namespace {

constexpr int kGateThreads = 384, kGateRows = 128, kGatePiece = 64, kGateStages = 8;
constexpr std::int64_t kGateTokens = 128, kGateSplit = 2, kGateMaxWidth = 512;

constexpr int kGateBackStages = 8, kGateBackTiles = 1;

/// Weights are streamed through shared memory; tokens stay in registers.
constexpr int gate_shared(int stages) { return stages * (kGateRows * kGatePiece * 2 + 2 * 8); }
/// Backward also buffers gates and up values: 64 tokens for each of two warpgroups.
constexpr int kGateBackShared =
    gate_shared(kGateBackStages) + 2 * kGateBackTiles * (2 * 64 * kGateRows * 2 + 2 * 8);

bool does_channel_gate(const at::Tensor& gate_up) {
  const auto inner = gate_up.size(0) / 2, width = gate_up.size(1);
  if (gate_up.scalar_type() != at::kBFloat16 || !cuda::can_run_kernels()) return false;
  const auto& limits = cuda::card_limits(gate_up.device());
  return limits.capability == 90 && width % kGatePiece == 0 && width <= kGateMaxWidth &&
         inner % (kGateRows * kGateSplit) == 0 && kGateBackShared <= limits.shared_bytes;
}

/// Packs rows of weights, 128 at a time (of gate_up 64 gates and their up values, of downᵀ 128
/// units) and 64 along K, in blocks of 8 rows of 16 bytes. The tensor cores give a thread two of
/// every eight columns and take two of every eight along K; rows and K are permuted within 32 so
/// that a thread's values become 8 adjacent ones.
at::Tensor pack_channel_gate(const at::Tensor& weight, bool backward) {
  const auto rows = weight.size(backward ? 1 : 0), width = weight.size(backward ? 0 : 1);
  const auto chunks = rows / kGateRows, pieces = width / kGatePiece;
  const auto halves = backward ? weight.t().view({chunks, 2, kGateRows / 2, width})
                               : weight.view({2, chunks, kGateRows / 2, width}).transpose(0, 1);
  return halves.view({chunks, 2, 2, 4, 4, 2, pieces, 2, 4, 4, 2})
      .permute({0, 6, 7, 9, 1, 2, 4, 3, 5, 8, 10})
      .reshape({chunks, pieces, kGatePiece / 8, kGateRows, 8});
}

cuda::LaunchShape gate_shape(const at::Tensor& x, int shared_bytes) {
  const auto work_items = (x.size(0) + kGateTokens - 1) / kGateTokens * kGateSplit;
  const auto processors = std::int64_t{cuda::card_limits(x.device()).processors};
  return {std::min(work_items, processors), kGateThreads, shared_bytes};
}

std::vector<std::string> gate_defines(std::int64_t width, std::int64_t inner, int stages,
                                      const std::string& own) {
  return {fmt::format("WIDTH={}", width), fmt::format("INNER={}", inner),
          fmt::format("SPLIT={}", kGateSplit), fmt::format("STAGES={}", stages), own};
}

/// x (M, K); packed (2I / 128, K / 64, 8, 128, 8).
std::tuple<at::Tensor, at::Tensor> cuda_channel_gate(const at::Tensor& x, const at::Tensor& packed,
                                                     bool keep) {
  const auto tokens = x.size(0), inner = packed.size(0) * kGateRows / 2;
  auto gated = at::empty({tokens, inner}, x.options());
  auto wide = keep ? at::empty({tokens, 2, inner}, x.options()) : at::Tensor();
  cuda::kernel(x.device(), "channel_gate.cu", "channel_gate",
               gate_defines(x.size(1), inner, kGateStages, fmt::format("KEEP={}", keep ? 1 : 0)))
      .launch(x.device(), gate_shape(x, gate_shared(kGateStages)), x.const_data_ptr(),
              packed.const_data_ptr(), gated.mutable_data_ptr(),
              keep ? wide.mutable_data_ptr() : nullptr, static_cast<long long>(tokens));
  return {gated, wide};
}

/// of_sum (M, K); packed (I / 128, K / 64, 8, 128, 8); wide (M, 2, I).
std::tuple<at::Tensor, at::Tensor> cuda_channel_gate_backward(const at::Tensor& of_sum,
                                                              const at::Tensor& packed,
                                                              const at::Tensor& wide) {
  const auto tokens = of_sum.size(0), inner = packed.size(0) * kGateRows;
  auto of_wide = at::empty_like(wide);
  auto gated = at::empty({tokens, inner}, wide.options());
  const auto map = cuda::swizzled_map(wide, {64, 2 * inner / 64, tokens, 1},
                                      {64, 2 * inner, tokens * 2 * inner}, {64, 2, 64, 1});
  cuda::kernel(
      wide.device(), "channel_gate_backward.cu", "channel_gate_backward",
      gate_defines(of_sum.size(1), inner, kGateBackStages, fmt::format("TILES={}", kGateBackTiles)))
      .launch(wide.device(), gate_shape(of_sum, kGateBackShared), of_sum.const_data_ptr(),
              packed.const_data_ptr(), map, of_wide.mutable_data_ptr(), gated.mutable_data_ptr(),
              static_cast<long long>(tokens));
  return {of_wide, gated};
}

}  // namespace

TORCH_LIBRARY_IMPL(ubique, CUDA, library) {
  library.impl("does_channel_gate", TORCH_FN(does_channel_gate));
  library.impl("pack_channel_gate", TORCH_FN(pack_channel_gate));
  library.impl("channel_gate", TORCH_FN(cuda_channel_gate));
  library.impl("channel_gate_backward", TORCH_FN(cuda_channel_gate_backward));
}

}  // namespace ubique::backend
