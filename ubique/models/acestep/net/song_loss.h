// SPDX-License-Identifier: Apache-2.0
// The loss of a batch of songs: conditions from tokens, noisy latents, the recovered clean ones.
#pragma once

#include <string>
#include <vector>

#include "ubique/engine/contract/batch.h"
#include "ubique/models/acestep/net/dit.h"
#include "ubique/models/acestep/net/umt5.h"

namespace ubique::acestep {

struct SongLossOptions {
  bool training = false;                  ///< dropout
  bool recompute = false;                 ///< gradient checkpointing
  engine::BlockWeights* split = nullptr;  ///< as in DitOptions
  bool train_text = false;                ///< gradients for the text encoder too
  double ssl_coefficient = 1;             ///< of the losses towards features of audio encoders
  /// Padding as in the original: its norm and convolutions read it, an item weighs the square of
  /// the share of its frames, and lyrics stand behind the padding of the tags.
  bool original_padding = false;
};

struct SongLoss {
  at::Tensor total, denoising;  ///< f32 scalars with gradients
  at::Tensor by_item;           ///< (B): the denoising loss of each item over its own frames
  engine::NamedTensors ssl;     ///< by encoder, where the batch has its features
};

/// Tensors of the batch: "latents" and "noise" (B, C, 16, T), "sigmas" (B), "text_ids",
/// "text_mask", "lyric_ids", "lyric_mask" (B, S and L), "keep_text" (B), "speaker" (B, size);
/// "frames" (B, T) if some are padding, "order" (B, E) if some tokens are; "ssl.NAME" (B, F, size)
/// with "ssl_frames.NAME" (B) where there are features.
SongLoss song_loss(const Dit& dit, const Umt5& text_encoder, const engine::Batch& batch,
                   const SongLossOptions& options);

}  // namespace ubique::acestep
