// SPDX-License-Identifier: Apache-2.0
// The autograd node around the product and ubique::join_qkv.
#include "ubique/kernels/decoder/head_product.h"

#include <ATen/ATen.h>
#include <torch/library.h>

#include <memory>
#include <utility>

#include "ubique/kernels/decoder/wide_product.h"
#include "ubique/kernels/dispatch/autograd.h"
#include "ubique/kernels/dispatch/find_op.h"
#include "ubique/kernels/dispatch/self_check.h"

namespace ubique::kernels {
namespace {

/// The gradient of the product (B, T, columns), and the sums of its columns in f32.
using Joined = std::tuple<at::Tensor, at::Tensor>;

bool no_join_qkv(const at::Tensor& /*queries*/) { return false; }

bool has_join_kernel(const at::Tensor& queries) {
  static const auto op = find_op<decltype(has_join_kernel)>("ubique::does_join_qkv");
  return op.call(queries);
}

Joined join_qkv(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
  static const auto op = find_op<decltype(join_qkv)>("ubique::join_qkv");
  return op.call(q, k, v);
}

Joined plain_join(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
  const auto rows = [](const at::Tensor& heads) { return heads.transpose(1, 2).flatten(2); };
  const auto product = at::cat({rows(q), rows(k), rows(v)}, -1);
  return {product, product.flatten(0, 1).sum(0, false, at::kFloat)};
}

std::vector<Trial> try_join(const at::Tensor& like) {
  const PlainTensors plain;
  const auto size = like.size(3);
  // Queries as attention returns them for a cut product, keys with heads outside, values inside.
  const auto q = test_values({2, 35, 3, size}, like, 1).transpose(1, 2);
  const auto k = test_values({2, 1, 35, size}, like, 2);
  const auto v = test_values({2, 35, 1, size}, like, 3).transpose(1, 2);
  const auto [product, sums] = join_qkv(q, k, v);
  const auto wide = [](const at::Tensor& x) { return x.to(at::kFloat); };
  const auto [expected, expected_sums] = plain_join(wide(q), wide(k), wide(v));
  return trials_of({product, sums}, {expected, expected_sums});
}

class HeadProduct final : public torch::autograd::Node {
 public:
  HeadProduct(at::Tensor x, CastWeight weight, at::Tensor bias,
              const std::vector<at::Tensor>& heads)
      : x_(std::move(x)), weight_(std::move(weight)), bias_(std::move(bias)) {
    for (const auto& part : heads) shapes_.push_back(part.sizes().vec());
  }
  std::string name() const override { return "ubique::HeadProduct"; }
  void release_variables() override { x_ = at::Tensor(); }

 private:
  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override {
    const PlainTensors plain;
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      if (!gradients[i].defined()) gradients[i] = at::zeros(shapes_[i], weight_.value.options());
    }
    const auto& q = gradients[0];
    const auto [joined, sums] = does_join_qkv(q) ? join_qkv(q, gradients[1], gradients[2])
                                                 : plain_join(q, gradients[1], gradients[2]);
    const auto incoming = joined.flatten(0, 1);  // (n, columns)
    at::Tensor of_x, of_weight, of_bias;
    if (task_should_compute_output(0)) of_x = at::mm(incoming, weight_.value).view(x_.sizes());
    if (task_should_compute_output(1)) {
      of_weight = product_as(weight_.parameter.scalar_type(), incoming.t(), x_.flatten(0, 1));
    }
    if (task_should_compute_output(2)) of_bias = sums.to(bias_.scalar_type());
    return {of_x, of_weight, of_bias};
  }

  at::Tensor x_;
  CastWeight weight_;
  at::Tensor bias_;
  std::vector<std::vector<std::int64_t>> shapes_;
};

}  // namespace

TORCH_LIBRARY_FRAGMENT(ubique, library) {
  library.def("does_join_qkv(Tensor q) -> bool");
  library.def("join_qkv(Tensor q, Tensor k, Tensor v) -> (Tensor, Tensor)");
  library.impl("does_join_qkv", c10::DispatchKey::CompositeExplicitAutograd, TORCH_FN(no_join_qkv));
}

bool does_join_qkv(const at::Tensor& queries) {
  return has_join_kernel(queries) &&
         passes_self_check("joining heads of " + std::to_string(queries.size(3)), queries,
                           [&] { return try_join(queries); });
}

std::array<at::Tensor, 3> head_product(const at::Tensor& x, const CastWeight& weight,
                                       const at::Tensor& bias, const HeadCounts& counts) {
  std::vector<at::Tensor> heads;
  {
    const PlainTensors plain;
    const auto narrow = bias.defined() ? bias.detach().to(x.scalar_type()) : bias;
    const auto product = at::linear(x.detach(), weight.value, narrow);
    const auto size = product.size(2) / (counts[0] + counts[1] + counts[2]);
    std::int64_t first = 0;
    for (const auto count : counts) {
      const auto part = product.narrow(2, first * size, count * size);
      heads.push_back(part.unflatten(2, {count, size}).transpose(1, 2).detach());
      first += count;
    }
  }
  if (wants_gradient(x) || weight.wants_gradient() || wants_gradient(bias)) {
    attach(heads, std::make_shared<HeadProduct>(x.detach(), weight, bias, heads),
           {x, weight.parameter, bias});
  }
  return {heads[0], heads[1], heads[2]};
}

}  // namespace ubique::kernels
