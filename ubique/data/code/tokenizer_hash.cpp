// SPDX-License-Identifier: Apache-2.0
// Writes the tokenizer's content in one canonical order and hashes that.
#include "ubique/data/code/tokenizer_hash.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "ubique/base/error.h"
#include "ubique/base/files/digest.h"
#include "ubique/base/text/printable.h"

namespace ubique::data {

std::string tokenizer_hash(const io::Tokenizer& tokenizer) {
  // Each text is preceded by its length, so that no two contents give the same bytes.
  std::string text;
  const auto out = std::back_inserter(text);
  const auto& model = tokenizer.model();
  auto tokens = model.vocabulary;
  for (const auto& added : model.added) tokens.emplace_back(added.content, added.id);
  std::sort(tokens.begin(), tokens.end(),
            [](const auto& a, const auto& b) { return a.second < b.second; });
  std::int32_t last = -1;
  for (const auto& [spelling, id] : tokens) {
    // An added token may stand in the vocabulary as well.
    if (id != last) fmt::format_to(out, "t{}:{}:{}", id, spelling.size(), spelling);
    last = id;
  }
  for (const auto& [left, right] : model.merges) {
    fmt::format_to(out, "m{}:{}{}:{}", left.size(), left, right.size(), right);
  }
  auto added = model.added;
  std::sort(added.begin(), added.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  for (const auto& token : added) {
    fmt::format_to(out, "a{}:{:d}{:d}{:d}", token.id, token.special, token.strip_left,
                   token.strip_right);
  }
  for (const auto step : model.split) fmt::format_to(out, "s{}", static_cast<int>(step));
  fmt::format_to(out, "i{:d}", model.ignore_merges);
  return digest_of(text);
}

std::int32_t end_of_text(const io::Tokenizer& tokenizer) {
  for (const auto* name : {"<|endoftext|>", "<|end_of_text|>", "</s>", "<eos>"}) {
    if (const auto id = tokenizer.find(name)) return *id;
  }
  fail(ErrorKind::Input,
       "[data.code] the tokenizer has no end-of-text token; expected <|endoftext|>, "
       "<|end_of_text|>, </s> or <eos>, which joins documents.");
}

void check_token_ids(const EncodedDocument& document, std::int64_t vocabulary) {
  const auto& ids = document.ids;
  const auto bad = std::find_if(ids.begin(), ids.end(),
                                [&](std::int32_t id) { return id < 0 || id >= vocabulary; });
  if (bad != ids.end()) {
    fail(
        ErrorKind::Input,
        "[data.code] {}: token {} is outside the vocabulary; got id {}, expected 0 to {}. The data "
        "were made with another tokenizer: make them again with this model's.",
        printable(document.info.path), bad - ids.begin(), *bad, vocabulary - 1);
  }
  check(document.prompt_length >= 0 &&
            document.prompt_length <= static_cast<std::int64_t>(ids.size()),
        ErrorKind::Input, "[data.code] {}: the prompt has {} tokens, the whole document {}.",
        printable(document.info.path), document.prompt_length, ids.size());
}

}  // namespace ubique::data
