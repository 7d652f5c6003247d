// SPDX-License-Identifier: Apache-2.0
// Secrets, duplicates and the split.
#include "ubique/data/code/filter/document_filter.h"

#include <algorithm>
#include <cmath>

#include "ubique/base/error.h"
#include "ubique/base/files/digest.h"
#include "ubique/base/numbers/random.h"
#include "ubique/base/text/json.h"
#include "ubique/base/text/names.h"
#include "ubique/data/code/filter/secrets.h"

namespace ubique::data {
namespace {

constexpr NameTable<SecretsMode, 3> kSecretsModes = {
    {{SecretsMode::Replace, "replace"}, {SecretsMode::Drop, "drop"}, {SecretsMode::Keep, "keep"}}};
constexpr std::uint64_t kSplitStream = 21;

/// The ids with the found bytes replaced; what a cut token holds beside them is encoded again.
void replace_secrets(EncodedDocument& document, const std::string& text,
                     const std::vector<Secret>& secrets, TextEncoder& encoder) {
  std::vector<std::int32_t> ids;
  auto prompt = document.prompt_length;
  std::size_t at = 0, token = 0;  // the next byte and token
  const auto size = [&](std::size_t i) {
    return encoder.tokenizer().bytes(document.ids[i]).size();
  };
  const auto skip_past = [&](std::size_t end) {
    while (token < document.ids.size() && at + size(token) <= end) at += size(token++);
  };
  for (const auto& secret : secrets) {
    const auto end = secret.first + secret.length;
    for (; token < document.ids.size() && at + size(token) <= secret.first; ++token) {
      ids.push_back(document.ids[token]);
      at += size(token);
    }
    if (at > secret.first) continue;  // inside a token that was replaced already
    const auto first = token;
    const auto made = ids.size();
    auto around = text.substr(at, secret.first - at) + std::string(kSecretPlaceholder);
    skip_past(end);
    if (at < end && token < document.ids.size()) {  // the last token goes on behind the secret
      at += size(token++);
      around += text.substr(end, at - end);
    }
    encoder.encode(around, ids);
    if (static_cast<std::int64_t>(first) < document.prompt_length) {
      const auto change =
          static_cast<std::int64_t>(ids.size() - made) - static_cast<std::int64_t>(token - first);
      prompt += change;
    }
  }
  ids.insert(ids.end(), document.ids.begin() + static_cast<std::ptrdiff_t>(token),
             document.ids.end());
  document.ids = std::move(ids);
  document.prompt_length =
      std::clamp<std::int64_t>(prompt, 0, static_cast<std::int64_t>(document.ids.size()));
}

}  // namespace

SecretsMode parse_secrets_mode(std::string_view text) {
  return parse_name(kSecretsModes, "data.code", "treatment of secrets", text);
}

std::string_view to_string(SecretsMode mode) { return name_of(kSecretsModes, mode); }

void validate(const FilterOptions& options) {
  check(options.val_share >= 0 && options.val_share < 1, ErrorKind::Usage,
        "[data.code] --val-share is a share; got {}, expected at least 0 and below 1.",
        options.val_share);
  for (const auto& [name, value] : {std::pair("--near-duplicates", options.near_duplicates),
                                    std::pair("--same-side", options.same_side)}) {
    check(value >= 0.3, ErrorKind::Usage,
          "[data.code] {} is a similarity; got {}, expected 0.3 to 1 (above 1: off).", name, value);
  }
}

Json to_json(const FilterOptions& options) {
  return {{"secrets", to_string(options.secrets)},
          {"exact", options.exact},
          {"near_duplicates", options.near_duplicates},
          {"same_side", options.same_side},
          {"val_share", options.val_share},
          {"seed", options.seed},
          {"least_tokens", options.least_tokens}};
}

DocumentFilter::DocumentFilter(const FilterOptions& options, TextEncoder& encoder,
                               DropReport& report)
    : options_(options),
      encoder_(encoder),
      report_(report),
      index_(std::min(options.near_duplicates, options.same_side)) {
  validate(options);
}

/// False if the document is to be dropped.
bool DocumentFilter::clean_secrets(EncodedDocument& document) {
  if (options_.secrets == SecretsMode::Keep || document.no_secret) return true;
  std::string text;
  text.reserve(document.ids.size() * 4);
  for (const auto id : document.ids) text += encoder_.tokenizer().bytes(id);
  const auto secrets = find_secrets(text);
  if (secrets.empty()) return true;
  if (options_.secrets == SecretsMode::Drop) {
    report_.drop("secret_" + std::string(secrets.front().kind), document.info);
    return false;
  }
  for (const auto& secret : secrets) {
    report_.change("secret_" + std::string(secret.kind), document.info);
  }
  replace_secrets(document, text, secrets, encoder_);
  return true;
}

bool DocumentFilter::is_dropped(Candidate& candidate) {
  const auto& document = candidate.document;
  const auto drop = [&](std::string_view reason) {
    report_.drop(reason, document.info);
    return true;
  };
  if (static_cast<std::int64_t>(document.ids.size()) < options_.least_tokens) return drop("short");
  if (!clean_secrets(candidate.document)) return true;
  candidate.digest = xxh64(std::as_bytes(std::span(document.ids)));
  const auto same = digests_.find(candidate.digest);
  if (same != digests_.end()) {
    if (options_.exact) return drop("duplicate");
    (same->second ? candidate.near_val : candidate.near_train) = true;
  }
  candidate.hash = min_hash(document.ids);
  if (!candidate.hash) return false;
  for (const auto& match : index_.find(*candidate.hash)) {
    if (match.similarity >= options_.near_duplicates) return drop("near_duplicate");
    if (match.similarity < options_.same_side) continue;
    (sides_[match.document] ? candidate.near_val : candidate.near_train) = true;
  }
  return false;
}

/// One unit of each run of 1 / val_share units is for validation; which one, the seed says. So the
/// share holds in every part of the data.
bool DocumentFilter::next_side() {
  const auto unit = units_++;
  if (options_.val_share <= 0) return false;
  const auto block = std::floor(static_cast<double>(unit) * options_.val_share);
  const auto start = static_cast<std::int64_t>(std::ceil(block / options_.val_share));
  const auto end = static_cast<std::int64_t>(std::ceil((block + 1) / options_.val_share));
  const auto chosen =
      Random(options_.seed, kSplitStream)
          .below(static_cast<std::uint64_t>(block),
                 static_cast<std::uint64_t>(std::max<std::int64_t>(1, end - start)));
  return unit - start == static_cast<std::int64_t>(chosen);
}

void DocumentFilter::keep(const Candidate& candidate, bool val) {
  digests_.emplace(candidate.digest, val);
  if (!candidate.hash) return;
  index_.add(*candidate.hash);
  sides_.push_back(val);
}

void DocumentFilter::remember(const EncodedDocument& document, bool val) {
  Candidate candidate;
  candidate.digest = xxh64(std::as_bytes(std::span(document.ids)));
  candidate.hash = min_hash(document.ids);
  keep(candidate, val);
}

std::vector<PlacedDocument> DocumentFilter::place(std::vector<EncodedDocument>&& unit) {
  std::vector<Candidate> kept;
  std::vector<std::uint64_t> own;  // documents of this unit must differ as well
  for (auto& document : unit) {
    Candidate candidate;
    candidate.document = std::move(document);
    if (is_dropped(candidate)) continue;
    if (options_.exact && std::find(own.begin(), own.end(), candidate.digest) != own.end()) {
      report_.drop("duplicate", candidate.document.info);
      continue;
    }
    own.push_back(candidate.digest);
    kept.push_back(std::move(candidate));
  }
  if (kept.empty()) return {};
  const auto like = std::find_if(kept.begin(), kept.end(), [](const Candidate& candidate) {
    return candidate.near_train || candidate.near_val;
  });
  const bool drawn = next_side();
  // A unit like earlier documents follows the first of them.
  const bool val = like == kept.end() ? drawn : !like->near_train;
  std::vector<PlacedDocument> placed;
  for (auto& candidate : kept) {
    if (val ? candidate.near_train : candidate.near_val) {
      report_.drop("near_duplicate_in_other_split", candidate.document.info);
      continue;
    }
    keep(candidate, val);
    placed.push_back({std::move(candidate.document), val});
  }
  return placed;
}

std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>> split_documents(
    const TokenDocuments& documents, double val_share, std::uint64_t seed) {
  // An encoder is needed for secrets only, which are kept here.
  const io::Tokenizer none(io::TokenizerModel{});
  TextEncoder encoder(none);
  DropReport report;
  DocumentFilter filter({.secrets = SecretsMode::Keep,
                         .exact = false,
                         .near_duplicates = 2,
                         .val_share = val_share,
                         .seed = seed,
                         .least_tokens = 0},
                        encoder, report);
  std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>> sides;
  for (std::int64_t i = 0; i < documents.size(); ++i) {
    std::vector<EncodedDocument> unit;
    unit.push_back({documents.document(i), 0, {}});
    const auto placed = filter.place(std::move(unit));
    // One that is like documents on both sides would leak either way: it is for training only if
    // nothing like it is held out.
    const bool val = placed.empty() || placed.front().val;
    (val ? sides.second : sides.first).push_back(i);
  }
  return sides;
}

}  // namespace ubique::data
