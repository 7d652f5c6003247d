// SPDX-License-Identifier: Apache-2.0
// Stored forms of token ids, and documents in memory.
#include "ubique/data/code/token_documents.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "ubique/base/error.h"
#include "ubique/base/files/digest.h"
#include "ubique/base/text/printable.h"
#include "ubique/data/code/tokenizer_hash.h"

namespace ubique::data {
namespace {

static_assert(std::endian::native == std::endian::little, "token files are little endian");

template <typename Stored>
void copy_tokens_out(std::span<const std::byte> stored, std::span<std::int32_t> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    Stored id{};
    std::memcpy(&id, stored.data() + i * sizeof(Stored), sizeof(Stored));
    out[i] = static_cast<std::int32_t>(id);
  }
}

template <typename Stored>
void copy_tokens_in(std::span<const std::int32_t> ids, std::byte* stored) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto id = static_cast<Stored>(ids[i]);
    std::memcpy(stored + i * sizeof(Stored), &id, sizeof(Stored));
  }
}

}  // namespace

std::vector<std::int32_t> TokenDocuments::document(std::int64_t document) const {
  std::vector<std::int32_t> ids(static_cast<std::size_t>(length(document)));
  read(document, 0, ids);
  return ids;
}

void unpack_tokens(std::span<const std::byte> stored, std::size_t width,
                   std::span<std::int32_t> out) {
  check(stored.size() >= out.size() * width, ErrorKind::Internal,
        "[data.code] {} bytes are too few for {} tokens.", stored.size(), out.size());
  width == 2 ? copy_tokens_out<std::uint16_t>(stored, out)
             : copy_tokens_out<std::uint32_t>(stored, out);
}

void pack_tokens(std::span<const std::int32_t> ids, std::size_t width,
                 std::vector<std::byte>& stored) {
  const auto before = stored.size();
  stored.resize(before + ids.size() * width);
  auto* target = stored.data() + before;
  width == 2 ? copy_tokens_in<std::uint16_t>(ids, target)
             : copy_tokens_in<std::uint32_t>(ids, target);
}

CodeDocuments::CodeDocuments(const io::Tokenizer& tokenizer, std::int64_t vocabulary)
    : tokenizer_hash_(data::tokenizer_hash(tokenizer)),
      vocabulary_(vocabulary),
      end_of_text_(data::end_of_text(tokenizer)),
      width_(token_width(vocabulary)) {}

void CodeDocuments::add(const EncodedDocument& document) {
  check_token_ids(document, vocabulary_);
  entries_.push_back({tokens(), document.prompt_length, document.info});
  pack_tokens(document.ids, width_, stored_);
  fingerprint_.clear();
}

CodeDocuments CodeDocuments::chosen(std::span<const std::int64_t> documents) const {
  auto part = *this;
  part.stored_.clear();
  part.entries_.clear();
  part.fingerprint_.clear();
  for (const auto index : documents) {
    part.add({document(index), prompt_length(index), info(index)});
  }
  return part;
}

std::int64_t CodeDocuments::tokens() const {
  return static_cast<std::int64_t>(stored_.size() / width_);
}

std::int64_t CodeDocuments::end_of(std::int64_t document) const {
  const auto next = static_cast<std::size_t>(document) + 1;
  return next < entries_.size() ? entries_[next].first : tokens();
}

std::int64_t CodeDocuments::length(std::int64_t document) const {
  return end_of(document) - entries_.at(static_cast<std::size_t>(document)).first;
}

std::int64_t CodeDocuments::prompt_length(std::int64_t document) const {
  return entries_.at(static_cast<std::size_t>(document)).prompt_length;
}

DocumentInfo CodeDocuments::info(std::int64_t document) const {
  return entries_.at(static_cast<std::size_t>(document)).info;
}

void CodeDocuments::read(std::int64_t document, std::int64_t first,
                         std::span<std::int32_t> out) const {
  const auto start = entries_.at(static_cast<std::size_t>(document)).first + first;
  unpack_tokens(std::span(stored_).subspan(static_cast<std::size_t>(start) * width_), width_, out);
}

const std::string& CodeDocuments::fingerprint() const {
  if (fingerprint_.empty()) {
    auto text = tokenizer_hash_ + digest_of(stored_);
    for (const auto& entry : entries_) {
      text += fmt::format(" {}:{}", entry.first, entry.prompt_length);
    }
    fingerprint_ = digest_of(text);
  }
  return fingerprint_;
}

}  // namespace ubique::data
