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

TextStates encode_text(const Umt5& text_encoder, const SongTokens& tokens, const WeakBranch& weak) {
  TextStates states{.full = text_encoder.forward(tokens.text_ids, tokens.text_mask)};
  if (weak.text && weak.lyric) {
    states.weak = text_encoder.forward(tokens.text_ids, tokens.text_mask, weak.text_layers);
  }
  return states;
}

SongContexts encode_song(const Umt5& text_encoder, const Dit& dit, const SongTokens& tokens,
                         const BranchOptions& options) {
  return encode_song(encode_text(text_encoder, tokens, options.weak), dit, tokens, options);
}

SongContexts encode_song(const TextStates& states, const Dit& dit, const SongTokens& tokens,
                         const BranchOptions& options) {
  const auto& weak = options.weak;
  const auto dtype = dit.weights().text.weight.scalar_type();
  const auto text = states.full.to(dtype);
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
  if (states.weak.defined()) empty.text = states.weak.to(dtype);
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

SongContexts repeated(const SongContexts& one, std::int64_t items) {
  const auto of = [items](const at::Tensor& x) {
    auto shape = x.sizes().vec();
    shape[0] = items;
    return x.expand(shape);
  };
  const auto context = [&](const DitContext& from) {
    DitContext made{.tokens = of(from.tokens), .mask = of(from.mask)};
    for (const auto& keys : from.keys) made.keys.push_back({of(keys.keys), of(keys.values)});
    return made;
  };
  SongContexts made{.cond = context(one.cond), .null = context(one.null)};
  if (one.text_only) made.text_only = context(*one.text_only);
  return made;
}

}  // namespace ubique::acestep
