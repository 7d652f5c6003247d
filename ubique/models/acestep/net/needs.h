// SPDX-License-Identifier: Apache-2.0
// What a song needs of a machine, by arithmetic on the configurations: no network is built, so that
// models larger than this machine can be planned.
#pragma once

#include <optional>

#include "ubique/kernels/quant/quantized_weight.h"
#include "ubique/models/acestep/net/config/networks.h"
#include "ubique/plan/needs.h"

namespace ubique::acestep {

inline constexpr double kLongestPlanned = 240;

using WeightFormat = std::optional<kernels::QuantFormat>;  ///< none = as the plan's dtype says

struct SongSize {
  double seconds = 60;
  std::int64_t steps = 60;
  std::int64_t branches = 2;   ///< of guidance, in one batch
  std::int64_t context = 300;  ///< tokens of speaker, tags and lyrics
  std::int64_t tile = 64;      ///< latent frames that are decoded at once
  WeightFormat weights = {};   ///< of the transformer
};

/// The key `weights`. Usage error for an unknown form.
WeightFormat read_weight_format(const Config& config);

/// Of the transformer alone: training from prepared latents.
plan::Needs transformer_needs(const DitConfig& config, const SongSize& song);
/// Of all four networks: making a song, in stages.
plan::Needs song_needs(const NetworkConfigs& networks, const SongSize& song);

/// For `plan`: the sizes of read_networks() (released), and the keys `seconds`, `steps` and
/// `weights`.
plan::Needs read_song_needs(const Config& config);

}  // namespace ubique::acestep
