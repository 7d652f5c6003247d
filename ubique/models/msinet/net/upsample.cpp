// SPDX-License-Identifier: Apache-2.0
// Upsampling axis by axis, and its transpose as the backward pass.
#include "ubique/models/msinet/net/upsample.h"

#include <ATen/ATen.h>

#include "ubique/kernels/dispatch/autograd.h"
#include "ubique/kernels/dispatch/fused_conv.h"

namespace ubique::msinet {
namespace {

/// Interpolation weights along one axis: output 2i is input i with weight `even` on input i - 1,
/// output 2i + 1 is input i with weight `odd` on input i + 1. Edges are repeated.
struct NeighbourWeights {
  double even, odd;
};

NeighbourWeights weights_of(Upsample mode) {
  return mode == Upsample::Legacy ? NeighbourWeights{0, 0.5} : NeighbourWeights{0.25, 0.25};
}

at::Tensor every_other(const at::Tensor& x, std::int64_t dim, std::int64_t first) {
  return x.slice(dim, first, std::nullopt, 2);
}

/// Fills the odd positions of `out` along `dim` from the even ones.
void fill_between(at::Tensor& out, std::int64_t dim) {
  const auto extent = out.size(dim), last = extent - 1;
  const auto even = every_other(out, dim, 0);
  const auto count = extent / 2;
  auto between = out.slice(dim, 1, last, 2);
  at::lerp_out(between, even.slice(dim, 0, count - 1), even.slice(dim, 1, count), 0.5);
  out.slice(dim, last, extent).copy_(out.slice(dim, last - 1, last));
}

at::Tensor forward_legacy(const at::Tensor& x) {
  const auto height = x.size(2), width = x.size(3);
  auto out = at::empty({x.size(0), x.size(1), 2 * height, 2 * width},
                       x.options().memory_format(x.suggest_memory_format()));
  auto rows = every_other(out, 2, 0);
  every_other(rows, 3, 0).copy_(x);
  fill_between(rows, 3);
  fill_between(out, 2);
  return out;
}

at::Tensor forward_twice(const at::Tensor& x, Upsample mode) {
  if (mode == Upsample::Legacy) {
    return kernels::fused::does_image_ops(x, x.size(1)) ? kernels::fused::upsample_twice(x)
                                                        : forward_legacy(x);
  }
  return at::upsample_bilinear2d(x, {2 * x.size(2), 2 * x.size(3)}, /*align_corners=*/false);
}

/// The transpose of the interpolation along `dim`: halves its extent.
at::Tensor backward_along(const at::Tensor& gradient, std::int64_t dim,
                          const NeighbourWeights& weights) {
  const auto even = every_other(gradient, dim, 0), odd = every_other(gradient, dim, 1);
  const auto count = even.size(dim);
  auto sum = weights.even == 0 ? even.clone() : even * (1 - weights.even);
  sum.add_(odd, 1 - weights.odd);
  sum.slice(dim, 1, count).add_(odd.slice(dim, 0, count - 1), weights.odd);
  sum.slice(dim, count - 1, count).add_(odd.slice(dim, count - 1, count), weights.odd);
  if (weights.even == 0) return sum;
  sum.slice(dim, 0, count - 1).add_(even.slice(dim, 1, count), weights.even);
  sum.slice(dim, 0, 1).add_(even.slice(dim, 0, 1), weights.even);
  return sum;
}

class UpsampleNode final : public torch::autograd::Node {
 public:
  explicit UpsampleNode(Upsample mode) : mode_(mode) {}
  std::string name() const override { return "UpsampleTwice"; }

  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override {
    if (!gradients.at(0).defined()) return {at::Tensor()};
    return {upsample_twice_backward(gradients[0], mode_)};
  }

 private:
  Upsample mode_;
};

}  // namespace

at::Tensor upsample_twice(const at::Tensor& x, Upsample mode) {
  at::Tensor out;
  {
    const kernels::PlainTensors plain;
    out = forward_twice(x, mode);
  }
  if (kernels::wants_gradient(x)) kernels::attach(out, std::make_shared<UpsampleNode>(mode), {x});
  return out;
}

at::Tensor upsample_twice_backward(const at::Tensor& gradient, Upsample mode) {
  const kernels::PlainTensors plain;
  if (mode == Upsample::Legacy && kernels::fused::does_image_ops(gradient, gradient.size(1))) {
    return kernels::fused::upsample_twice_backward(gradient);
  }
  const auto weights = weights_of(mode);
  return backward_along(backward_along(gradient, 2, weights), 3, weights);
}

}  // namespace ubique::msinet
