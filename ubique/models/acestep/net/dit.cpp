// SPDX-License-Identifier: Apache-2.0
// Embeddings of time, frames and condition; the pass through the blocks.
#include "ubique/models/acestep/net/dit.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <cmath>
#include <limits>
#include <tuple>

#include "ubique/base/error.h"
#include "ubique/engine/step/recompute.h"
#include "ubique/nn/layers/norm.h"
#include "ubique/nn/layers/rope.h"

namespace ubique::acestep {
namespace {

constexpr std::int64_t kTimeSinusoids = 128;
constexpr double kTimeBase = 10000;
constexpr std::int64_t kPatchNormGroups = 32;
constexpr double kEndNormEps = 1e-6;
constexpr double kControlEps = 1e-12;

/// The control tensor with the mean and deviation that the frames have.
at::Tensor like_frames(const at::Tensor& control, const at::Tensor& x) {
  const auto mean = [](const at::Tensor& y) { return y.mean({1, 2}, true); };
  const auto deviation = [](const at::Tensor& y) { return y.std({1, 2}, true, true); };
  const auto ratio = deviation(x) / (deviation(control) + kControlEps);
  return (control - mean(control)) * ratio + mean(x);
}

/// The group norm of x (B, C, 1, T) over the frames that are there, in f32.
at::Tensor masked_group_norm(const at::Tensor& x, const nn::WeightAndBias& norm,
                             const at::Tensor& frames) {
  const auto rows = frames.to(at::kFloat).unsqueeze(1).unsqueeze(1);  // (B, 1, 1, T)
  const auto grouped = x.to(at::kFloat).squeeze(2).unflatten(1, {kPatchNormGroups, -1});
  const auto count = rows.sum({2, 3}, true) * static_cast<double>(grouped.size(2));
  const auto mean = (grouped * rows).sum({2, 3}, true) / count;  // (B, G, 1, 1)
  const auto centred = grouped - mean;                           // (B, G, C/G, T)
  const auto variance = (centred * rows).square().sum({2, 3}, true) / count;
  const auto normed = (centred * (variance + kEndNormEps).rsqrt()).flatten(1, 2);
  return (normed * norm.weight.unsqueeze(-1) + norm.bias.unsqueeze(-1))
      .unsqueeze(2)
      .to(x.scalar_type());
}

/// The rows of (B, E, ...) in the order (B, E).
at::Tensor in_order(const at::Tensor& rows, const at::Tensor& order) {
  if (rows.dim() == 2) return rows.gather(1, order);
  return rows.gather(1, order.unsqueeze(-1).expand({-1, -1, rows.size(2)}));
}

}  // namespace

Dit::Dit(const DitConfig& config, const at::TensorOptions& options) : config_(config) {
  create(options);
}

at::Tensor Dit::time_sinusoids(const at::Tensor& timestep) {
  // On the device: a pass that is recorded copies nothing from the host.
  const auto f32 = at::TensorOptions(at::kFloat).device(timestep.device());
  const auto exponents = at::arange(kTimeSinusoids, f32) * -std::log(kTimeBase);
  const auto frequencies = (exponents / static_cast<double>(kTimeSinusoids)).exp();
  const auto angles = timestep.to(at::kFloat).unsqueeze(1) * frequencies;  // (B, 128)
  return at::cat({angles.cos(), angles.sin()}, -1);
}

at::Tensor Dit::embed_time(const at::Tensor& timestep) const {
  const auto sinusoids = time_sinusoids(timestep).to(weights_.time_1.weight.scalar_type());
  return nn::linear(at::silu(nn::linear(sinusoids, weights_.time_1)), weights_.time_2);
}

at::Tensor Dit::embed_frames(const at::Tensor& latents, const at::Tensor& frames) const {
  const auto &patch = weights_.patch, &norm = weights_.patch_norm, &output = weights_.patch_output;
  auto x = at::conv2d(latents, patch.weight, patch.bias, {config_.patch_height, 1});
  x = frames.defined() ? masked_group_norm(x, norm, frames)
                       : at::group_norm(x, kPatchNormGroups, norm.weight, norm.bias, kEndNormEps);
  x = at::conv2d(x, output.weight, output.bias);  // (B, D, 1, T)
  return x.flatten(2).transpose(1, 2).contiguous();
}

at::Tensor Dit::encode_lyrics(const at::Tensor& ids, const at::Tensor& mask, bool training,
                              const LayerRange& weakened) const {
  const auto embedded = at::embedding(weights_.lyric_tokens, ids);
  return acestep::encode_lyrics(weights_.lyric, config_.lyric, embedded, mask, offsets_of(embedded),
                                training, weakened);
}

/// The middle of a table that is made anew when it is too short: a step that is recorded copies
/// nothing from the host.
at::Tensor Dit::offsets_of(const at::Tensor& lyrics) const {
  const auto length = lyrics.size(1);
  auto& table = lyric_offsets_;
  const bool fits = table.defined() && table.device() == lyrics.device() &&
                    table.scalar_type() == lyrics.scalar_type() && table.size(0) >= 2 * length - 1;
  if (!fits) {
    const c10::InferenceMode off(false);  // a preview's table serves training too
    table = lyric_offsets(length, config_.lyric.hidden).to(lyrics.options());
  }
  return table.slice(0, table.size(0) / 2 - (length - 1), table.size(0) / 2 + length);
}

DitContext Dit::encode(const DitCondition& condition, bool training,
                       const LayerRange& weak_lyrics) const {
  const auto lyrics =
      encode_lyrics(condition.lyric_ids, condition.lyric_mask, training, weak_lyrics);
  const auto speaker = nn::linear(condition.speaker, weights_.speaker, training).unsqueeze(1);
  const auto mask_of = [](const at::Tensor& mask) { return mask.to(at::kFloat); };
  const auto text_mask = mask_of(condition.text_mask);
  DitContext context;
  context.tokens = at::cat({speaker, nn::linear(condition.text, weights_.text, training),
                            nn::linear(lyrics, weights_.lyric_output, training)},
                           1);
  context.mask = at::cat({at::ones({speaker.size(0), 1}, text_mask.options()), text_mask,
                          mask_of(condition.lyric_mask)},
                         1);
  if (condition.order.defined()) {
    context.tokens = in_order(context.tokens, condition.order);
    context.mask = in_order(context.mask, condition.order);
  }
  prepare(context, training);
  return context;
}

void Dit::set_tables(std::int64_t length, c10::Device device) const {
  check(length <= config_.max_position, ErrorKind::Input,
        "[acestep.dit] {} frames or tokens are too many; expected at most {}.", length,
        config_.max_position);
  const bool enough = cos_.defined() && cos_.device() == device && cos_.size(0) >= length;
  if (enough) return;
  const c10::InferenceMode off(false);  // a preview's tables serve training too
  std::tie(cos_, sin_) = nn::rope_tables(length, config_.head_size, device, config_.rope_theta);
}

void Dit::prepare(DitContext& context, bool training) const {
  const auto length = context.tokens.size(1);
  set_tables(length, context.tokens.device());
  const auto cos = cos_.slice(0, 0, length), sin = sin_.slice(0, 0, length);
  context.keys.clear();
  for (const auto& block : weights_.blocks) {
    context.keys.push_back(context_keys(block.cross, context.tokens, cos, sin, config_, training));
  }
}

DitPass Dit::make_pass(const DitInput& input, const at::Tensor& embedded_time,
                       const DitContext& context, bool training) const {
  const auto length = input.latents.size(-1);
  set_tables(length, input.latents.device());
  DitPass pass{.config = config_, .training = training};
  const auto modulation = nn::linear(at::silu(embedded_time), weights_.time_modulation);
  pass.time = modulation.to(at::promote_types(modulation.scalar_type(), at::kFloat))
                  .unflatten(-1, {6, config_.hidden()});
  pass.cos = cos_.slice(0, 0, length);
  pass.sin = sin_.slice(0, 0, length);
  pass.frames = input.frames;
  pass.exact_padding = input.exact_padding && input.frames.defined();
  pass.context_mask = context.mask.ne(0).unsqueeze(1).unsqueeze(1);
  if (!at::GradMode::is_enabled()) {  // once, instead of in every layer
    const auto hidden = pass.context_mask.logical_not();
    pass.context_mask = at::zeros(hidden.sizes(), input.latents.options())
                            .masked_fill_(hidden, -std::numeric_limits<double>::infinity());
  }
  return pass;
}

at::Tensor Dit::run(std::size_t layer, const at::Tensor& x, const DitContext& context,
                    const DitPass& pass, const DitOptions& options) const {
  const auto& block = weights_.blocks[layer];
  const auto& keys = context.keys.at(layer);
  const bool weak = options.weakened.contains(static_cast<std::int64_t>(layer));
  const auto scale = weak ? options.query_scale : at::Tensor();
  const bool twice = options.recompute || options.split != nullptr;
  if (!twice || !at::GradMode::is_enabled()) {
    return run_block(block, x, keys, pass, scale);
  }
  const auto hold = [split = options.split, layer] { return split->hold(layer); };
  return engine::recompute(
      [&block, held = pass, scale](const std::vector<at::Tensor>& in) {
        auto again = held;
        again.time = in[3];
        return run_block(block, in[0], {in[1], in[2]}, again, scale);
      },
      {x, keys.keys, keys.values, pass.time}, options.split ? hold : engine::Hold());
}

at::Tensor Dit::project(std::size_t index, const at::Tensor& x, bool training) const {
  const auto& layers = weights_.projectors.at(index);
  const auto first = at::silu(nn::linear(x, layers[0], training));
  return nn::linear(at::silu(nn::linear(first, layers[1], training)), layers[2], training);
}

at::Tensor Dit::finish(const at::Tensor& x, const at::Tensor& embedded_time) const {
  const auto m = (weights_.final_modulation + embedded_time.unsqueeze(1)).chunk(2, 1);
  const auto normed = nn::rms_norm(x, {}, kEndNormEps) * (1 + m[1]) + m[0];
  return nn::linear(normed, weights_.final)  // columns: row by row, the channels of each
      .unflatten(-1, {config_.patch_height, config_.out_channels})
      .permute({0, 3, 2, 1});  // (B, channels, 16, T)
}

DitOutput Dit::forward(const DitInput& input, const DitContext& context, const DitOptions& options,
                       bool with_projections) const {
  const auto time = embed_time(input.timestep);  // (B, D)
  const auto pass = make_pass(input, time, context, options.training);
  auto x = embed_frames(input.latents, pass.exact_padding ? input.frames : at::Tensor());
  if (input.control.defined()) x = x + like_frames(input.control, x) * input.control_scale;
  DitOutput output;
  if (with_projections) output.projections.resize(config_.ssl_depths.size());
  for (std::size_t i = 0; i < weights_.blocks.size(); ++i) {
    x = run(i, x, context, pass, options);
    for (std::size_t p = 0; p < output.projections.size(); ++p) {
      const bool reads_here = config_.ssl_depths[p] == static_cast<std::int64_t>(i);
      if (reads_here) output.projections[p] = project(p, x, options.training);
    }
  }
  output.velocity = finish(x, time);
  return output;
}

}  // namespace ubique::acestep
