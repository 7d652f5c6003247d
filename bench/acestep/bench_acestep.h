// SPDX-License-Identifier: Apache-2.0
// What the benchmarks of ACE-Step share: the case, and networks filled with noise.
#pragma once

#include <optional>
#include <string>

#include "ubique/base/text/json_fwd.h"
#include "ubique/engine/session/session.h"
#include "ubique/models/acestep/net/config/networks.h"
#include "ubique/nn/layers/network.h"

namespace ubique::bench {

struct SongCase {
  std::string device, work, size;
  double seconds = 10;
  std::int64_t steps = 27, batch = 2, rounds = 3;
  std::string dtype = {}, form = {}, checkpointing = "auto";
  bool record = true;
  // As `run` chooses, if not given.
  std::optional<std::int64_t> tile = {};
  std::optional<bool> channels_last = {}, half = {};
};

/// Values that neither vanish nor explode, made quickly where the network is.
void fill(nn::Network& network);
/// Of the case, without projectors.
acestep::NetworkConfigs networks_of(const SongCase& wanted);
plan::Wishes wishes_of(const SongCase& wanted, plan::Mode mode);
/// Tokens of tags and lyrics of a usual song.
inline constexpr std::int64_t kTagTokens = 40, kLyricTokens = 260;

/// An update of LoRA adapters over frozen weights, on one clip.
Json time_training(const SongCase& wanted);

}  // namespace ubique::bench
