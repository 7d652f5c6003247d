// SPDX-License-Identifier: Apache-2.0
// ubique::biased_silu_ and its comparison with plain ops.
#include "ubique/kernels/diffusion/biased_silu.h"

#include <ATen/ATen.h>
#include <torch/library.h>

#include <optional>

#include "ubique/kernels/dispatch/autograd.h"
#include "ubique/kernels/dispatch/find_op.h"
#include "ubique/kernels/dispatch/self_check.h"

namespace ubique::kernels {
namespace {

bool no_biased_silu(const at::Tensor& /*x*/, const at::Tensor& /*bias*/) { return false; }

/// The sum; undefined without a residual.
at::Tensor fused_biased_silu(const at::Tensor& x, const at::Tensor& bias,
                             const at::Tensor& residual) {
  using Optional = std::optional<at::Tensor>;
  static const auto op =
      find_op<void(const at::Tensor&, const at::Tensor&, const Optional&, const Optional&)>(
          "ubique::biased_silu_");
  if (!residual.defined()) {
    op.call(x, bias, std::nullopt, std::nullopt);
    return {};
  }
  auto sum = at::empty_like(x);
  op.call(x, bias, residual.contiguous(at::MemoryFormat::ChannelsLast), sum);
  return sum;
}

std::vector<Trial> silu_trials(const at::Tensor& like) {
  const auto picture = [&](int seed) {
    return test_values({2, 24, 1, 37}, like, seed).contiguous(at::MemoryFormat::ChannelsLast);
  };
  const auto bias = test_values({24}, like, 1);
  const auto wide = [](const at::Tensor& y) { return y.to(at::kFloat); };
  const auto x = picture(2), residual = picture(3), alone = picture(4);
  const auto biased = wide(alone) + wide(bias).view({1, -1, 1, 1});
  const auto expected = wide(x) + wide(bias).view({1, -1, 1, 1}) + wide(residual);
  const auto sum = fused_biased_silu(x, bias, residual);
  fused_biased_silu(alone, bias, {});
  return {{x, at::silu(expected)}, {sum, expected}, {alone, at::silu(biased)}};
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(ubique, library) {
  library.def("does_biased_silu(Tensor x, Tensor bias) -> bool");
  library.def("biased_silu_(Tensor(a!) x, Tensor bias, Tensor? residual, Tensor(b!)? sum) -> ()");
  library.impl("does_biased_silu", c10::DispatchKey::CompositeExplicitAutograd,
               TORCH_FN(no_biased_silu));
}

bool does_biased_silu(const at::Tensor& x, const at::Tensor& bias) {
  static const auto op = find_op<decltype(no_biased_silu)>("ubique::does_biased_silu");
  return op.call(x, bias) && passes_self_check("biased_silu", x, [&] { return silu_trials(x); });
}

Activated biased_silu(const at::Tensor& x, const at::Tensor& bias, const at::Tensor& residual) {
  const PlainTensors plain;
  return {fused_biased_silu(x, bias, residual), x};
}

}  // namespace ubique::kernels
