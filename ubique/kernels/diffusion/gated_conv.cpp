// SPDX-License-Identifier: Apache-2.0
// ubique::gated_conv, the same in plain ops, and their comparison.
#include "ubique/kernels/diffusion/gated_conv.h"

#include <ATen/ATen.h>
#include <torch/library.h>

#include "ubique/kernels/dispatch/autograd.h"
#include "ubique/kernels/dispatch/find_op.h"
#include "ubique/kernels/dispatch/self_check.h"

namespace ubique::kernels {
namespace {

bool no_gated_conv(const at::Tensor& /*x*/, const at::Tensor& /*weight*/) { return false; }

at::Tensor fused_gated_conv(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  static const auto op = find_op<decltype(fused_gated_conv)>("ubique::gated_conv");
  return op.call(x, weight, bias);
}

/// Two samples, more frames than a thread has, an odd rest.
std::vector<Trial> conv_trials(const at::Tensor& like) {
  constexpr std::int64_t kChannels = 48, kFrames = 21;
  const auto x = test_values({2, kFrames, kChannels}, like, 1) * 3;
  const auto copy = x.to(at::kFloat, /*non_blocking=*/false, /*copy=*/true);
  const auto weight = test_values({kChannels, 1, 3}, like, 2);
  const auto bias = test_values({kChannels}, like, 3);
  const auto wide = [](const at::Tensor& y) { return y.to(at::kFloat); };
  return {{fused_gated_conv(x, weight, bias), plain_gated_conv(copy, wide(weight), wide(bias))}};
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(ubique, library) {
  library.def("does_gated_conv(Tensor x, Tensor weight) -> bool");
  library.def("gated_conv(Tensor x, Tensor weight, Tensor bias) -> Tensor");
  library.impl("does_gated_conv", c10::DispatchKey::CompositeExplicitAutograd,
               TORCH_FN(no_gated_conv));
}

at::Tensor plain_gated_conv(at::Tensor x, const at::Tensor& weight, const at::Tensor& bias,
                            const at::Tensor& frames) {
  auto wide = x.requires_grad() ? at::silu(x) : at::silu_(x);
  if (frames.defined()) wide = wide * frames.to(wide.scalar_type()).unsqueeze(-1);
  // As a picture of one row whose channels lie side by side nothing is transposed in memory.
  const auto mixed =
      at::conv2d(wide.transpose(1, 2).unsqueeze(2), weight.unsqueeze(2), bias,
                 at::IntArrayRef{1, 1}, at::IntArrayRef{0, 1}, at::IntArrayRef{1, 1}, wide.size(-1))
          .squeeze(2)
          .transpose(1, 2);  // (B, T, 2N)
  const auto halves = mixed.chunk(2, -1);
  return halves[0] * at::silu(halves[1]);
}

at::Tensor shifted_gated_conv(const at::Tensor& x, const at::Tensor& weight,
                              const at::Tensor& bias) {
  const auto wide = at::silu(x);
  const auto padded = at::constant_pad_nd(wide, {0, 0, 1, 1});
  const auto taps = weight.squeeze(1).unbind(1);  // (2N) each
  const auto frames = x.size(1);
  auto mixed = at::addcmul(bias, wide, taps[1]);
  mixed = at::addcmul(mixed, padded.slice(1, 0, frames), taps[0]);
  mixed = at::addcmul(mixed, padded.slice(1, 2, frames + 2), taps[2]);
  const auto halves = mixed.chunk(2, -1);
  return halves[0] * at::silu(halves[1]);
}

bool does_gated_conv(const at::Tensor& x, const at::Tensor& weight) {
  static const auto op = find_op<decltype(no_gated_conv)>("ubique::does_gated_conv");
  return op.call(x, weight) && passes_self_check("gated_conv", x, [&] { return conv_trials(x); });
}

at::Tensor gated_conv(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  if (!does_gated_conv(x, weight)) return plain_gated_conv(x, weight, bias);
  const PlainTensors plain;
  return fused_gated_conv(x, weight, bias);
}

}  // namespace ubique::kernels
