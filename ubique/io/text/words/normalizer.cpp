// SPDX-License-Identifier: Apache-2.0
// Each step maps a text, and the origins of its bytes where they are wanted.
#include "ubique/io/text/words/normalizer.h"

#include <algorithm>
#include <numeric>

#include "ubique/io/text/unicode/normal_form.h"

namespace ubique::io {
namespace {

using Origins = std::vector<std::size_t>;

std::string take_step(std::string_view text, NormalStep step, Origins* origins) {
  if (step == NormalStep::Nfc) return to_nfc(text, origins);
  std::string out;
  const auto add = [&](std::string_view bytes, std::size_t origin) {
    out += bytes;
    if (origins != nullptr) origins->resize(out.size(), origin);
  };
  if (step == NormalStep::PrependMark && !text.empty()) add(kSpaceMark, 0);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool marked = step == NormalStep::SpacesToMarks && text[i] == ' ';
    add(marked ? kSpaceMark : text.substr(i, 1), i);
  }
  return out;
}

}  // namespace

bool is_surely_normal(std::string_view text, const NormalSteps& steps) {
  return std::all_of(steps.begin(), steps.end(), [&](NormalStep step) {
    return step == NormalStep::Nfc && is_surely_nfc(text);
  });
}

std::string normalized(std::string_view text, const NormalSteps& steps, Origins* origins) {
  std::string result(text);
  Origins all(origins != nullptr ? text.size() : 0);
  std::iota(all.begin(), all.end(), std::size_t{0});
  for (const auto step : steps) {
    Origins made;
    result = take_step(result, step, origins != nullptr ? &made : nullptr);
    for (auto& origin : made) origin = all[origin];
    all = std::move(made);
  }
  if (origins != nullptr) *origins = std::move(all);
  return result;
}

std::string with_space_marks(std::string_view text) {
  return take_step(text, NormalStep::SpacesToMarks, nullptr);
}

}  // namespace ubique::io
