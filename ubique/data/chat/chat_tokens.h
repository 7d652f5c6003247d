// SPDX-License-Identifier: Apache-2.0
// A conversation as tokens: each turn between the markers of who speaks, turns joined by <|sep|>,
// <|endoftext|> at the end. The same code writes what is learnt from and what is asked, so that the
// two cannot differ. Texts never become markers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ubique/data/chat/conversation.h"
#include "ubique/io/tokenizer.h"

namespace ubique::data {

/// <|pad|>, <|endoftext|>, <|startoftext|>, <|sep|>, then <|user|>, <|enduser|> and so on: in the
/// order in which a tokenizer that lacks them gets them.
const std::vector<std::string>& chat_markers();

/// Tokens, and which of them an assistant says: its text and the marker that ends it.
struct MarkedTokens {
  std::vector<std::int32_t> ids;
  std::vector<bool> spoken;

  std::size_t size() const { return ids.size(); }
  void add(std::int32_t id, bool said);
  void add(const MarkedTokens& more);
};

class ChatTokens {
 public:
  /// Input error that names the markers which the tokenizer lacks.
  explicit ChatTokens(const io::Tokenizer& tokenizer);

  const io::Tokenizer& tokenizer() const { return *tokenizer_; }
  std::int32_t pad() const { return pad_; }
  std::int32_t separator() const { return separator_; }
  std::int32_t end() const { return end_; }
  std::int32_t start_of(Role role) const { return starts_[static_cast<std::size_t>(role)]; }
  std::int32_t end_of(Role role) const { return ends_[static_cast<std::size_t>(role)]; }

  MarkedTokens turn(const Turn& turn) const;
  /// Turns joined by separators; with the end of the text after the last one if `whole`.
  MarkedTokens turns(std::span<const Turn> turns, bool whole) const;
  /// What a model goes on from: the turns so far and the start of the assistant's next one.
  std::vector<std::int32_t> prompt(std::span<const Turn> turns) const;

 private:
  const io::Tokenizer* tokenizer_;
  std::int32_t pad_, separator_, end_;
  std::int32_t starts_[3], ends_[3];  // by role
};

}  // namespace ubique::data
