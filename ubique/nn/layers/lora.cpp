// SPDX-License-Identifier: Apache-2.0
// LoRA adapters: which weights they fit, fresh pairs, the forward pass, merging.
#include "ubique/nn/layers/lora.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>

#include "ubique/base/error.h"

namespace ubique::nn {
namespace {

/// Does the pattern, in which * is any text, match all of `name`? Linear but for the last *, which
/// takes one more character after each mismatch.
bool matches(std::string_view pattern, std::string_view name) {
  std::size_t at = 0, in_name = 0, after_star = std::string_view::npos, star_end = 0;
  while (in_name < name.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      after_star = ++at;
      star_end = in_name;
    } else if (at < pattern.size() && pattern[at] == name[in_name]) {
      ++at, ++in_name;
    } else if (after_star != std::string_view::npos) {
      at = after_star;
      in_name = ++star_end;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

at::Tensor kaiming_uniform(std::int64_t rows, std::int64_t columns, const Random& random) {
  auto values = at::empty({rows, columns}, at::TensorOptions(at::kFloat));
  const auto bound = static_cast<float>(1 / std::sqrt(static_cast<double>(columns)));
  random.fill_uniform({values.mutable_data_ptr<float>(), static_cast<std::size_t>(values.numel())},
                      -bound, bound);
  return values;
}

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

bool is_lora_target(const LoraOptions& options, std::string_view name) {
  return std::ranges::any_of(options.targets,
                             [&](const std::string& pattern) { return matches(pattern, name); });
}

Lora make_lora(const at::Tensor& weight, const LoraOptions& options, const Random& random) {
  validate(options);
  check(weight.dim() == 2, ErrorKind::Usage,
        "[nn.lora] only matrices can be adapted; got a weight of {} dimensions, expected 2.",
        weight.dim());
  const auto f32 = at::TensorOptions(at::kFloat).device(weight.device());
  Lora lora;
  lora.a = kaiming_uniform(options.rank, weight.size(1), random).to(weight.device());
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
