// SPDX-License-Identifier: Apache-2.0
// Calls LibTorch's oneDNN ops by name, since they have no C++ header.
#include "ubique/kernels/host/host_packed.h"

#include <ATen/ATen.h>
#include <ATen/core/List.h>
#include <ATen/core/dispatch/Dispatcher.h>

namespace ubique::kernels {
namespace {

using Pair = std::vector<std::int64_t>;

std::optional<c10::OperatorHandle> onednn_op(const char* name) {
  return c10::Dispatcher::singleton().findSchema({name, ""});
}

template <typename... Args>
c10::IValue call_op(const c10::OperatorHandle& op, Args&&... args) {
  torch::jit::Stack stack{c10::IValue(std::forward<Args>(args))...};
  op.callBoxed(&stack);
  return stack.front();
}

bool computes_bfloat() {
  static const bool does = [] {
    const auto op = onednn_op("mkldnn::_is_mkldnn_bf16_supported");
    return op && call_op(*op).toBool();
  }();
  return does;
}

Pair pair_of(std::int64_t value) { return {value, value}; }

}  // namespace

bool packs_on_host(const at::Tensor& weight) {
  static const bool known = onednn_op("mkldnn::_reorder_convolution_weight").has_value() &&
                            onednn_op("mkldnn::_convolution_pointwise").has_value();
  const auto dtype = weight.scalar_type();
  return known && weight.is_cpu() &&
         (dtype == at::kFloat || (dtype == at::kBFloat16 && computes_bfloat()));
}

at::Tensor pack_weights(const at::Tensor& weight, std::int64_t dilation, const at::Tensor& x) {
  static const auto op = onednn_op("mkldnn::_reorder_convolution_weight");
  const auto padding = dilation * (weight.size(2) / 2);
  return call_op(*op, weight, pair_of(padding), pair_of(1), pair_of(dilation), std::int64_t{1},
                 x.sizes().vec())
      .toTensor();
}

at::Tensor convolve_packed(const at::Tensor& x, const at::Tensor& packed, const at::Tensor& bias,
                           std::int64_t padding, std::int64_t dilation, bool relu) {
  static const auto op = onednn_op("mkldnn::_convolution_pointwise");
  const auto added = bias.defined() ? c10::IValue(bias) : c10::IValue();
  return call_op(*op, x, packed, added, pair_of(padding), pair_of(1), pair_of(dilation),
                 std::int64_t{1}, relu ? "relu" : "none", c10::List<std::optional<at::Scalar>>(),
                 "")
      .toTensor();
}

}  // namespace ubique::kernels
