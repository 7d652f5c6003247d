// SPDX-License-Identifier: Apache-2.0
// The ops ubique::attend, rotate_heads_ and join_heads: fallbacks and autograd nodes.
#include "ubique/kernels/mixer/fused_qkv_attention.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/library.h>

#include <array>
#include <memory>

#include "ubique/kernels/dispatch/autograd.h"
#include "ubique/kernels/dispatch/find_op.h"
#include "ubique/kernels/dispatch/self_check.h"

namespace ubique::kernels {
namespace {

bool no_heads(const at::Tensor&, std::int64_t) { return false; }

/// True if the device has kernels for heads of this dtype and size.
bool does_heads(const at::Tensor& x, std::int64_t size) {
  static const auto op = find_op<decltype(does_heads)>("ubique::does_heads");
  return op.call(x, size);
}

/// Rotary position embedding of x (B, L, n, heads, size); `back` applies the inverse rotation.
at::Tensor plain_rotate(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin,
                        bool back) {
  const auto wide = at::isReducedFloatingType(x.scalar_type()) ? x.to(at::kFloat) : x;
  const auto halves = wide.chunk(2, -1);
  const auto turned = at::cat({-halves[1], halves[0]}, -1);
  const auto shape = [&](const at::Tensor& table) {
    return table.slice(0, 0, x.size(1)).view({x.size(1), 1, 1, x.size(4)});
  };
  const auto along = turned * shape(sin);
  const auto rotated = wide * shape(cos);
  return (back ? rotated - along : rotated + along).to(x.scalar_type());
}

struct HeadForm {
  std::int64_t heads = 1;
  at::Tensor cos, sin;
  bool rotates() const { return cos.defined(); }
};

/// (B, L, 3, heads, size), rotated.
at::Tensor rotate_heads(const at::Tensor& qkv, const HeadForm& form) {
  const auto x = qkv.view({qkv.size(0), qkv.size(1), 3, form.heads, -1});
  if (!form.rotates()) return x;
  if (x.is_contiguous() && does_heads(x, x.size(4))) {
    static const auto op = find_op<void(const at::Tensor&, const at::Tensor&, const at::Tensor&)>(
        "ubique::rotate_heads_");
    op.call(x, form.cos, form.sin);
    return x;
  }
  return at::cat({plain_rotate(x.slice(2, 0, 2), form.cos, form.sin, false), x.slice(2, 2)}, 2);
}

/// Gradient of qkv from those of queries, keys and values.
at::Tensor join_heads(const std::array<at::Tensor, 3>& gradients, const HeadForm& form) {
  const auto batch = gradients[0].size(0), length = gradients[0].size(2);
  const auto size = gradients[0].size(3);
  if (form.rotates() && does_heads(gradients[0], size)) {
    static const auto op =
        find_op<at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&,
                           const at::Tensor&, const at::Tensor&)>("ubique::join_heads");
    return op.call(gradients[0], gradients[1], gradients[2], form.cos, form.sin);
  }
  auto joined = at::stack(
      {gradients[0].transpose(1, 2), gradients[1].transpose(1, 2), gradients[2].transpose(1, 2)},
      2);  // (B, L, 3, heads, size)
  if (form.rotates()) {
    auto turned = joined.slice(2, 0, 2);
    turned.copy_(plain_rotate(turned, form.cos, form.sin, true));
  }
  return joined.view({batch, length, 3 * form.heads * size});
}

class SplitHeads final : public torch::autograd::Node {
 public:
  SplitHeads(HeadForm form, std::vector<std::int64_t> sizes, at::TensorOptions options)
      : form_(std::move(form)), sizes_(std::move(sizes)), options_(options) {}
  std::string name() const override { return "ubique::SplitHeads"; }

 private:
  torch::autograd::variable_list apply(torch::autograd::variable_list&& given) override {
    const PlainTensors plain;
    std::array<at::Tensor, 3> gradients;
    for (std::size_t i = 0; i < 3; ++i) {
      gradients[i] = given[i].defined() ? given[i] : at::zeros(sizes_, options_);
    }
    return {join_heads(gradients, form_)};
  }

  HeadForm form_;
  std::vector<std::int64_t> sizes_;
  at::TensorOptions options_;
};

using Table = std::optional<at::Tensor>;

Table given_table(const at::Tensor& table) { return table.defined() ? Table(table) : std::nullopt; }

at::Tensor run_attend(const at::Tensor& qkv, const HeadForm& form, bool causal) {
  static const auto op =
      find_op<at::Tensor(const at::Tensor&, std::int64_t, const Table&, const Table&, bool)>(
          "ubique::attend");
  return op.call(qkv, form.heads, given_table(form.cos), given_table(form.sin), causal);
}

at::Tensor run_attend_backward(const at::Tensor& qkv, const at::Tensor& gradient,
                               const HeadForm& form, bool causal) {
  static const auto op =
      find_op<at::Tensor(const at::Tensor&, const at::Tensor&, std::int64_t, const Table&,
                         const Table&, bool)>("ubique::attend_backward");
  return op.call(qkv, gradient, form.heads, given_table(form.cos), given_table(form.sin), causal);
}

/// Saves only qkv: backward recomputes the attention weights.
class FusedQkvAttention final : public torch::autograd::Node {
 public:
  FusedQkvAttention(at::Tensor qkv, HeadForm form, bool causal)
      : qkv_(std::move(qkv)), form_(std::move(form)), causal_(causal) {}
  std::string name() const override { return "ubique::FusedQkvAttention"; }
  void release_variables() override { qkv_ = at::Tensor(); }

 private:
  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override {
    const PlainTensors plain;
    if (!gradients[0].defined()) return {at::Tensor()};
    return {run_attend_backward(qkv_, gradients[0].contiguous(), form_, causal_)};
  }

  at::Tensor qkv_;
  HeadForm form_;
  bool causal_;
};

/// Two synthetic samples, forward and, if `learns`, backward.
std::vector<Trial> try_attend(const at::Tensor& like, const HeadForm& form, bool causal,
                              bool learns) {
  const auto qkv = test_values({2, like.size(1), like.size(2)}, like, 1) * 2;
  const auto gradient = test_values({2, like.size(1), like.size(2) / 3}, like, 2);
  auto leaf = qkv.to(at::kFloat);
  at::Tensor expected;
  {
    const at::AutoGradMode recorded(learns);
    const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
    leaf.requires_grad_(learns);
    // A copy: rotation may work in place.
    const auto [q, k, v] = split_heads(leaf * 1, form.heads, form.cos, form.sin);
    expected = at::scaled_dot_product_attention(q, k, v, {}, 0, causal)
                   .transpose(1, 2)
                   .reshape(gradient.sizes());
    if (learns) expected.backward(gradient.to(at::kFloat));
  }
  const PlainTensors plain;
  std::vector<Trial> trials = {{run_attend(qkv.clone(), form, causal), expected.detach()}};
  if (learns) trials.push_back({run_attend_backward(qkv, gradient, form, causal), leaf.grad()});
  return trials;
}

/// True if the device has a kernel that passes its self-check (for backward too if needed).
bool does_attend(const at::Tensor& qkv, const HeadForm& form, bool causal) {
  using Does = bool(const at::Tensor&, std::int64_t);
  static const auto forward = find_op<Does>("ubique::does_attend");
  static const auto backward = find_op<Does>("ubique::does_attend_backward");
  const bool learns = wants_gradient(qkv);
  if (!(learns ? backward : forward).call(qkv, form.heads)) return false;
  const auto name = fmt::format("attend, {} positions, {} heads{}{}{}", qkv.size(1), form.heads,
                                causal ? ", causal" : "", form.rotates() ? ", rotated" : "",
                                learns ? ", gradient" : "");
  return passes_self_check(name, qkv, [&] { return try_attend(qkv, form, causal, learns); });
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(ubique, library) {
  library.def("does_heads(Tensor x, int size) -> bool");
  library.def("rotate_heads_(Tensor x, Tensor cos, Tensor sin) -> ()");
  library.def("join_heads(Tensor q, Tensor k, Tensor v, Tensor cos, Tensor sin) -> Tensor");
  library.impl("does_heads", c10::DispatchKey::CompositeExplicitAutograd, TORCH_FN(no_heads));
  library.def("does_attend(Tensor qkv, int heads) -> bool");
  library.def("attend(Tensor qkv, int heads, Tensor? cos, Tensor? sin, bool causal) -> Tensor");
  library.impl("does_attend", c10::DispatchKey::CompositeExplicitAutograd, TORCH_FN(no_heads));
  library.def("does_attend_backward(Tensor qkv, int heads) -> bool");
  library.def(
      "attend_backward(Tensor qkv, Tensor gradient, int heads, Tensor? cos, Tensor? sin, "
      "bool causal) -> Tensor");
  library.impl("does_attend_backward", c10::DispatchKey::CompositeExplicitAutograd,
               TORCH_FN(no_heads));
}

at::Tensor fused_qkv_attention(const at::Tensor& qkv, std::int64_t heads, const at::Tensor& cos,
                               const at::Tensor& sin, bool causal) {
  HeadForm form{heads, cos, sin};
  if (!does_attend(qkv, form, causal)) return {};
  at::Tensor mixed;
  {
    const PlainTensors plain;
    mixed = run_attend(qkv, form, causal);
  }
  if (wants_gradient(qkv)) {
    attach(mixed, std::make_shared<FusedQkvAttention>(qkv.detach(), std::move(form), causal),
           {qkv});
  }
  return mixed;
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> split_heads(const at::Tensor& qkv,
                                                           std::int64_t heads,
                                                           const at::Tensor& cos,
                                                           const at::Tensor& sin) {
  HeadForm form{heads, cos, sin};
  std::vector<at::Tensor> parts;
  {
    const PlainTensors plain;
    const auto x = rotate_heads(qkv.detach(), form).permute({2, 0, 3, 1, 4});
    for (std::int64_t i = 0; i < 3; ++i) parts.push_back(x[i].detach());  // (B, heads, L, size)
  }
  if (wants_gradient(qkv)) {
    const auto node =
        std::make_shared<SplitHeads>(std::move(form), parts[0].sizes().vec(), parts[0].options());
    attach(parts, node, {qkv});
  }
  return {parts[0], parts[1], parts[2]};
}

}  // namespace ubique::kernels
