// SPDX-License-Identifier: Apache-2.0
// norm_act and its backward: the device's fused kernel, or LibTorch's batch norm and activations.
#include "ubique/kernels/conv/norm_act.h"

#include <ATen/ATen.h>

#include <utility>

#include "ubique/kernels/conv/convolve.h"
#include "ubique/kernels/dispatch/fused_conv.h"

namespace ubique::kernels {
namespace {

/// Instance norm is a batch norm of one sample with B·C channels.
at::Tensor as_one_sample(const at::Tensor& x) {
  if (x.size(0) == 1) return x;
  return x.contiguous().view({1, x.size(0) * x.size(1), x.size(2), x.size(3), x.size(4)});
}

at::Tensor normed_view(const at::Tensor& x, Norm norm) {
  return norm == Norm::Instance ? as_one_sample(x) : x;
}

/// The norm's weights, one for each channel of normed_view(x).
at::Tensor channel_values(const at::Tensor& values, const at::Tensor& view) {
  const auto samples = view.size(1) / values.size(0);
  return samples == 1 ? values : values.repeat({samples});
}

at::Tensor normalize_recompute(const at::Tensor& x, const NormAct& how,
                               const NormStatistics& statistics) {
  if (how.norm == Norm::None) return x.clone();
  const auto view = normed_view(x, how.norm);
  const auto normed = at::native_batch_norm(
      view, channel_values(how.weight, view), channel_values(how.bias, view), statistics.mean,
      statistics.variance(how.epsilon), false, 0, how.epsilon);
  return std::get<0>(normed).view_as(x);
}

bool is_fused(const at::Tensor& x, const NormAct& how) {
  const bool over_batch = how.norm == Norm::Batch || (how.norm == Norm::Instance && x.size(0) == 1);
  return over_batch && fused::does_norm_act(x);
}

std::optional<at::Tensor> scale_of(const NormAct& how) {
  return how.scale.defined() ? std::optional(how.scale) : std::nullopt;
}

at::Tensor activate_and_scale(at::Tensor normed, const NormAct& how) {
  auto result = activate(std::move(normed), how.activation);
  if (how.scale.defined()) result.mul_(how.scale.to(result.scalar_type()));
  return result;
}

/// Gradient of the activation, in place of `gradient`. ReLU's needs only its result; the others
/// need the activation's input, which is recomputed rather than saved.
void activation_backward_(at::Tensor& gradient, at::Tensor& result, const at::Tensor& x,
                          const NormAct& how, const NormStatistics& statistics) {
  if (how.activation == Activation::Relu) {
    at::threshold_backward_out(gradient, gradient, result, 0);
    result.reset();
    return;
  }
  result.reset();
  if (how.activation == Activation::None) return;
  const auto normed = normalize_recompute(x, how, statistics);
  if (how.activation == Activation::Elu) {
    at::elu_backward_out(gradient, gradient, 1, 1, 1, false, normed);
  } else {
    const auto* form = how.activation == Activation::GeluTanh ? "tanh" : "none";
    at::gelu_backward_out(gradient, gradient, normed, form);
  }
}

}  // namespace

at::Tensor NormStatistics::variance(double epsilon) const {
  return inverse_deviation.pow(-2).sub_(epsilon);
}

at::Tensor norm_act(const at::Tensor& x, const NormAct& how, NormStatistics& statistics) {
  if (how.norm == Norm::None) return activate_and_scale(x.clone(), how);
  if (is_fused(x, how)) {
    auto [result, mean, inverse_deviation] = fused::norm_act(
        x, how.weight, how.bias, scale_of(how), static_cast<int>(how.activation), how.epsilon);
    statistics = {mean, inverse_deviation};
    return result;
  }
  const auto view = normed_view(x, how.norm);
  auto [normed, mean, inverse_deviation] =
      at::native_batch_norm(view, channel_values(how.weight, view), channel_values(how.bias, view),
                            {}, {}, true, 0, how.epsilon);
  statistics = {mean, inverse_deviation};
  return activate_and_scale(normed.view_as(x), how);
}

at::Tensor norm_act_recompute(const at::Tensor& x, const NormAct& how,
                              const NormStatistics& statistics) {
  if (is_fused(x, how)) {
    return fused::norm_act_recompute(x, how.weight, how.bias, scale_of(how), statistics.mean,
                                     statistics.inverse_deviation,
                                     static_cast<int>(how.activation));
  }
  return activate_and_scale(normalize_recompute(x, how, statistics), how);
}

NormActGradients norm_act_backward(at::Tensor gradient, at::Tensor result, const at::Tensor& x,
                                   const NormAct& how, const NormStatistics& statistics) {
  const bool affine = how.norm == Norm::Batch;
  if (is_fused(x, how)) {
    result.reset();
    auto [input, weight, bias] =
        fused::norm_act_backward(gradient, x, how.weight, how.bias, scale_of(how), statistics.mean,
                                 statistics.inverse_deviation, static_cast<int>(how.activation));
    return {input, affine ? weight : at::Tensor(), affine ? bias : at::Tensor()};
  }
  if (how.scale.defined()) gradient.mul_(how.scale.to(gradient.scalar_type()));
  activation_backward_(gradient, result, x, how, statistics);
  if (how.norm == Norm::None) return {gradient, {}, {}};
  const auto view = normed_view(x, how.norm);
  auto [input, weight, bias] = at::native_batch_norm_backward(
      normed_view(gradient, how.norm), view, channel_values(how.weight, view), {}, {},
      statistics.mean, statistics.inverse_deviation, true, how.epsilon, {true, affine, affine});
  return {input.view_as(x), weight, bias};
}

}  // namespace ubique::kernels
