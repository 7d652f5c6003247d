// SPDX-License-Identifier: Apache-2.0
#include "ubique/engine/ratio_sums.h"

#include <ATen/ATen.h>

namespace ubique::engine {

void RatioSums::add(const std::vector<Ratio>& ratios) {
  if (ratios.empty()) return;
  std::vector<at::Tensor> values;
  for (const auto& ratio : ratios) values.push_back(ratio.sum.to(at::kFloat).reshape({}));
  for (const auto& ratio : ratios) values.push_back(ratio.count.to(at::kFloat).reshape({}));
  const auto now = at::stack(values).view({2, -1});
  if (!sums_.defined()) {
    for (const auto& ratio : ratios) names_.push_back(ratio.name);
    sums_ = at::zeros_like(now);
  }
  sums_.add_(now);
}

std::vector<at::Tensor> RatioSums::scalars() const {
  return sums_.defined() ? sums_.flatten().unbind() : std::vector<at::Tensor>();
}

Scores RatioSums::means(std::span<const double> values) const {
  Scores means;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const double count = values[names_.size() + i];
    if (count > 0) means.emplace_back(names_[i], values[i] / count);
  }
  return means;
}

void RatioSums::clear() {
  if (sums_.defined()) sums_.zero_();
}

}  // namespace ubique::engine
