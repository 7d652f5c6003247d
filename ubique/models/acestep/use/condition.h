// SPDX-License-Identifier: Apache-2.0
// What a song is conditioned on: tags and lyrics as tokens, and the contexts that guidance
// compares.
#pragma once

#include <optional>

#include "ubique/models/acestep/net/dit.h"
#include "ubique/models/acestep/net/umt5.h"

namespace ubique::acestep {

/// Tokens of one prompt for all items of a batch; mask 0 = padding. No lyrics: one id 0, mask 0.
struct SongTokens {
  at::Tensor text_ids, text_mask;    ///< (B, S) i64
  at::Tensor lyric_ids, lyric_mask;  ///< (B, L) i64
};

/// ERG guidance: the null branch is a weakened one instead of an empty one. Layers as in the
/// original; shallower networks have fewer.
struct WeakBranch {
  bool text = false, lyric = false, diffusion = false;
  LayerRange text_layers = {.first = 8, .last = 10};
  LayerRange lyric_layers = {.first = 4, .last = 6};
  LayerRange blocks = {.first = 15, .last = 20};
};

struct SongContexts {
  DitContext cond, null;
  std::optional<DitContext> text_only = {};  ///< for double guidance
};

/// Which branches guidance will ask for.
struct BranchOptions {
  WeakBranch weak = {};
  bool text_only = false;
  /// The null branch reads no lyric positions either, as in training; else it reads empty ones.
  bool null_hides_lyrics = false;
};

/// What the text encoder makes of the tags; after it, a song needs that network no more.
struct TextStates {
  at::Tensor full;       ///< (B, S, H)
  at::Tensor weak = {};  ///< the same from the weakened layers; undefined if no branch reads it
};

TextStates encode_text(const Umt5& text_encoder, const SongTokens& tokens, const WeakBranch& weak);
SongContexts encode_song(const TextStates& text, const Dit& dit, const SongTokens& tokens,
                         const BranchOptions& options);
SongContexts encode_song(const Umt5& text_encoder, const Dit& dit, const SongTokens& tokens,
                         const BranchOptions& options);

/// Contexts of one item for a batch of `items`; nothing is copied.
SongContexts repeated(const SongContexts& one, std::int64_t items);

/// Two contexts of one length as one batch.
DitContext joined(const DitContext& a, const DitContext& b);

}  // namespace ubique::acestep
