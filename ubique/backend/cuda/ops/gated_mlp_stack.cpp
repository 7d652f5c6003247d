// SPDX-License-Identifier: Apache-2.0
// ubique::mix_stack on Hopper cards (sources/few_*.cu), in bf16: three kernels per layer, each
// started while the previous one still runs.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/library.h>

#include "../runtime/kernel.h"

namespace ubique::backend {
namespace {

using cuda::Kernel;

constexpr std::int64_t kFewUnits = 512, kFewMates = 4, kFewGroup = 16;  // token MLP
constexpr std::int64_t kFewGate = 24, kFewSlices = 4, kFewSpan = 32;    // channel MLP
constexpr std::int64_t kFewBarriers = 128;                              // bytes

/// Extents of a stack, with the sizes that the kernels derive from them.
struct FewExtents {
  std::int64_t length, width, inner;

  std::int64_t tokens() const { return (length + 1) / 2; }  // per tile, which is half of a sample
  std::int64_t groups() const { return width / kFewGroup; }
  std::int64_t spans() const { return width / kFewSpan; }
  std::vector<std::string> defines() const {
    return {fmt::format("LENGTH={}", length), fmt::format("WIDTH={}", width),
            fmt::format("INNER={}", inner)};
  }
  /// Bytes that the tensor cores read past the last token, since they always read 64 tokens.
  std::int64_t overread() const { return (64 - tokens()) * 16; }
  int gate_shared() const {
    return static_cast<int>(kFewBarriers + (2 * kFewGate + tokens()) * width * 2 + overread());
  }
  int down_shared() const {
    const auto share = (tokens() + kFewSlices - 1) / kFewSlices * (kFewSpan + 8) * 4;
    const auto slice = (kFewSpan + tokens()) * (inner / kFewSlices) * 2;
    return static_cast<int>(kFewBarriers + 2 * kFewSlices * share + slice + overread());
  }
};

bool does_mix_stack(const at::Tensor& token_gate_up, const at::Tensor& gate_up) {
  const FewExtents extents{token_gate_up.size(1), gate_up.size(1), gate_up.size(0) / 2};
  if (gate_up.scalar_type() != at::kBFloat16 || !cuda::can_run_kernels()) return false;
  const auto& limits = cuda::card_limits(gate_up.device());
  return limits.capability == 90 && extents.length > 80 && extents.length <= 104 &&
         token_gate_up.size(0) == 2 * kFewUnits && extents.width % 128 == 0 &&
         extents.inner % (8 * kFewGate) == 0 && extents.gate_shared() <= limits.shared_bytes &&
         extents.down_shared() <= limits.shared_bytes;
}

/// For each block of a cluster its part of gate_up and of down, in thread order: lane 4 g + t has
/// rows g and g + 8 of 16, and columns 2 t, 2 t + 1, 2 t + 8 and 2 t + 9.
at::Tensor pack_few_tokens(const at::Tensor& gate_up, const at::Tensor& down) {
  const auto length = down.size(0), padded = (length + 15) / 16 * 16, missing = padded - length;
  const auto tiles = kFewUnits / kFewMates / 8, steps = padded / 16;
  const auto wide =
      at::constant_pad_nd(gate_up, {0, missing})
          .view({2, kFewMates, tiles, 8, steps, 2, 4, 2})
          .permute({1, 2, 4, 3, 6, 5, 0, 7});  // rows g are gates, g + 8 their up values
  const auto narrow = at::constant_pad_nd(down, {0, 0, 0, missing})
                          .view({steps, 2, 8, kFewMates, tiles / 2, 2, 4, 2})
                          .permute({3, 0, 4, 2, 6, 5, 1, 7});
  return at::cat({wide.reshape({kFewMates, -1}), narrow.reshape({kFewMates, -1})}, 1);
}

/// gate_up and down of the channel MLP in blocks of 8 rows of 16 bytes: for every 24 inner units
/// alternately 8 gates and their 8 up values; for every 32 channels all inner units.
std::tuple<at::Tensor, at::Tensor, at::Tensor> pack_mix_stack(const at::Tensor& token_gate_up,
                                                              const at::Tensor& token_down,
                                                              const at::Tensor& gate_up,
                                                              const at::Tensor& down) {
  const auto width = down.size(0), inner = down.size(1), chunks = inner / kFewGate;
  const auto gates = gate_up.view({2, chunks, kFewGate / 8, 8, width})
                         .permute({1, 2, 0, 3, 4})
                         .reshape({chunks, 2 * kFewGate, width / 8, 8})
                         .transpose(1, 2)
                         .contiguous();  // (I / 24, H / 8, 48, 8)
  const auto spans = down.view({width / kFewSpan, kFewSpan, inner / 8, 8})
                         .transpose(1, 2)
                         .contiguous();  // (H / 32, I / 8, 32, 8)
  return {pack_few_tokens(token_gate_up, token_down), gates, spans};
}

/// One run of the stack: the buffers between the kernels, and the launches.
class FewRun {
 public:
  FewRun(const at::Tensor& h, const at::Tensor& injected, const FewExtents& extents, float epsilon)
      : h_(h), injected_(injected), extents_(extents), epsilon_(epsilon) {
    const auto samples = h.size(0);
    const auto f32 = h.options().dtype(at::kFloat);
    mixed_ = at::empty({2 * samples, extents.width / 8, extents.tokens(), 8}, h.options());
    gated_ = at::empty({2 * samples, extents.inner / 8, extents.tokens(), 8}, h.options());
    sums_ = at::empty({samples, extents.groups(), extents.length, kFewGroup}, f32);
    squares_ = at::empty({samples, extents.length, extents.spans()}, f32);
  }

  /// The first kernel of a run waits for all earlier work, which may have written the weights.
  void layer(at::TensorList packed, bool first, bool injects) const {
    const auto device = h_.device();
    const auto samples = h_.size(0), tiles = 2 * samples;
    find("few_tokens.cu", "few_tokens")
        .launch(device, {samples * extents_.groups() * kFewMates, 256, 0, !first},
                first ? nullptr : sums_.const_data_ptr(), squares_.const_data_ptr(),
                h_.const_data_ptr(), injects ? injected_.const_data_ptr() : nullptr,
                packed[0].const_data_ptr(), mixed_.mutable_data_ptr(), epsilon_);
    find("few_channels.cu", "few_gate")
        .launch(device, {tiles * packed[1].size(0), 128, extents_.gate_shared(), true},
                mixed_.const_data_ptr(), packed[1].const_data_ptr(), gated_.mutable_data_ptr());
    find("few_channels.cu", "few_down")
        .launch(device, {tiles * extents_.spans() * kFewSlices, 128, extents_.down_shared(), true},
                gated_.const_data_ptr(), mixed_.const_data_ptr(), packed[2].const_data_ptr(),
                sums_.mutable_data_ptr(), squares_.mutable_data_ptr());
  }

  at::Tensor result() const {
    auto y = at::empty_like(h_);
    const long long tokens = h_.size(0) * h_.size(1);
    find("few_channels.cu", "few_norm")
        .launch(h_.device(), {(tokens + 3) / 4, 128, 0, true}, sums_.const_data_ptr(),
                squares_.const_data_ptr(), y.mutable_data_ptr(), tokens, epsilon_);
    return y;
  }

 private:
  const Kernel& find(const char* source, const char* function) const {
    return cuda::kernel(h_.device(), source, function, extents_.defines());
  }

  at::Tensor h_, injected_, mixed_, gated_, sums_, squares_;
  FewExtents extents_;
  float epsilon_;
};

at::Tensor cuda_mix_stack(const at::Tensor& h, const at::Tensor& injected, at::TensorList packed,
                          std::int64_t times, double epsilon) {
  const FewExtents extents{h.size(1), h.size(2), packed[1].size(0) * kFewGate};
  const FewRun run(h, injected, extents, static_cast<float>(epsilon));
  for (std::int64_t i = 0; i < times; ++i) {
    for (std::size_t block = 0; block < packed.size(); block += 3) {
      run.layer(packed.slice(block, 3), i == 0 && block == 0, block == 0);
    }
  }
  return run.result();
}

}  // namespace

TORCH_LIBRARY_IMPL(ubique, CUDA, library) {
  library.impl("does_mix_stack", TORCH_FN(does_mix_stack));
  library.impl("pack_mix_stack", TORCH_FN(pack_mix_stack));
  library.impl("mix_stack", TORCH_FN(cuda_mix_stack));
}

}  // namespace ubique::backend
