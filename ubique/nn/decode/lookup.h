// SPDX-License-Identifier: Apache-2.0
// Guesses at the next tokens for speculative decoding, without a second model: code repeats itself,
// so what followed the same few tokens earlier in the text may follow again.
#pragma once

#include <cstdint>
#include <span>

namespace ubique::nn {

/// At most `most` tokens that followed the longest earlier occurrence of the text's end (at least
/// two tokens; of equally long ones, the latest). Empty if there is none. A part of `text`.
std::span<const std::int32_t> look_up(std::span<const std::int32_t> text, std::size_t most);

}  // namespace ubique::nn
