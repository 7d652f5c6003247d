// SPDX-License-Identifier: Apache-2.0
#include "ubique/kernels/mixer/attention.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <torch/library.h>

#include <array>
#include <memory>

#include "ubique/kernels/dispatch/autograd.h"
#include "ubique/kernels/dispatch/find_op.h"
#include "ubique/kernels/dispatch/self_check.h"

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

using Heads = std::array<at::Tensor, 3>;  // queries, keys, values: (B, heads, L, size)

at::Tensor plain_mix(const Heads& heads, bool causal) {
  const auto& queries = heads[0];
  return at::scaled_dot_product_attention(queries, heads[1], heads[2], {}, 0, causal)
      .transpose(1, 2)
      .reshape({queries.size(0), queries.size(2), queries.size(1) * heads[2].size(3)});
}

at::Tensor flash_mix(const Heads& heads, bool causal) {
  Mixed kept{heads[0].detach(), heads[1].detach(), heads[2].detach(), {}, {}, causal};
  {
    const PlainTensors plain;
    using Both = std::tuple<at::Tensor, at::Tensor>;
    static const auto op =
        find_op<Both(const at::Tensor&, const at::Tensor&, const at::Tensor&, bool)>(
            "ubique::flash");
    std::tie(kept.result, kept.logs) = op.call(kept.queries, kept.keys, kept.values, causal);
  }
  auto result = kept.result.detach();
  attach(result, std::make_shared<MixHeads>(std::move(kept)), {heads[0], heads[1], heads[2]});
  return result;
}

/// One sample, forward and backward.
std::vector<at::Tensor> try_mix(const at::Tensor& like, at::ScalarType dtype, bool causal,
                                decltype(plain_mix) mix) {
  const at::AutoGradMode recorded(true);
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  const auto heads = like.size(1), length = like.size(2), size = like.size(3);
  const auto qkv = made_up({1, length, 3, heads, size}, like, 1) * 2;
  const auto leaf = qkv.to(dtype, false, true).requires_grad_();
  const auto parts = leaf.permute({2, 0, 3, 1, 4});
  const auto mixed = mix({parts[0], parts[1], parts[2]}, causal);
  mixed.backward(made_up(mixed.sizes(), like, 2).to(dtype));
  return {mixed.detach(), leaf.grad()};
}

bool trusts_flash(const at::Tensor& queries, bool causal) {
  const auto name = fmt::format("flash, {} places, {} heads{}", queries.size(2), queries.size(1),
                                causal ? ", causal" : "");
  return is_trusted(name, queries, [&] {
    return trials_of(try_mix(queries, queries.scalar_type(), causal, flash_mix),
                     try_mix(queries, at::kFloat, causal, plain_mix));
  });
}

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
  const bool fast =
      wants_gradient(queries) && does_flash(queries, keys, values) && trusts_flash(queries, causal);
  return (fast ? flash_mix : plain_mix)({queries, keys, values}, causal);
}

}  // namespace ubique::kernels
