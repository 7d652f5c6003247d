// SPDX-License-Identifier: Apache-2.0
// Fill-in-the-middle: a document is cut into prefix, middle and suffix and rearranged, so that a
// model learns to write what stands between two texts. PSM = PRE prefix SUF suffix MID middle,
// SPM = PRE SUF suffix MID prefix middle.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ubique/base/numbers/random.h"
#include "ubique/io/text/tokenizer.h"

namespace ubique::data {

/// The sentinel tokens of a tokenizer.
struct FimTokens {
  std::int32_t prefix = 0, middle = 0, suffix = 0, pad = 0;
};

/// <fim_prefix> and so on; with hyphens in santacoder, with bars in others. Nothing if one of the
/// four is missing.
std::optional<FimTokens> find_fim_tokens(const io::Tokenizer& tokenizer);

enum class FimOrder { Psm, Spm };

/// Prefix, middle and suffix as tokens.
struct FimParts {
  std::vector<std::int32_t> prefix, middle, suffix;
};

/// Cuts before characters (code points) `first` and `second` of the text, 0 <= first <= second, and
/// encodes the three parts one by one, as plain text.
FimParts cut_characters(std::string_view text, std::int64_t first, std::int64_t second,
                        const io::Tokenizer& tokenizer);
/// Cuts before tokens `first` and `second`.
FimParts cut_tokens(std::span<const std::int32_t> ids, std::int64_t first, std::int64_t second);

std::vector<std::int32_t> arrange_fim(const FimParts& parts, FimOrder order,
                                      const FimTokens& tokens);
/// The same with exactly `length` tokens: the suffix loses its end, or gets pad tokens. Nothing if
/// nothing of the suffix would be left.
std::optional<std::vector<std::int32_t>> arrange_fim_to(FimParts parts, FimOrder order,
                                                        const FimTokens& tokens,
                                                        std::int64_t length);

struct FimOptions {
  double rate = 0.5;       ///< share of the documents that are rearranged
  double spm_share = 0.5;  ///< of those, share in SPM order
  bool characters = true;  ///< cut between characters; else between tokens
};

/// Usage error for shares outside 0 to 1.
void validate(const FimOptions& options);

/// Rearranges documents at random places without changing their length.
class FimTransform {
 public:
  /// Input error for a tokenizer without the sentinels. The tokenizer must outlive this.
  FimTransform(const io::Tokenizer& tokenizer, const FimOptions& options);

  const FimTokens& tokens() const { return tokens_; }
  /// Rearranges `ids` in place, or leaves them as they are: by chance, or because they are too
  /// short, begin or end inside a character, or are mostly a header. What precedes the last special
  /// token stays in front. Returns whether it did. Depends on `random`'s stream alone.
  bool apply(std::span<std::int32_t> ids, const Random& random) const;

 private:
  std::optional<FimParts> cut(std::span<const std::int32_t> ids, const Random& random) const;

  const io::Tokenizer* tokenizer_;
  FimTokens tokens_;
  FimOptions options_;
};

}  // namespace ubique::data
