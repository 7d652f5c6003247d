// SPDX-License-Identifier: Apache-2.0
// Chooses between ubique::flash, with its autograd node, and LibTorch's attention.
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

/// True if the device has a forward and a backward kernel for these tensors.
bool does_flash(const at::Tensor& queries, const at::Tensor& keys, const at::Tensor& values) {
  static const auto op = find_op<decltype(does_flash)>("ubique::does_flash");
  return op.call(queries, keys, values);
}

struct SavedAttention {
  at::Tensor queries, keys, values, result, logs;
  bool causal = false;
};

class FlashAttention final : public torch::autograd::Node {
 public:
  explicit FlashAttention(SavedAttention kept) : kept_(std::move(kept)) {}
  std::string name() const override { return "ubique::FlashAttention"; }
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

  SavedAttention kept_;
};

using Heads = std::array<at::Tensor, 3>;  // queries, keys, values: (B, heads, L, size)

at::Tensor plain_attention(const Heads& heads, bool causal) {
  const auto& queries = heads[0];
  return at::scaled_dot_product_attention(queries, heads[1], heads[2], {}, 0, causal)
      .transpose(1, 2)
      .reshape({queries.size(0), queries.size(2), queries.size(1) * heads[2].size(3)});
}

at::Tensor flash_attention(const Heads& heads, bool causal) {
  SavedAttention kept{heads[0].detach(), heads[1].detach(), heads[2].detach(), {}, {}, causal};
  {
    const PlainTensors plain;
    using Both = std::tuple<at::Tensor, at::Tensor>;
    static const auto op =
        find_op<Both(const at::Tensor&, const at::Tensor&, const at::Tensor&, bool)>(
            "ubique::flash");
    std::tie(kept.result, kept.logs) = op.call(kept.queries, kept.keys, kept.values, causal);
  }
  auto result = kept.result.detach();
  attach(result, std::make_shared<FlashAttention>(std::move(kept)), {heads[0], heads[1], heads[2]});
  return result;
}

/// Result and gradient of one synthetic sample.
std::vector<at::Tensor> try_attention(const at::Tensor& like, at::ScalarType dtype, bool causal,
                                      decltype(plain_attention) attend) {
  const at::AutoGradMode recorded(true);
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  const auto heads = like.size(1), length = like.size(2), size = like.size(3);
  const auto qkv = test_values({1, length, 3, heads, size}, like, 1) * 2;
  const auto leaf = qkv.to(dtype, false, true).requires_grad_();
  const auto parts = leaf.permute({2, 0, 3, 1, 4});
  const auto mixed = attend({parts[0], parts[1], parts[2]}, causal);
  mixed.backward(test_values(mixed.sizes(), like, 2).to(dtype));
  return {mixed.detach(), leaf.grad()};
}

bool flash_passes_self_check(const at::Tensor& queries, bool causal) {
  const auto name = fmt::format("flash, {} positions, {} heads{}", queries.size(2), queries.size(1),
                                causal ? ", causal" : "");
  return passes_self_check(name, queries, [&] {
    return trials_of(try_attention(queries, queries.scalar_type(), causal, flash_attention),
                     try_attention(queries, at::kFloat, causal, plain_attention));
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

at::Tensor attention(const at::Tensor& queries, const at::Tensor& keys, const at::Tensor& values,
                     bool causal) {
  const bool fast = wants_gradient(queries) && does_flash(queries, keys, values) &&
                    flash_passes_self_check(queries, causal);
  return (fast ? flash_attention : plain_attention)({queries, keys, values}, causal);
}

}  // namespace ubique::kernels
