// SPDX-License-Identifier: Apache-2.0
#include "ubique/kernels/attention.h"

#include <ATen/ATen.h>
#include <torch/library.h>

#include <memory>

#include "ubique/kernels/autograd.h"
#include "ubique/kernels/find_op.h"

namespace ubique::kernels {
namespace {

bool no_flash(const at::Tensor&, const at::Tensor&, const at::Tensor&) { return false; }

/// Has the device a kernel for these, and one for their gradients?
bool does_flash(const at::Tensor& queries, const at::Tensor& keys, const at::Tensor& values) {
  static const auto op = find_op<decltype(does_flash)>("ubique::does_flash");
  return op.call(queries, keys, values);
}

struct Mixed {
  at::Tensor queries, keys, values, result, logs;
  bool causal = false;
};

class MixHeads final : public torch::autograd::Node {
 public:
  explicit MixHeads(Mixed kept) : kept_(std::move(kept)) {}
  std::string name() const override { return "ubique::MixHeads"; }
  void release_variables() override { kept_ = {}; }

 private:
  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override {
    const PlainTensors plain;
    if (!gradients[0].defined()) return {at::Tensor(), at::Tensor(), at::Tensor()};
    using Three = std::tuple<at::Tensor, at::Tensor, at::Tensor>;
    static const auto op =
        find_op<Three(const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&,
                      const at::Tensor&, const at::Tensor&, bool)>("ubique::flash_backward");
    auto [queries, keys, values] = op.call(gradients[0].contiguous(), kept_.queries, kept_.keys,
                                           kept_.values, kept_.result, kept_.logs, kept_.causal);
    return {queries, keys, values};
  }

  Mixed kept_;
};

}  // namespace

TORCH_LIBRARY_FRAGMENT(ubique, library) {
  library.def("does_flash(Tensor q, Tensor k, Tensor v) -> bool");
  library.def("flash(Tensor q, Tensor k, Tensor v, bool causal) -> (Tensor, Tensor)");
  library.def(
      "flash_backward(Tensor gradient, Tensor q, Tensor k, Tensor v, Tensor mixed, Tensor logs, "
      "bool causal) -> (Tensor, Tensor, Tensor)");
  library.impl("does_flash", c10::DispatchKey::CompositeExplicitAutograd, TORCH_FN(no_flash));
}

at::Tensor mix_heads(const at::Tensor& queries, const at::Tensor& keys, const at::Tensor& values,
                     bool causal) {
  if (!wants_gradient(queries) || !does_flash(queries, keys, values)) {
    return at::scaled_dot_product_attention(queries, keys, values, {}, 0, causal)
        .transpose(1, 2)
        .reshape({queries.size(0), queries.size(2), queries.size(1) * values.size(3)});
  }
  Mixed kept{queries.detach(), keys.detach(), values.detach(), {}, {}, causal};
  {
    const PlainTensors plain;
    using Both = std::tuple<at::Tensor, at::Tensor>;
    static const auto op =
        find_op<Both(const at::Tensor&, const at::Tensor&, const at::Tensor&, bool)>(
            "ubique::flash");
    std::tie(kept.result, kept.logs) = op.call(kept.queries, kept.keys, kept.values, causal);
  }
  auto result = kept.result.detach();
  attach(result, std::make_shared<MixHeads>(std::move(kept)), {queries, keys, values});
  return result;
}

}  // namespace ubique::kernels
