// SPDX-License-Identifier: Apache-2.0
// Turns a conversation into tokens: each turn between the markers of its role, turns joined by a
// separator, an end marker last. Training data and prompts are made by the same code, so they
// cannot differ. Text that looks like a marker stays text.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ubique/io/text/conversation.h"
#include "ubique/io/text/tokenizer.h"

namespace ubique::io {

/// The markers of a template, as data. Each is one special token of the tokenizer.
struct ChatMarkers {
  std::string pad = "<|pad|>", end = "<|endoftext|>", start = "<|startoftext|>";
  std::string separator = "<|sep|>";
  struct RoleMarkers {
    std::string start, end;
  };
  std::array<RoleMarkers, 3> roles = {{{"<|system|>", "<|endsystem|>"},
                                       {"<|user|>", "<|enduser|>"},
                                       {"<|assistant|>", "<|endassistant|>"}}};  ///< by Role
  /// All of them, in the order in which a tokenizer that lacks them gets them.
  std::vector<std::string> all() const;
};

/// Token ids, and which of them the assistant produces: its text and the marker that ends it.
struct MarkedTokens {
  std::vector<std::int32_t> ids;
  std::vector<bool> by_assistant;

  std::size_t size() const { return ids.size(); }
  void add(std::int32_t id, bool assistant);
  void add(const MarkedTokens& more);
};

class ChatTemplate {
 public:
  /// Input error that names the markers which the tokenizer lacks. The tokenizer must outlive this.
  explicit ChatTemplate(const Tokenizer& tokenizer, const ChatMarkers& markers = {});

  const Tokenizer& tokenizer() const { return *tokenizer_; }
  std::int32_t pad() const { return pad_; }
  std::int32_t separator() const { return separator_; }
  std::int32_t end() const { return end_; }
  std::int32_t start_of(Role role) const { return starts_[static_cast<std::size_t>(role)]; }
  std::int32_t end_of(Role role) const { return ends_[static_cast<std::size_t>(role)]; }

  MarkedTokens turn(const Turn& turn) const;
  /// Turns joined by separators; followed by the end marker if `whole`.
  MarkedTokens turns(std::span<const Turn> turns, bool whole) const;
  /// The prompt of the assistant's next turn: all turns so far and the marker that starts it.
  std::vector<std::int32_t> prompt(std::span<const Turn> turns) const;

 private:
  const Tokenizer* tokenizer_;
  std::int32_t pad_, separator_, end_;
  std::array<std::int32_t, 3> starts_{}, ends_{};  // by role
};

}  // namespace ubique::io
