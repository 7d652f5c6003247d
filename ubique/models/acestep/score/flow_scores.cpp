// SPDX-License-Identifier: Apache-2.0
// One clip at all levels is a batch.
#include "ubique/models/acestep/score/flow_scores.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>

#include "ubique/base/text/json.h"
#include "ubique/engine/ranks/rank_jobs.h"

namespace ubique::acestep {

engine::Scores FlowScores::named() const {
  engine::Scores scores = {{"loss", loss}};
  for (std::size_t i = 0; i < by_sigma.size(); ++i) {
    scores.emplace_back(fmt::format("sigma_{}", kScoreSigmas[i]), by_sigma[i]);
  }
  return scores;
}

FlowScores score_flow(const Dit& dit, const Umt5& text_encoder, const SongDataset& songs,
                      std::int64_t most) {
  const at::NoGradGuard no_gradients;
  const auto all = static_cast<std::int64_t>(songs.clips().size());
  const auto device = dit.weights().text.bias.device();
  FlowScores scores{.by_sigma = std::vector<double>(kScoreSigmas.size(), 0.0)};
  scores.clips = most > 0 ? std::min(most, all) : all;
  const auto losses_of = [&](std::int64_t clip) -> Json {
    auto batch = songs.fixed_batch(clip, kScoreSigmas);
    for (auto& [name, tensor] : batch.tensors) tensor = tensor.to(device);
    const auto loss =
        song_loss(dit, text_encoder, batch, {.ssl_coefficient = 0}).by_item.cpu().contiguous();
    const auto* values = loss.const_data_ptr<float>();
    return std::vector<float>(values, values + kScoreSigmas.size());
  };
  for (const auto& losses : engine::share_jobs(scores.clips, losses_of)) {
    for (std::size_t i = 0; i < kScoreSigmas.size(); ++i) {
      scores.by_sigma[i] += losses[i].get<double>() / static_cast<double>(scores.clips);
    }
  }
  for (const auto value : scores.by_sigma) {
    scores.loss += value / static_cast<double>(scores.by_sigma.size());
  }
  return scores;
}

}  // namespace ubique::acestep
