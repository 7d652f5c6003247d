// SPDX-License-Identifier: Apache-2.0
// The original's rules for prompts.
#include "ubique/data/music/prompt.h"

#include "ubique/base/text/text.h"
#include "ubique/base/text/utf8.h"

namespace ubique::data {
namespace {

constexpr const char* kNoDescription = "music";

/// The first characters of a text, whole ones.
std::string cut_prompt(const std::string& text) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < kLongestPrompt && at < text.size(); ++i) {
    at += code_point_at(text, at).length;
  }
  return text.substr(0, at);
}

}  // namespace

std::string plain_prompt(const std::vector<std::string>& tags,
                         const std::vector<std::string>& captions) {
  if (!tags.empty()) return cut_prompt(join(tags, ", "));
  return captions.empty() ? kNoDescription : cut_prompt(captions.front());
}

std::string drawn_prompt(const std::vector<std::string>& tags,
                         const std::vector<std::string>& captions, const Random& random) {
  const auto choices = captions.size() + (tags.empty() ? 0 : 1);
  if (choices == 0) return kNoDescription;
  const auto choice = static_cast<std::size_t>(random.below(0, choices));
  if (choice < captions.size()) return cut_prompt(captions[choice]);
  std::vector<std::string> shuffled;
  for (const auto i : random.fork(1).permutation(static_cast<std::int64_t>(tags.size()))) {
    shuffled.push_back(tags[static_cast<std::size_t>(i)]);
  }
  return cut_prompt(join(shuffled, ", "));
}

bool asks_for_lyrics(std::string_view prompt) {
  constexpr std::string_view kBegin = "write a ", kEnd = " song that genre is";
  const auto begin = prompt.find(kBegin);
  return begin != std::string_view::npos &&
         prompt.find(kEnd, begin + kBegin.size()) != std::string_view::npos;
}

}  // namespace ubique::data
