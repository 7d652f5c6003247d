// SPDX-License-Identifier: Apache-2.0
// Noise and loss, in f32.
#include "ubique/models/acestep/net/loss/flow_loss.h"

#include <ATen/ATen.h>

namespace ubique::acestep {
namespace {

at::Tensor per_item(const at::Tensor& sigmas) { return sigmas.view({-1, 1, 1, 1}); }

/// Of the clean latents that the velocity implies: (B, C, 16, T).
at::Tensor squared_error(const at::Tensor& velocity, const at::Tensor& noisy,
                         const at::Tensor& clean, const at::Tensor& sigmas) {
  const auto recovered = noisy - velocity.to(at::kFloat) * per_item(sigmas);
  return (recovered - clean).square();
}

}  // namespace

at::Tensor noisy_latents(const at::Tensor& clean, const at::Tensor& noise,
                         const at::Tensor& sigmas) {
  return noise * per_item(sigmas) + clean * (1 - per_item(sigmas));
}

at::Tensor flow_loss(const at::Tensor& velocity, const at::Tensor& noisy, const at::Tensor& clean,
                     const at::Tensor& sigmas, const at::Tensor& frames) {
  const auto error = squared_error(velocity, noisy, clean, sigmas);
  if (!frames.defined()) return error.mean();
  const auto counted = frames.to(at::kFloat);  // (B, T)
  const auto by_item = (error * counted.unsqueeze(1).unsqueeze(1)).mean({1, 2, 3});
  return (by_item * counted.mean(1)).mean();
}

at::Tensor flow_loss_by_item(const at::Tensor& velocity, const at::Tensor& noisy,
                             const at::Tensor& clean, const at::Tensor& sigmas,
                             const at::Tensor& frames) {
  const auto error = squared_error(velocity, noisy, clean, sigmas);
  if (!frames.defined()) return error.mean({1, 2, 3});
  const auto counted = frames.to(at::kFloat);  // (B, T)
  const auto by_frame = error.mean({1, 2});    // (B, T)
  return (by_frame * counted).sum(1) / counted.sum(1);
}

}  // namespace ubique::acestep
