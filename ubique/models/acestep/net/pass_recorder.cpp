// SPDX-License-Identifier: Apache-2.0
// Buffers of fixed places around a recorded pass.
#include "ubique/models/acestep/net/pass_recorder.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>

#include "ubique/base/terminal/log.h"
#include "ubique/device/runtime.h"

namespace ubique::acestep {
namespace {

/// Each holds inputs and results of its own. A song with guidance in a part of its steps has two.
constexpr std::size_t kMostPasses = 4;
/// Contexts have room for a multiple of this many tokens, so that songs with other words fit.
constexpr std::int64_t kTokens = 64;

std::int64_t room_for(std::int64_t tokens) { return (tokens + kTokens - 1) / kTokens * kTokens; }

/// Zeros of x's kind, of another length along dimension 2 (keys) or 1 (mask).
at::Tensor room_like(const at::Tensor& x, std::int64_t dim, std::int64_t length) {
  auto shape = x.sizes().vec();
  shape[static_cast<std::size_t>(dim)] = length;
  return at::zeros(shape, x.options());
}

DitContext room_for_context(const DitContext& context) {
  const auto length = room_for(context.mask.size(1));
  DitContext room{.tokens = {}, .mask = room_like(context.mask, 1, length)};
  for (const auto& [keys, values] : context.keys) {
    room.keys.push_back({room_like(keys, 2, length), room_like(values, 2, length)});
  }
  return room;
}

void copy_context(const DitContext& from, const DitContext& to) {
  const auto length = from.mask.size(1);
  to.mask.zero_();
  to.mask.slice(1, 0, length).copy_(from.mask);
  for (std::size_t i = 0; i < from.keys.size(); ++i) {
    to.keys[i].keys.slice(2, 0, length).copy_(from.keys[i].keys);
    to.keys[i].values.slice(2, 0, length).copy_(from.keys[i].values);
  }
}

bool same_range(const LayerRange& a, const LayerRange& b) {
  return a.first == b.first && a.last == b.last;
}

at::Tensor network_input(const Dit& dit, const at::Tensor& latents) {
  return latents.to(dit.weights().patch.weight.scalar_type());
}

}  // namespace

at::Tensor plain_velocity(const Dit& dit, const at::Tensor& latents, double timestep,
                          const DitContext& context, const DitOptions& options) {
  const auto f32 = at::TensorOptions(at::kFloat).device(latents.device());
  const DitInput input{.latents = network_input(dit, latents),
                       .timestep = at::full({1}, timestep, f32)};
  return dit.forward(input, context, options).velocity.to(at::kFloat);
}

std::vector<PassRecorder::Place> PassRecorder::places_of(const Dit& dit) {
  std::vector<Place> places;
  const auto add = [&](const at::Tensor& values, double scale) {
    places.emplace_back(values.const_data_ptr(), values.numel(), scale);
  };
  for (const auto& parameter : dit.parameters()) add(parameter, 1);
  for (const auto& [name, layer] : dit.linear_layers()) {
    if (layer->quantized) add(layer->quantized->packed, 1);
    for (const auto& adapter : layer->adapters) {
      add(adapter.a, adapter.scale);
      add(adapter.b, adapter.scale);
    }
  }
  return places;
}

void PassRecorder::prepare(const Dit& dit) {
  auto now = places_of(dit);
  if (now == places_) return;
  passes_.clear();
  places_ = std::move(now);
}

PassRecorder::Pass* PassRecorder::find(const at::Tensor& latents, const DitContext& context,
                                       const DitOptions& options) {
  const auto length = room_for(context.mask.size(1));
  const auto found = std::ranges::find_if(passes_, [&](const std::unique_ptr<Pass>& pass) {
    return pass->latents.sizes() == latents.sizes() && pass->context.mask.size(1) == length &&
           same_range(pass->options.weakened, options.weakened) &&
           pass->options.query_scale.defined() == options.query_scale.defined();
  });
  return found == passes_.end() ? nullptr : found->get();
}

/// Songs make new contexts and never change one: the same tokens are the same context.
void PassRecorder::load(Pass& pass, const at::Tensor& latents, double timestep,
                        const DitContext& context, const DitOptions& options) {
  pass.latents.copy_(latents);
  pass.timestep.fill_(timestep);
  if (pass.loaded.is_same(context.tokens)) return;
  copy_context(context, pass.context);
  if (options.query_scale.defined()) pass.options.query_scale.copy_(options.query_scale);
  pass.loaded = context.tokens;
}

PassRecorder::Pass* PassRecorder::recorded(const Dit& dit, const at::Tensor& latents,
                                           double timestep, const DitContext& context,
                                           const DitOptions& options) {
  if (auto* known = find(latents, context, options)) {
    load(*known, latents, timestep, context, options);
    return known;
  }
  if (passes_.size() == kMostPasses) passes_.erase(passes_.begin());
  // Written to by songs in inference mode and by those without.
  const c10::InferenceMode normal(false);
  const at::NoGradGuard no_gradients;
  auto fresh = std::make_unique<Pass>();
  fresh->latents = at::empty(latents.sizes(), network_input(dit, latents).options());
  fresh->timestep = at::empty({1}, at::TensorOptions(at::kFloat).device(latents.device()));
  fresh->velocity = at::empty(latents.sizes(), fresh->timestep.options());
  fresh->context = room_for_context(context);
  fresh->options = options;
  if (options.query_scale.defined()) {
    fresh->options.query_scale = at::empty_like(options.query_scale);
  }
  load(*fresh, latents, timestep, context, options);
  const auto work = [&dit, &pass = *fresh] {
    const DitInput input{.latents = pass.latents, .timestep = pass.timestep};
    pass.velocity.copy_(dit.forward(input, pass.context, pass.options).velocity);
  };
  const auto* beside = passes_.empty() ? nullptr : passes_.back()->work.get();
  fresh->work = device::record(latents.device(), "a pass of acestep's transformer", work, beside);
  if (!fresh->work) return nullptr;
  fresh->tables = dit.tables();
  return passes_.emplace_back(std::move(fresh)).get();
}

at::Tensor PassRecorder::velocity(const Dit& dit, const at::Tensor& latents, double timestep,
                                  const DitContext& context, const DitOptions& options) {
  Pass* pass = nullptr;
  try {
    if (works_) pass = recorded(dit, latents, timestep, context, options);
  } catch (const std::exception& error) {
    if (!device::is_out_of_memory(error)) throw;
    log::warn_once("acestep.record",
                   "[acestep.record] there is no memory for a recorded pass: its kernels are "
                   "launched one by one, which is slower.");
  }
  if (pass == nullptr) {
    works_ = false;
    passes_.clear();
    return plain_velocity(dit, latents, timestep, context, options);
  }
  pass->work->replay();
  return pass->velocity.clone();
}

}  // namespace ubique::acestep
