// SPDX-License-Identifier: Apache-2.0
// LoRA adapters: fresh pairs, the forward pass, merging.
#include "ubique/nn/layers/lora.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cmath>

#include "ubique/base/error.h"

namespace ubique::nn {
namespace {

at::Tensor low_rank_update(const Lora& lora) { return at::matmul(lora.b, lora.a) * lora.scale; }

/// weight + sign·scale·B·A.
at::Tensor shifted(const at::Tensor& weight, const Lora& lora, double sign) {
  const at::NoGradGuard no_gradients;
  const auto update = low_rank_update(lora) * sign;  // (out, in) f32
  check(update.sizes() == weight.sizes(), ErrorKind::Internal,
        "[nn.lora] the adapter belongs to another weight; got {}x{}, expected {}x{}.",
        weight.size(0), weight.size(-1), update.size(0), update.size(1));
  return (weight.to(at::kFloat) + update).to(weight.scalar_type());
}

}  // namespace

void validate(const LoraOptions& options) {
  check(options.rank >= 1, ErrorKind::Usage,
        "[nn.lora] rank is out of range; got {}, expected 1 or more.", options.rank);
  check(std::isfinite(options.alpha) && options.alpha > 0, ErrorKind::Usage,
        "[nn.lora] alpha is out of range; got {}, expected more than 0.", options.alpha);
  check(options.dropout >= 0 && options.dropout < 1, ErrorKind::Usage,
        "[nn.lora] dropout is out of range; got {}, expected at least 0 and below 1.",
        options.dropout);
}

at::Tensor fresh_lora_a(std::int64_t rank, std::int64_t inputs, const Random& random) {
  auto values = at::empty({rank, inputs}, at::TensorOptions(at::kFloat));
  const auto bound = static_cast<float>(1 / std::sqrt(static_cast<double>(inputs)));
  random.fill_uniform({values.mutable_data_ptr<float>(), static_cast<std::size_t>(values.numel())},
                      -bound, bound);
  return values;
}

Lora make_lora(const at::Tensor& weight, const LoraOptions& options, const Random& random) {
  validate(options);
  check(weight.dim() == 2, ErrorKind::Usage,
        "[nn.lora] only matrices can be adapted; got a weight of {} dimensions, expected 2.",
        weight.dim());
  const auto f32 = at::TensorOptions(at::kFloat).device(weight.device());
  Lora lora;
  lora.a = fresh_lora_a(options.rank, weight.size(1), random).to(weight.device());
  lora.b = at::zeros({weight.size(0), options.rank}, f32);
  lora.a.requires_grad_(true);
  lora.b.requires_grad_(true);
  lora.scale = options.alpha / static_cast<double>(options.rank);
  lora.dropout = options.dropout;
  return lora;
}

at::Tensor lora_product(const at::Tensor& x, const Lora& lora, bool training) {
  const auto input = lora.dropout > 0 ? at::dropout(x, lora.dropout, training) : x;
  const auto low = at::linear(input, lora.a.to(x.scalar_type()));  // (..., rank)
  return at::linear(low, lora.b.to(x.scalar_type())) * lora.scale;
}

at::Tensor merged_weight(const at::Tensor& weight, const Lora& lora) {
  return shifted(weight, lora, 1);
}

at::Tensor unmerged_weight(const at::Tensor& merged, const Lora& lora) {
  return shifted(merged, lora, -1);
}

}  // namespace ubique::nn
