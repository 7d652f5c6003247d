// SPDX-License-Identifier: Apache-2.0
// Incremental decoding as chat and completion see it: token ids in, what comes next out. A decoder
// holds one text in each slot; texts have lengths of their own, so that one may begin while others
// go on. A family implements the passes over its own network and KV caches.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ubique/nn/decode/sampling.h"

namespace ubique::nn {

/// Tokens to append to the text of a slot.
struct Extension {
  std::int64_t slot = 0;
  std::span<const std::int32_t> tokens = {};
};

/// What is read from the device: the likeliest token alone, the kRanked likeliest with their logits
/// (a decoder may give the logits of all instead), or the logits of all.
enum class Wanted { Likeliest, Ranked, Logits };

constexpr std::int64_t kRanked = 128;

/// What the model expects after some tokens, one row for each.
struct Predictions {
  std::vector<std::int32_t> likeliest = {};  ///< if these were wanted
  std::vector<TokenLogit> ranked = {};  ///< if these: rows of kRanked (or all), as rank_logits()
  std::vector<float> logits = {};       ///< if these: rows of vocabulary() values

  void add(const Predictions& more);  ///< rows behind these
};

class Decoder {
 public:
  explicit Decoder(std::int64_t slots = 1) : texts_(static_cast<std::size_t>(slots)) {}
  virtual ~Decoder() = default;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  virtual std::int64_t context_length() const = 0;  ///< tokens that a text can have
  virtual std::int64_t vocabulary() const = 0;
  std::int64_t slots() const { return static_cast<std::int64_t>(texts_.size()); }
  /// The tokens of a slot whose keys and values are cached.
  const std::vector<std::int32_t>& tokens(std::int64_t slot = 0) const;

  /// Replaces the text of a slot (1 to context_length() tokens); positions shared with its text so
  /// far, from the start, are not computed again. Predicts what follows the last token.
  Predictions start(const Extension& text, Wanted wanted);
  /// The same for several slots, each named once: one row each.
  Predictions start_each(std::span<const Extension> texts, Wanted wanted);
  /// Appends to several slots, each named once, in one pass. Predicts what follows each token, in
  /// their order.
  Predictions extend(std::span<const Extension> extensions, Wanted wanted);
  /// Drops the end of a text.
  void shorten(std::int64_t slot, std::int64_t length);

  /// Slot 0 alone, as logits on the host.
  std::vector<float> prefill(std::span<const std::int32_t> tokens);
  std::vector<float> step(std::int32_t token);

 protected:
  /// Computes tokens that follow tokens(slot), and predicts what follows the last `predicted`.
  virtual Predictions append(const Extension& extension, std::int64_t predicted, Wanted wanted) = 0;
  /// The same for all tokens of several slots: one after the other, unless a family can do better.
  virtual Predictions append_each(std::span<const Extension> extensions, Wanted wanted);
  /// The ends of prompts of several slots in one pass, which predicts what follows the last token
  /// of each; nothing where a family cannot, or would be faster with append().
  virtual std::optional<Predictions> append_prompts(std::span<const Extension> /*prompts*/,
                                                    Wanted /*wanted*/) {
    return {};
  }

 private:
  std::span<const std::int32_t> keep_shared(const Extension& wanted_text);
  Predictions append_pieces(const Extension& prompt, Wanted wanted);
  std::vector<std::int32_t>& text(std::int64_t slot);
  void check_tokens(std::span<const std::int32_t> tokens) const;
  void remember(const Extension& extension);

  std::vector<std::vector<std::int32_t>> texts_;
};

/// The likeliest token of each row of logits (rows, V) with its logit, on their device: (rows, 2)
/// f32, which holds ids below 2^24 exactly. Of equal logits the first counts.
at::Tensor likeliest_of(const at::Tensor& logits);
/// Input error for a largest logit that is no number.
void check_logit(float logit, std::int64_t token);
/// Reads these on the host. Input error for a logit that is no number.
Predictions read_likeliest(const at::Tensor& likeliest);
/// The kRanked largest of each row of logits, ranked on their device and read at once. Input error
/// for a largest logit that is no number.
std::vector<TokenLogit> read_ranked(const at::Tensor& logits);
/// Reads what is wanted of logits (rows, V).
Predictions read_predictions(const at::Tensor& logits, Wanted wanted);

}  // namespace ubique::nn
