// SPDX-License-Identifier: Apache-2.0
// ubique::token_mix (the token MLP block) and its backward on Hopper cards, in bf16
// (sources/token_mix*.cu).
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/library.h>

#include <algorithm>

#include "../runtime/kernel.h"

namespace ubique::backend {
namespace {

using cuda::LaunchShape;

constexpr int kTokenMlpThreads = 384, kTokenMlpUnits = 64;
constexpr int kForwardStages = 3, kBackwardStages = 2;

std::int64_t rounded_up(std::int64_t value, std::int64_t to) { return (value + to - 1) / to * to; }

/// Extents of one block, with the sizes that the kernels derive from them.
struct TokenMlpExtents {
  std::int64_t length, width, inner;
  std::int64_t padded_length() const { return rounded_up(length, 16); }
  std::int64_t columns() const { return rounded_up(length, 8); }

  std::vector<std::string> defines(int stages) const {
    return {"SCALAR=1", fmt::format("STAGES={}", stages), fmt::format("LENGTH={}", length),
            fmt::format("WIDTH={}", width), fmt::format("INNER={}", inner)};
  }
  std::int64_t wide_values() const { return 2 * kTokenMlpUnits * padded_length(); }
  std::int64_t forward_values() const { return wide_values() + columns() * kTokenMlpUnits; }
  std::int64_t backward_values() const {
    return wide_values() + kTokenMlpUnits * padded_length() + columns() * 2 * kTokenMlpUnits;
  }
  int forward_shared() const {
    const auto slab = padded_length() * (64 * 2 + 16);
    return static_cast<int>(kForwardStages * 2 * forward_values() + 4 * slab + 128);
  }
  std::int64_t chunks() const { return inner / kTokenMlpUnits; }
  int few_shared() const {
    const auto slab = padded_length() * (64 * 2 + 16), sums = 64 * (columns() + 4) * 4;
    return static_cast<int>(2 * forward_values() + slab + sums + 16);
  }
  int backward_shared() const {
    const auto slab = padded_length() * 128, staging = columns() * (64 * 2 + 16);
    return static_cast<int>(kBackwardStages * 2 * backward_values() + 4 * slab + 2 * staging + 128);
  }
};

bool does_token_mix(const at::Tensor& gate_up, std::int64_t width) {
  const TokenMlpExtents extents{gate_up.size(1), width, gate_up.size(0) / 2};
  const auto columns = extents.columns();
  return gate_up.scalar_type() == at::kBFloat16 && (columns == 88 || columns == 104) &&
         width % 128 == 0 && extents.inner % (2 * kTokenMlpUnits) == 0 &&
         cuda::card_limits(gate_up.device()).capability == 90 && cuda::can_run_kernels();
}

/// Pads with zeros to (chunks, rows, columns).
at::Tensor padded(const at::Tensor& weight, std::int64_t rows, std::int64_t columns) {
  return at::constant_pad_nd(weight, {0, columns - weight.size(2), 0, rows - weight.size(1)});
}

/// Reorders (chunks, N, K) to the layout of the tensor cores: blocks of 8 rows of 16 bytes.
at::Tensor in_blocks(const at::Tensor& weight) {
  return weight.view({weight.size(0), weight.size(1), weight.size(2) / 8, 8})
      .permute({0, 2, 1, 3})
      .reshape({weight.size(0), -1});
}

/// Weights in the order in which the kernels stream them: for every 64 inner units their rows of
/// gate_up, then down or, for backward, down and gate_up transposed.
at::Tensor pack_token_mix(const at::Tensor& gate_up, const at::Tensor& down, bool backward) {
  const auto inner = down.size(1), chunks = inner / kTokenMlpUnits, length = down.size(0);
  const TokenMlpExtents extents{length, 0, inner};
  const auto wide = gate_up.view({2, chunks, kTokenMlpUnits, length})
                        .transpose(0, 1)
                        .reshape({chunks, 2 * kTokenMlpUnits, length});
  const auto narrow =
      down.view({length, chunks, kTokenMlpUnits}).transpose(0, 1);  // (chunks, L, 64)
  const auto depth = extents.padded_length(), columns = extents.columns();
  std::vector<at::Tensor> parts = {in_blocks(padded(wide, 2 * kTokenMlpUnits, depth))};
  if (backward) {
    parts.push_back(in_blocks(padded(narrow.transpose(1, 2), kTokenMlpUnits, depth).contiguous()));
    parts.push_back(
        in_blocks(padded(wide.transpose(1, 2), columns, 2 * kTokenMlpUnits).contiguous()));
  } else {
    parts.push_back(in_blocks(padded(narrow, columns, kTokenMlpUnits).contiguous()));
  }
  return at::cat(parts, 1);  // (chunks, values)
}

TokenMlpExtents extents_of(const at::Tensor& x, const at::Tensor& packed) {
  return {x.size(1), x.size(2), packed.size(0) * kTokenMlpUnits};
}

LaunchShape token_mlp_shape(const at::Tensor& x, int tiles, int shared_bytes) {
  const auto processors = cuda::card_limits(x.device()).processors;
  return {std::min(tiles, processors), kTokenMlpThreads, shared_bytes};
}

int tiles_of(const at::Tensor& x) { return static_cast<int>(x.size(0) * (x.size(2) / 128)); }

/// True if one cluster per 64 channels gives each multiprocessor only a few blocks.
bool is_few(const at::Tensor& x, const TokenMlpExtents& extents) {
  constexpr std::int64_t kLargestCluster = 8, kMaxBlocksEach = 3;
  const auto blocks = x.numel() / x.size(1) / 64 * extents.chunks();
  return extents.chunks() <= kLargestCluster && 64 % extents.chunks() == 0 &&
         blocks <= kMaxBlocksEach * cuda::card_limits(x.device()).processors;
}

std::tuple<at::Tensor, at::Tensor> cuda_token_mix(const at::Tensor& x, const at::Tensor& packed,
                                                  double epsilon) {
  const auto extents = extents_of(x, packed);
  auto y = at::empty_like(x);
  auto inverse = at::empty({x.size(0), x.size(2)}, x.options().dtype(at::kFloat));
  if (is_few(x, extents)) {
    const auto clusters = x.numel() / x.size(1) / 64;
    cuda::kernel(x.device(), "token_mix_few.cu", "token_mix_few", extents.defines(1))
        .launch(x.device(), {clusters * extents.chunks(), 128, extents.few_shared()},
                x.const_data_ptr(), packed.const_data_ptr(), y.mutable_data_ptr(),
                inverse.mutable_data_ptr<float>(), static_cast<float>(epsilon));
    return {y, inverse};
  }
  const int tiles = tiles_of(x);
  cuda::kernel(x.device(), "token_mix.cu", "token_mix", extents.defines(kForwardStages))
      .launch(x.device(), token_mlp_shape(x, tiles, extents.forward_shared()), x.const_data_ptr(),
              packed.const_data_ptr(), y.mutable_data_ptr(), inverse.mutable_data_ptr<float>(),
              tiles, static_cast<float>(epsilon));
  return {y, inverse};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> cuda_token_mix_backward(const at::Tensor& of_sum,
                                                                       const at::Tensor& x,
                                                                       const at::Tensor& packed) {
  const auto extents = extents_of(x, packed);
  auto of_x = at::empty_like(x);
  auto of_wide = at::empty({x.size(0), 2 * extents.inner, x.size(2)}, x.options());
  auto gated = at::empty({x.size(0), extents.inner, x.size(2)}, x.options());
  const int tiles = tiles_of(x);
  cuda::kernel(x.device(), "token_mix_backward.cu", "token_mix_backward",
               extents.defines(kBackwardStages))
      .launch(x.device(), token_mlp_shape(x, tiles, extents.backward_shared()),
              of_sum.const_data_ptr(), x.const_data_ptr(), packed.const_data_ptr(),
              of_x.mutable_data_ptr(), of_wide.mutable_data_ptr(), gated.mutable_data_ptr(), tiles);
  return {of_x, of_wide, gated};
}

}  // namespace

TORCH_LIBRARY_IMPL(ubique, CUDA, library) {
  library.impl("does_token_mix", TORCH_FN(does_token_mix));
  library.impl("pack_token_mix", TORCH_FN(pack_token_mix));
  library.impl("token_mix", TORCH_FN(cuda_token_mix));
  library.impl("token_mix_backward", TORCH_FN(cuda_token_mix_backward));
}

}  // namespace ubique::backend
