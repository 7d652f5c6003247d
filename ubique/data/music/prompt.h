// SPDX-License-Identifier: Apache-2.0
// What a song is described by in training: its tags in a new order each time, or one of its
// captions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ubique/base/numbers/random.h"

namespace ubique::data {

inline constexpr std::size_t kLongestPrompt = 256;  ///< characters; the rest is cut off

/// The tags in their order with commas between them, else the first caption, else "music".
std::string plain_prompt(const std::vector<std::string>& tags,
                         const std::vector<std::string>& captions);
/// The tags in a random order, or one of the captions, each as likely as the tags.
std::string drawn_prompt(const std::vector<std::string>& tags,
                         const std::vector<std::string>& captions, const Random& random);
/// Whether the prompt asks for lyrics of the model's own ("write a ... song that genre is ..."): no
/// lyrics are given with it.
bool asks_for_lyrics(std::string_view prompt);

}  // namespace ubique::data
