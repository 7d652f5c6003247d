// SPDX-License-Identifier: Apache-2.0
// Guesses at the next tokens for speculative decoding, without a second model: code repeats itself,
// so what followed the same few tokens earlier in the text may follow again.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ubique::nn {

/// At most `most` tokens that followed the longest earlier occurrence of the text's end (at least
/// two tokens; of equally long ones, the latest). Empty if there is none. A part of `text`.
std::span<const std::int32_t> look_up(std::span<const std::int32_t> text, std::size_t most);

/// Usage error for a number of guesses out of range.
void validate_lookup(std::int64_t most);

/// What one text proposes to a pass of the network: guesses cost time, so after a wrong one fewer
/// are made, after right ones more.
class Guesses {
 public:
  explicit Guesses(std::int64_t most) : most_(most), now_(most) {}

  /// The text's last token, which is certain, and at most `room` guesses at those behind it.
  const std::vector<std::int32_t>& propose(std::span<const std::int32_t> text, std::int64_t room);
  const std::vector<std::int32_t>& proposed() const { return proposed_; }
  /// So many of the proposed tokens were right, the first included.
  void learn(std::size_t right);

 private:
  std::int64_t most_, now_;
  std::vector<std::int32_t> proposed_;
};

}  // namespace ubique::nn
