// SPDX-License-Identifier: Apache-2.0
// Times updates of LoRA adapters on one clip through the engine's learner, as `ubique train
// acestep` makes them: text encoder and transformer frozen, their weights in what products are
// computed in.
#include <ATen/ATen.h>

#include "bench/acestep/bench_acestep.h"
#include "bench/updates.h"
#include "ubique/base/text/json.h"
#include "ubique/models/acestep/net/model.h"
#include "ubique/models/acestep/use/sample.h"
#include "ubique/probe/probes/operation.h"

namespace ubique::bench {
namespace {

engine::Batch noise_clip(const acestep::NetworkConfigs& networks, std::int64_t frames) {
  const auto ids = [](std::int64_t count, std::int64_t vocabulary) {
    return at::randint(vocabulary, {1, count}, at::kLong);
  };
  const auto text = ids(kTagTokens, networks.text.vocabulary);
  const auto lyrics = ids(kLyricTokens, networks.transformer.lyric.vocabulary);
  engine::Batch batch;
  batch.samples = 1;
  batch.weight = 1;
  batch.tensors = {{"latents", at::randn({1, 8, 16, frames})},
                   {"noise", at::randn({1, 8, 16, frames})},
                   {"sigmas", at::full({1}, 0.6)},
                   {"text_ids", text},
                   {"text_mask", at::ones_like(text)},
                   {"lyric_ids", lyrics},
                   {"lyric_mask", at::ones_like(lyrics)},
                   {"keep_text", at::ones({1})},
                   {"speaker", at::zeros({1, networks.transformer.speaker_size})}};
  return batch;
}

class ClipTask final : public engine::Task {
 public:
  /// The frozen networks are made on the device.
  ClipTask(const SongCase& wanted, const acestep::NetworkConfigs& networks,
           const at::TensorOptions& options)
      : model_(std::make_shared<acestep::Dit>(networks.transformer, options)) {
    fill(model_.dit());
    auto text = std::make_shared<acestep::Umt5>(networks.text, options);
    fill(*text);
    model_.set_text_encoder(std::move(text), false);
    model_.add_adapter({.rank = 16, .alpha = 32});
    model_.quantize_base(wanted.form);
    model_.set_sample_size(
        {.frames = acestep::frames_of(wanted.seconds), .context = 1 + kTagTokens + kLyricTokens});
    recipe_.optimizer.lr = 1e-4;
  }
  engine::Model& model() override { return model_; }
  const engine::Dataset& training_set() override { throw std::logic_error("not asked for"); }
  const engine::Recipe& recipe() const override { return recipe_; }
  engine::Scores validate() override { return {}; }

 private:
  acestep::AcestepModel model_;
  engine::Recipe recipe_;
};

}  // namespace

Json time_training(const SongCase& wanted) {
  const auto networks = networks_of(wanted);
  auto wishes = wishes_of(wanted, plan::Mode::Train);
  wishes.batch = wishes.effective_batch = 1;
  const auto device = device::select(device::parse_request(wanted.device)).torch_device;
  const auto stored = wishes.dtype ? probe::to_torch(*wishes.dtype) : at::kFloat;
  ClipTask task(wanted, networks, at::TensorOptions(stored).device(device));
  const engine::Session session(task.model().needs(), wishes);
  const auto clip = noise_clip(networks, acestep::frames_of(wanted.seconds));
  const auto measured = time_updates(task, session, clip, static_cast<int>(wanted.rounds));
  const auto& plan = session.plan();
  return {{"median_ms", measured.ms},
          {"best_ms", measured.best_ms},
          {"dtype", to_string(plan.dtype.value)},
          {"checkpointing", plan.checkpointing.value},
          {"predicted_bytes", plan.memory.total},
          {"peak_bytes", measured.peak},
          {"warm_peak_bytes", measured.warm_peak}};
}

}  // namespace ubique::bench
