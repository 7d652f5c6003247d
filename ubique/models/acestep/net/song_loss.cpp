// SPDX-License-Identifier: Apache-2.0
// Puts the networks and the losses together as the original's training step does.
#include "ubique/models/acestep/net/song_loss.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "ubique/models/acestep/net/loss/flow_loss.h"
#include "ubique/models/acestep/net/loss/ssl_loss.h"

namespace ubique::acestep {
namespace {

constexpr double kTimestepsPerSigma = 1000;

at::Tensor find_input(const engine::Batch& batch, const std::string& name) {
  const auto found = batch.tensors.find(name);
  return found == batch.tensors.end() ? at::Tensor() : found->second;
}

/// Hidden states of the tags; zeros for items whose text is dropped.
at::Tensor encode_tags(const Umt5& text_encoder, const engine::Batch& batch, bool trained) {
  const at::AutoGradMode gradients(trained && at::GradMode::is_enabled());
  const auto hidden =
      text_encoder.forward(batch.tensors.at("text_ids"), batch.tensors.at("text_mask"));
  return hidden * batch.tensors.at("keep_text").to(hidden.scalar_type()).view({-1, 1, 1});
}

/// The loss towards the features of one encoder, over the items that have some; undefined if none
/// has.
at::Tensor loss_towards(const at::Tensor& projections, const at::Tensor& features,
                        const at::Tensor& lengths) {
  const auto host = lengths.cpu();
  std::vector<at::Tensor> chosen, own;
  for (std::int64_t i = 0; i < host.size(0); ++i) {
    const auto length = host[i].item<std::int64_t>();
    if (length == 0) continue;
    chosen.push_back(projections[i]);
    own.push_back(features[i].slice(0, 0, length));
  }
  return chosen.empty() ? at::Tensor() : ssl_loss(at::stack(chosen), own);
}

engine::NamedTensors ssl_losses(const DitConfig& config, const DitOutput& output,
                                const engine::Batch& batch) {
  engine::NamedTensors losses;
  for (std::size_t i = 0; i < output.projections.size(); ++i) {
    const auto& name = config.ssl_names[i];
    const auto features = find_input(batch, "ssl." + name);
    if (!features.defined()) continue;
    const auto loss =
        loss_towards(output.projections[i], features, batch.tensors.at("ssl_frames." + name));
    if (loss.defined()) losses.emplace_back(name, loss);
  }
  return losses;
}

bool wants_projections(const DitConfig& config, const engine::Batch& batch, double coefficient) {
  if (!config.projectors || coefficient == 0) return false;
  for (const auto& name : config.ssl_names) {
    if (batch.tensors.contains("ssl." + name)) return true;
  }
  return false;
}

}  // namespace

SongLoss song_loss(const Dit& dit, const Umt5& text_encoder, const engine::Batch& batch,
                   const SongLossOptions& options) {
  const auto& tensors = batch.tensors;
  const auto dtype = dit.weights().text.bias.scalar_type();
  const auto text = encode_tags(text_encoder, batch, options.train_text).to(dtype);
  const auto order = options.original_padding ? at::Tensor() : find_input(batch, "order");
  const auto context = dit.encode({.text = text,
                                   .text_mask = tensors.at("text_mask"),
                                   .speaker = tensors.at("speaker").to(dtype),
                                   .lyric_ids = tensors.at("lyric_ids"),
                                   .lyric_mask = tensors.at("lyric_mask"),
                                   .order = order},
                                  options.training);
  const auto &clean = tensors.at("latents"), &sigmas = tensors.at("sigmas");
  const auto noisy = noisy_latents(clean, tensors.at("noise"), sigmas);
  const auto frames = find_input(batch, "frames");
  const auto output = dit.forward(
      {.latents = noisy.to(dtype),
       .timestep = sigmas * kTimestepsPerSigma,
       .frames = frames,
       .exact_padding = !options.original_padding},
      context,
      {.training = options.training, .recompute = options.recompute, .split = options.split},
      wants_projections(dit.config(), batch, options.ssl_coefficient));
  SongLoss loss;
  loss.by_item = flow_loss_by_item(output.velocity, noisy, clean, sigmas, frames);
  loss.denoising = options.original_padding
                       ? flow_loss(output.velocity, noisy, clean, sigmas, frames)
                       : loss.by_item.mean();
  loss.ssl = ssl_losses(dit.config(), output, batch);
  loss.total = loss.denoising;
  const auto encoders = static_cast<double>(dit.config().ssl_names.size());
  for (const auto& [name, value] : loss.ssl) {
    loss.total = loss.total + value * (options.ssl_coefficient / encoders);
  }
  return loss;
}

}  // namespace ubique::acestep
