// SPDX-License-Identifier: Apache-2.0
// Cuts, rearranges, and fits the result to a length.
#include "ubique/data/code/fim.h"

#include <algorithm>
#include <array>

#include "ubique/base/error.h"
#include "ubique/base/text/utf8.h"

namespace ubique::data {
namespace {

constexpr std::int64_t kSentinels = 3;
// Indices of the random values that one document uses.
enum FimDraw : std::uint64_t { kDrawRate = 0, kDrawOrder = 1, kDrawFirst = 2, kDrawSecond = 3 };

/// Byte offsets of the characters `first` and `second`.
std::array<std::size_t, 2> character_offsets(std::string_view text, std::int64_t first,
                                             std::int64_t second) {
  std::array<std::size_t, 2> offsets = {text.size(), text.size()};
  std::int64_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++count) {
    if (count == first) offsets[0] = at;
    if (count == second) {
      offsets[1] = at;
      return offsets;
    }
    at += code_point_at(text, at).length;
  }
  check(0 <= first && first <= second && second <= count, ErrorKind::Internal,
        "[data.fim] cuts at {} and {} of {} characters.", first, second, count);
  return offsets;
}

void append(std::vector<std::int32_t>& ids, const std::vector<std::int32_t>& more) {
  ids.insert(ids.end(), more.begin(), more.end());
}

}  // namespace

std::optional<FimTokens> find_fim_tokens(const io::Tokenizer& tokenizer) {
  for (const auto* form : {"<fim_{}>", "<fim-{}>", "<|fim_{}|>"}) {
    const auto find = [&](const char* part) {
      return tokenizer.find(fmt::format(fmt::runtime(form), part));
    };
    const auto prefix = find("prefix"), middle = find("middle"), suffix = find("suffix"),
               pad = find("pad");
    if (prefix && middle && suffix && pad) return FimTokens{*prefix, *middle, *suffix, *pad};
  }
  return std::nullopt;
}

FimParts cut_characters(std::string_view text, std::int64_t first, std::int64_t second,
                        const io::Tokenizer& tokenizer) {
  const auto [a, b] = character_offsets(text, first, second);
  return {tokenizer.encode(text.substr(0, a)), tokenizer.encode(text.substr(a, b - a)),
          tokenizer.encode(text.substr(b))};
}

FimParts cut_tokens(std::span<const std::int32_t> ids, std::int64_t first, std::int64_t second) {
  check(0 <= first && first <= second && second <= static_cast<std::int64_t>(ids.size()),
        ErrorKind::Internal, "[data.fim] cuts at {} and {} of {} tokens.", first, second,
        ids.size());
  return {{ids.begin(), ids.begin() + first},
          {ids.begin() + first, ids.begin() + second},
          {ids.begin() + second, ids.end()}};
}

std::vector<std::int32_t> arrange_fim(const FimParts& parts, FimOrder order,
                                      const FimTokens& tokens) {
  std::vector<std::int32_t> ids = {tokens.prefix};
  if (order == FimOrder::Psm) append(ids, parts.prefix);
  ids.push_back(tokens.suffix);
  append(ids, parts.suffix);
  ids.push_back(tokens.middle);
  if (order == FimOrder::Spm) append(ids, parts.prefix);
  append(ids, parts.middle);
  return ids;
}

std::optional<std::vector<std::int32_t>> arrange_fim_to(FimParts parts, FimOrder order,
                                                        const FimTokens& tokens,
                                                        std::int64_t length) {
  const auto suffix = static_cast<std::int64_t>(parts.suffix.size());
  const auto size =
      static_cast<std::int64_t>(parts.prefix.size() + parts.middle.size()) + suffix + kSentinels;
  if (size > length && suffix <= size - length) return std::nullopt;
  parts.suffix.resize(static_cast<std::size_t>(suffix + length - size), tokens.pad);
  return arrange_fim(parts, order, tokens);
}

void validate(const FimOptions& options) {
  for (const auto& [name, share] :
       {std::pair("--fim-rate", options.rate), std::pair("--fim-spm", options.spm_share)}) {
    check(share >= 0 && share <= 1, ErrorKind::Usage,
          "[data.fim] {} is a share; got {}, expected 0 to 1.", name, share);
  }
}

FimTransform::FimTransform(const io::Tokenizer& tokenizer, const FimOptions& options)
    : tokenizer_(&tokenizer), options_(options) {
  validate(options);
  const auto found = find_fim_tokens(tokenizer);
  check(found.has_value(), ErrorKind::Input,
        "[data.fim] the tokenizer has no fill-in-the-middle tokens; expected <fim_prefix>, "
        "<fim_middle>, <fim_suffix> and <fim_pad>. Train without (--fim-rate 0).");
  tokens_ = *found;
}

std::optional<FimParts> FimTransform::cut(std::span<const std::int32_t> ids,
                                          const Random& random) const {
  const auto draw = [&](std::int64_t count) {
    const auto bound = static_cast<std::uint64_t>(count) + 1;
    return std::minmax({random.below(kDrawFirst, bound), random.below(kDrawSecond, bound)});
  };
  if (!options_.characters) {
    const auto [first, second] = draw(static_cast<std::int64_t>(ids.size()));
    return cut_tokens(ids, static_cast<std::int64_t>(first), static_cast<std::int64_t>(second));
  }
  std::string text;
  for (const auto id : ids) text += tokenizer_->bytes(id);
  if (!is_utf8(text)) return std::nullopt;  // a window that begins or ends inside a character
  const auto count = std::count_if(text.begin(), text.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
  });
  const auto [first, second] = draw(count);
  return cut_characters(text, static_cast<std::int64_t>(first), static_cast<std::int64_t>(second),
                        *tokenizer_);
}

bool FimTransform::apply(std::span<std::int32_t> ids, const Random& random) const {
  if (!random.bernoulli(kDrawRate, options_.rate)) return false;
  const auto size = static_cast<std::int64_t>(ids.size());
  std::int64_t header = size;
  while (header > 0 && !tokenizer_->is_special(ids[static_cast<std::size_t>(header - 1)])) --header;
  if (2 * header > size) return false;
  const auto rest = ids.subspan(static_cast<std::size_t>(header));
  auto parts = cut(rest, random);
  if (!parts) return false;
  const auto order =
      random.bernoulli(kDrawOrder, options_.spm_share) ? FimOrder::Spm : FimOrder::Psm;
  const auto made =
      arrange_fim_to(std::move(*parts), order, tokens_, static_cast<std::int64_t>(rest.size()));
  if (!made) return false;
  std::copy(made->begin(), made->end(), rest.begin());
  return true;
}

}  // namespace ubique::data
