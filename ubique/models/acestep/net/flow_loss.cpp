// SPDX-License-Identifier: Apache-2.0
// Noise and loss, in f32.
#include "ubique/models/acestep/net/flow_loss.h"

#include <ATen/ATen.h>

namespace ubique::acestep {
namespace {

at::Tensor per_item(const at::Tensor& sigmas) { return sigmas.view({-1, 1, 1, 1}); }

}  // namespace

at::Tensor noisy_latents(const at::Tensor& clean, const at::Tensor& noise,
                         const at::Tensor& sigmas) {
  return noise * per_item(sigmas) + clean * (1 - per_item(sigmas));
}

at::Tensor flow_loss(const at::Tensor& velocity, const at::Tensor& noisy, const at::Tensor& clean,
                     const at::Tensor& sigmas, const at::Tensor& frames) {
  const auto recovered = noisy - velocity.to(at::kFloat) * per_item(sigmas);
  const auto error = (recovered - clean).square();  // (B, C, 16, T)
  if (!frames.defined()) return error.mean();
  const auto counted = frames.to(at::kFloat);  // (B, T)
  const auto by_item = (error * counted.unsqueeze(1).unsqueeze(1)).mean({1, 2, 3});
  return (by_item * counted.mean(1)).mean();
}

}  // namespace ubique::acestep
