// SPDX-License-Identifier: Apache-2.0
// The conditional, null and text-only branches.
#include "ubique/models/acestep/use/condition.h"

#include <ATen/ATen.h>

namespace ubique::acestep {
namespace {

/// Speakers are not used by the released weights: zeros.
at::Tensor no_speaker(const Dit& dit, const at::Tensor& text) {
  return at::zeros({text.size(0), dit.config().speaker_size}, text.options());
}

}  // namespace

SongContexts encode_song(const Umt5& text_encoder, const Dit& dit, const SongTokens& tokens,
                         const BranchOptions& options) {
  const auto& weak = options.weak;
  const auto dtype = dit.weights().text.weight.scalar_type();
  const auto text = text_encoder.forward(tokens.text_ids, tokens.text_mask).to(dtype);
  const DitCondition full{.text = text,
                          .text_mask = tokens.text_mask,
                          .speaker = no_speaker(dit, text),
                          .lyric_ids = tokens.lyric_ids,
                          .lyric_mask = tokens.lyric_mask};
  auto without_lyrics = full;
  without_lyrics.lyric_ids = at::zeros_like(full.lyric_ids);
  auto empty = weak.lyric ? full : without_lyrics;
  empty.text = at::zeros_like(text);
  if (options.null_hides_lyrics) empty.lyric_mask = at::zeros_like(full.lyric_mask);
  if (weak.text && weak.lyric) {
    empty.text =
        text_encoder.forward(tokens.text_ids, tokens.text_mask, weak.text_layers).to(dtype);
  }
  const auto weak_lyrics = weak.lyric ? weak.lyric_layers : LayerRange();
  SongContexts contexts;
  contexts.cond = dit.encode(full);
  contexts.null = dit.encode(empty, false, weak_lyrics);
  if (options.text_only) {
    contexts.text_only = dit.encode(weak.lyric ? full : without_lyrics, false, weak_lyrics);
  }
  return contexts;
}

DitContext joined(const DitContext& a, const DitContext& b) {
  DitContext both{.tokens = at::cat({a.tokens, b.tokens}), .mask = at::cat({a.mask, b.mask})};
  for (std::size_t i = 0; i < a.keys.size(); ++i) {
    both.keys.push_back(
        {at::cat({a.keys[i].keys, b.keys[i].keys}), at::cat({a.keys[i].values, b.keys[i].values})});
  }
  return both;
}

}  // namespace ubique::acestep
