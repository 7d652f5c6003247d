// SPDX-License-Identifier: Apache-2.0
// ubique::channel_gate on Hopper cards (sources/channel_gate.cu), in bf16.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/library.h>

#include <algorithm>

#include "kernel.h"

namespace ubique::backend {
namespace {

constexpr int kGateThreads = 384, kGateUnits = 64, kGatePiece = 64, kGateStages = 8;
constexpr std::int64_t kGateTokens = 128, kGateSplit = 2, kGateWidest = 512;

/// Weights go through shared memory; tokens stay in registers.
constexpr int kGateShared = kGateStages * (2 * kGateUnits * kGatePiece * 2 + 2 * 8);

bool does_channel_gate(const at::Tensor& gate_up) {
  const auto inner = gate_up.size(0) / 2, width = gate_up.size(1);
  if (gate_up.scalar_type() != at::kBFloat16 || !cuda::can_run_kernels()) return false;
  const auto& limits = cuda::card_limits(gate_up.device());
  return limits.capability == 90 && width % kGatePiece == 0 && width <= kGateWidest &&
         inner % (kGateUnits * kGateSplit) == 0 && kGateShared <= limits.shared_bytes;
}

/// Gates and values of 64 inner units together, 64 of K at a time, in blocks of 8 rows of 16 bytes.
/// The tensor cores give a thread two neighbours of every eight columns and take from it two of
/// every eight of K. Units (in 32) and K (in 32) change places so that what a thread has are 8
/// neighbours.
at::Tensor pack_channel_gate(const at::Tensor& gate_up) {
  const auto width = gate_up.size(1), chunks = gate_up.size(0) / 2 / kGateUnits,
             pieces = width / kGatePiece;
  return gate_up.view({2, chunks, 2, 4, 4, 2, pieces, 2, 4, 4, 2})
      .permute({1, 6, 7, 9, 0, 2, 4, 3, 5, 8, 10})
      .reshape({chunks, pieces, kGatePiece / 8, 2 * kGateUnits, 8});
}

/// x (M, K); packed (chunks, K / 64, 8, 128, 8).
std::tuple<at::Tensor, at::Tensor> cuda_channel_gate(const at::Tensor& x, const at::Tensor& packed,
                                                     bool keep) {
  const auto tokens = x.size(0), width = x.size(1), inner = packed.size(0) * kGateUnits;
  auto gated = at::empty({tokens, inner}, x.options());
  auto wide = keep ? at::empty({tokens, 2, inner}, x.options()) : at::Tensor();
  const auto turns = (tokens + kGateTokens - 1) / kGateTokens * kGateSplit;
  const auto processors = std::int64_t{cuda::card_limits(x.device()).processors};
  cuda::kernel(x.device(), "channel_gate.cu", "channel_gate",
               {fmt::format("STAGES={}", kGateStages), fmt::format("SPLIT={}", kGateSplit),
                fmt::format("WIDTH={}", width), fmt::format("INNER={}", inner),
                fmt::format("KEEP={}", keep ? 1 : 0)})
      .launch(x.device(), {std::min(turns, processors), kGateThreads, kGateShared},
              x.const_data_ptr(), packed.const_data_ptr(), gated.mutable_data_ptr(),
              keep ? wide.mutable_data_ptr() : nullptr, static_cast<long long>(tokens));
  return {gated, wide};
}

}  // namespace

TORCH_LIBRARY_IMPL(ubique, CUDA, library) {
  library.impl("does_channel_gate", TORCH_FN(does_channel_gate));
  library.impl("pack_channel_gate", TORCH_FN(pack_channel_gate));
  library.impl("channel_gate", TORCH_FN(cuda_channel_gate));
}

}  // namespace ubique::backend
