// SPDX-License-Identifier: Apache-2.0
// Encodes conversations for chat models: each turn between the markers of its role, a separator
// between turns, an end marker last. Training data and prompts use the same code, so they cannot
// differ. A marker typed inside a text is encoded as plain text.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ubique/io/text/conversation.h"
#include "ubique/io/text/tokenizer.h"

namespace ubique::io {

/// The markers of a chat template; each is a special token of the tokenizer.
struct ChatMarkers {
  std::string pad = "<|pad|>", end = "<|endoftext|>", start = "<|startoftext|>";
  std::string separator = "<|sep|>";
  struct RoleMarkers {
    std::string start, end;
  };
  std::array<RoleMarkers, 3> roles = {{{"<|system|>", "<|endsystem|>"},
                                       {"<|user|>", "<|enduser|>"},
                                       {"<|assistant|>", "<|endassistant|>"}}};  ///< by Role
  /// All markers, in the order in which they are added to a tokenizer.
  std::vector<std::string> all() const;
};

/// Token ids with a mask of those that the assistant produces, on which the loss is computed: its
/// text and its end marker.
struct ChatTokens {
  std::vector<std::int32_t> ids;
  std::vector<bool> by_assistant;  ///< of each id

  std::size_t size() const { return ids.size(); }
  void add(std::int32_t id, bool assistant);
  void add(const ChatTokens& more);
};

/// The chat template of a tokenizer: the ids of its markers, and how turns are encoded with them.
class ChatTemplate {
 public:
  /// Input error that names the markers that the tokenizer lacks. The tokenizer must outlive this.
  explicit ChatTemplate(const Tokenizer& tokenizer, const ChatMarkers& markers = {});

  const Tokenizer& tokenizer() const { return *tokenizer_; }
  std::int32_t pad() const { return pad_; }
  std::int32_t separator() const { return separator_; }
  std::int32_t end() const { return end_; }
  std::int32_t start_of(Role role) const { return starts_[static_cast<std::size_t>(role)]; }
  std::int32_t end_of(Role role) const { return ends_[static_cast<std::size_t>(role)]; }

  /// One turn with its markers.
  ChatTokens turn(const Turn& turn) const;
  /// Turns joined by separators; followed by the end marker if the conversation is `complete`.
  ChatTokens turns(std::span<const Turn> turns, bool complete) const;
  /// The prompt for the assistant's next turn: all turns so far and its start marker.
  std::vector<std::int32_t> prompt(std::span<const Turn> turns) const;

 private:
  const Tokenizer* tokenizer_;
  std::int32_t pad_, separator_, end_;
  std::array<std::int32_t, 3> starts_{}, ends_{};  // by role
};

}  // namespace ubique::io
