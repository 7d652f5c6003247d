// SPDX-License-Identifier: Apache-2.0
// Encodes conversations for chat models. A template says how; there are two forms: markers that are
// special tokens (here), and the Jinja templates of model folders (jinja_chat.h). Training data and
// prompts use the same code, so they cannot differ. A marker typed inside a text is encoded as
// plain text in both.
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

/// How turns become tokens.
class ChatTemplate {
 public:
  virtual ~ChatTemplate() = default;

  const Tokenizer& tokenizer() const { return *tokenizer_; }
  /// The prompt for the assistant's next turn: all turns so far, and what comes before its text.
  virtual std::vector<std::int32_t> prompt(std::span<const Turn> turns) const = 0;
  /// A whole conversation as training data, with the mask of what the assistant produces. Input
  /// error if the template cannot tell.
  virtual ChatTokens conversation(std::span<const Turn> turns) const = 0;
  /// Whether a generated token ends the assistant's turn.
  virtual bool ends_reply(std::int32_t id) const = 0;
  /// Whether a model with this many logits can belong to the tokenizer.
  virtual bool fits_vocabulary(std::int64_t size) const = 0;

 protected:
  /// The tokenizer must outlive this.
  explicit ChatTemplate(const Tokenizer& tokenizer) : tokenizer_(&tokenizer) {}
  ChatTemplate(const ChatTemplate&) = default;
  ChatTemplate& operator=(const ChatTemplate&) = default;

 private:
  const Tokenizer* tokenizer_;
};

/// Each turn between the markers of its role, a separator between turns, an end marker last.
class MarkerTemplate : public ChatTemplate {
 public:
  /// Input error that names the markers that the tokenizer lacks. The tokenizer must outlive this.
  explicit MarkerTemplate(const Tokenizer& tokenizer, const ChatMarkers& markers = {});

  std::int32_t pad() const { return pad_; }
  std::int32_t separator() const { return separator_; }
  std::int32_t end() const { return end_; }
  std::int32_t start_of(Role role) const { return starts_[static_cast<std::size_t>(role)]; }
  std::int32_t end_of(Role role) const { return ends_[static_cast<std::size_t>(role)]; }

  /// One turn with its markers.
  ChatTokens turn(const Turn& turn) const;
  /// Turns joined by separators; followed by the end marker if the conversation is `complete`.
  ChatTokens turns(std::span<const Turn> turns, bool complete) const;

  std::vector<std::int32_t> prompt(std::span<const Turn> turns) const override;
  ChatTokens conversation(std::span<const Turn> turns) const override {
    return this->turns(turns, true);
  }
  /// Any special token does: a model that writes another role's marker has finished its own turn.
  bool ends_reply(std::int32_t id) const override { return tokenizer().is_special(id); }
  bool fits_vocabulary(std::int64_t size) const override { return size == tokenizer().size(); }

 private:
  std::int32_t pad_, separator_, end_;
  std::array<std::int32_t, 3> starts_{}, ends_{};  // by role
};

}  // namespace ubique::io
