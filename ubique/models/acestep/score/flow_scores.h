// SPDX-License-Identifier: Apache-2.0
// How well a transformer recovers songs from noise: the training loss at fixed noise levels, with
// fixed noise, so that numbers of different weights can be compared.
#pragma once

#include <vector>

#include "ubique/models/acestep/data/dataset.h"
#include "ubique/models/acestep/net/song_loss.h"

namespace ubique::acestep {

/// From little noise to nearly nothing but noise.
inline const std::vector<double> kScoreSigmas = {0.1, 0.3, 0.5, 0.7, 0.9};

struct FlowScores {
  double loss = 0;                    ///< mean over clips and levels
  std::vector<double> by_sigma = {};  ///< mean over clips
  std::int64_t clips = 0;

  engine::Scores named() const;  ///< "loss", then "sigma_0.1" and so on
};

/// Of the first `most` clips (0: all), without gradients and dropout. All ranks, each its share.
FlowScores score_flow(const Dit& dit, const Umt5& text_encoder, const SongDataset& songs,
                      std::int64_t most = 0);

}  // namespace ubique::acestep
