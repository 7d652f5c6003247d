// SPDX-License-Identifier: Apache-2.0
// The ops that a device may provide; there is no implementation without one.
#include "ubique/kernels/decoder/decode_step.h"

#include <ATen/ATen.h>
#include <torch/library.h>

#include "ubique/kernels/dispatch/find_op.h"

namespace ubique::kernels {
namespace {

constexpr std::int64_t kPartHeads = 16;  // query heads that share keys, at a time

bool no_decode_step(const at::Tensor& /*weight*/, std::int64_t /*rows*/,
                    std::int64_t /*head_size*/) {
  return false;
}

at::Tensor or_empty(const at::Tensor& tensor, const at::Tensor& like) {
  return tensor.defined() ? tensor : at::empty({0}, like.options());
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(ubique, library) {
  library.def("does_decode_step(Tensor weight, int rows, int head_size) -> bool");
  library.def("decode_embed(Tensor inputs, Tensor tokens, Tensor positions, Tensor(a!) x) -> ()");
  library.def(
      "decode_product(Tensor x, Tensor norm_weight, Tensor norm_bias, int norm, float epsilon, "
      "Tensor[] weights, Tensor[] biases, bool gated, int activation, Tensor residual, "
      "Tensor(a!) out, Tensor(b!) best) -> ()");
  library.def(
      "decode_attend(Tensor qkv, Tensor inputs, Tensor(a!) keys, Tensor(b!) values, Tensor cos, "
      "Tensor sin, Tensor q_norm, Tensor k_norm, Tensor(c!) partial, Tensor(d!) counters, "
      "Tensor(e!) mixed, int heads, bool by_head, int window, float epsilon) -> ()");
  library.def(
      "decode_choose(Tensor best, Tensor inputs, int capacity, Tensor(a!) likeliest, "
      "Tensor(b!) next) -> ()");
  library.impl("does_decode_step", c10::DispatchKey::CompositeExplicitAutograd,
               TORCH_FN(no_decode_step));
}

bool does_decode_step(const at::Tensor& weight, std::int64_t rows, std::int64_t head_size) {
  static const auto op = find_op<decltype(does_decode_step)>("ubique::does_decode_step");
  return op.call(weight, rows, head_size);
}

void decode_embed(const at::Tensor& inputs, const at::Tensor& tokens, const at::Tensor& positions,
                  const at::Tensor& x) {
  static const auto op = find_op<decltype(decode_embed)>("ubique::decode_embed");
  op.call(inputs, tokens, or_empty(positions, x), x);
}

void decode_product(const DecodeProduct& product) {
  using Function = void(const at::Tensor&, const at::Tensor&, const at::Tensor&, std::int64_t,
                        double, at::TensorList, at::TensorList, bool, std::int64_t,
                        const at::Tensor&, const at::Tensor&, const at::Tensor&);
  static const auto op = find_op<Function>("ubique::decode_product");
  const auto& x = product.x;
  op.call(x, or_empty(product.norm_weight, x), or_empty(product.norm_bias, x),
          static_cast<std::int64_t>(product.norm), product.epsilon, product.weights, product.biases,
          product.gated, static_cast<std::int64_t>(product.activation),
          or_empty(product.residual, x), product.out, or_empty(product.best, x));
}

void decode_attend(const DecodeAttention& attention) {
  using Function = void(const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&,
                        const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&,
                        const at::Tensor&, const at::Tensor&, const at::Tensor&, std::int64_t, bool,
                        std::int64_t, double);
  static const auto op = find_op<Function>("ubique::decode_attend");
  const auto& like = attention.qkv;
  op.call(like, attention.inputs, attention.keys, attention.values, or_empty(attention.cos, like),
          or_empty(attention.sin, like), or_empty(attention.q_norm, like),
          or_empty(attention.k_norm, like), attention.partial, attention.counters, attention.mixed,
          attention.heads.heads, attention.heads.by_head, attention.window, attention.epsilon);
}

DecodeScratch decode_scratch(const DecodeHeads& heads, std::int64_t rows, std::int64_t capacity,
                             c10::Device device) {
  const auto sharing = heads.heads / heads.kv_heads;
  const auto units = rows * heads.kv_heads * ((sharing + kPartHeads - 1) / kPartHeads);
  const auto splits = (capacity + kDecodeSpan - 1) / kDecodeSpan;
  const auto on = at::TensorOptions(device);
  return {at::zeros({units, splits, kPartHeads, heads.size + 2}, on.dtype(at::kFloat)),
          at::zeros({units}, on.dtype(at::kInt))};
}

void decode_choose(const at::Tensor& best, const at::Tensor& inputs, std::int64_t capacity,
                   const at::Tensor& likeliest, const at::Tensor& next) {
  static const auto op = find_op<decltype(decode_choose)>("ubique::decode_choose");
  op.call(best, inputs, capacity, likeliest, next);
}

}  // namespace ubique::kernels
