// SPDX-License-Identifier: Apache-2.0
// Initial weights, as in the original: a normal distribution truncated at two standard deviations,
// rescaled to the wanted deviation. Every tensor has its own random stream, numbered by its order.
#include <ATen/ATen.h>

#include <cmath>

#include "ubique/models/trm/net/network.h"

namespace ubique::trm {
namespace {

/// A normal value truncated at two deviations times this has deviation 1.
constexpr double kTruncationCorrection = 1.136847;

void fill_truncated_normal(at::Tensor target, double deviation, const Random& random) {
  const double wide = deviation * kTruncationCorrection;
  auto values = at::empty(target.sizes(), at::TensorOptions(at::kFloat));
  random.fill_truncated_normal(
      {values.mutable_data_ptr<float>(), static_cast<std::size_t>(values.numel())}, 0,
      static_cast<float>(wide), static_cast<float>(-2 * wide), static_cast<float>(2 * wide));
  target.copy_(values);
}

double deviation_for(const std::string& name, const at::Tensor& weight, std::int64_t hidden) {
  const bool embedding = name.ends_with("embedding_weight");
  return 1 / std::sqrt(static_cast<double>(embedding ? hidden : weight.size(1)));
}

}  // namespace

void initialize(Trm& network, const Random& random) {
  const at::NoGradGuard no_gradients;
  constexpr double kInitialHaltBias = -5;
  std::uint64_t index = 0;
  for (const auto& item : network.named_parameters()) {
    const auto own = random.fork(index++);
    if (item.key().find("q_head") != std::string::npos) {
      item.value().fill_(item.key().ends_with("bias") ? kInitialHaltBias : 0.0);
    } else {
      fill_truncated_normal(
          item.value(), deviation_for(item.key(), item.value(), network.config().hidden_size), own);
    }
  }
  for (const auto& item : network.named_buffers()) {
    const auto own = random.fork(index++);
    if (!item.key().ends_with("_init")) continue;
    fill_truncated_normal(item.value(), 1, own);
    item.value().copy_(item.value().to(at::kBFloat16));  // so that every dtype starts equal
  }
  if (network.puzzle_table().defined()) network.puzzle_table().zero_();
}

}  // namespace ubique::trm
