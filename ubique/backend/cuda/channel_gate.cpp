// SPDX-License-Identifier: Apache-2.0
// ubique::channel_gate on Hopper cards (sources/channel_gate.cu), in bf16.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/library.h>

#include <algorithm>

#include "kernel.h"

namespace ubique::backend {
namespace {

constexpr int kGateThreads = 384, kGateUnits = 64, kGatePiece = 64, kGateStages = 4;
constexpr std::int64_t kGateTokens = 128, kGateSplit = 2;

/// 128 tokens, the stages and what is written stay in shared memory.
int gate_shared(std::int64_t width) {
  const auto slab = width / 8 * (64 * 16 + 16), piece = std::int64_t{2 * kGateUnits * kGatePiece * 2};
  return static_cast<int>(kGateStages * piece + 2 * slab + std::int64_t{2 * 64} * (64 * 2 + 16) + 128);
}

bool does_channel_gate(const at::Tensor& gate_up) {
  const auto inner = gate_up.size(0) / 2, width = gate_up.size(1);
  if (gate_up.scalar_type() != at::kBFloat16 || !cuda::can_run_kernels()) return false;
  const auto& limits = cuda::card_limits(gate_up.device());
  return limits.capability == 90 && width % kGatePiece == 0 && width <= 64 * 8 * 2 &&
         inner % (2 * kGateUnits * kGateSplit) == 0 && gate_shared(width) <= limits.shared_bytes;
}

/// Gates and values of 64 inner units together, 64 of K at a time, in blocks of 8 rows of 16 bytes.
at::Tensor pack_channel_gate(const at::Tensor& gate_up) {
  const auto width = gate_up.size(1), chunks = gate_up.size(0) / 2 / kGateUnits;
  return gate_up.view({2, chunks, kGateUnits, width})
      .transpose(0, 1)
      .reshape({chunks, 2 * kGateUnits, width / kGatePiece, kGatePiece / 8, 8})
      .permute({0, 2, 3, 1, 4})
      .contiguous();
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
               {"HOPPER=1", "SCALAR=1", fmt::format("STAGES={}", kGateStages),
                fmt::format("SPLIT={}", kGateSplit), fmt::format("WIDTH={}", width),
                fmt::format("INNER={}", inner), fmt::format("KEEP={}", keep ? 1 : 0)})
      .launch(x.device(), {std::min(turns, processors), kGateThreads, gate_shared(width)},
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
