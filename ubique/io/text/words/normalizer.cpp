// SPDX-License-Identifier: Apache-2.0
// Each step maps a text, and the origins of its bytes where they are wanted.
#include "ubique/io/text/words/normalizer.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "ubique/base/text/utf8.h"
#include "ubique/io/text/unicode/normal_form.h"
#include "ubique/io/text/unicode/unicode.h"

namespace ubique::io {
namespace {

using Origins = std::vector<std::size_t>;

bool is_space(std::string_view text, std::size_t at) {
  const auto point = code_point_at(text, at);
  return point.valid && character_class(point.value) == CharacterClass::Space;
}

/// Bytes [begin, end) of a text without the whitespace at one end.
std::pair<std::size_t, std::size_t> stripped(std::string_view text, NormalStep step) {
  std::size_t begin = 0, end = 0;
  for (std::size_t at = 0; at < text.size(); at += code_point_at(text, at).length) {
    if (!is_space(text, at)) end = at + code_point_at(text, at).length;
  }
  while (begin < text.size() && is_space(text, begin)) begin += code_point_at(text, begin).length;
  return step == NormalStep::StripLeft ? std::pair(begin, text.size())
                                       : std::pair(std::size_t{0}, end);
}

/// Collects a text, and the origin of each of its bytes.
struct Written {
  Origins* origins;
  std::string text = {};
  void add(std::string_view bytes, std::size_t origin) {
    text += bytes;
    if (origins != nullptr) origins->resize(text.size(), origin);
  }
};

/// `most_kept` spaces of a run stay as they are; a longer run becomes `instead`.
void replace_runs(std::string_view text, std::size_t most_kept, std::string_view instead,
                  Written& out) {
  for (std::size_t at = 0; at < text.size();) {
    auto end = at;
    while (end < text.size() && text[end] == ' ') ++end;
    if (end - at > most_kept) {
      out.add(instead, at);
    } else {
      if (end == at) ++end;
      for (auto i = at; i < end; ++i) out.add(text.substr(i, 1), i);
    }
    at = end;
  }
}

std::string take_step(std::string_view text, NormalStep step, const CharsMap* table,
                      Origins* origins) {
  if (step == NormalStep::Nfc) return to_nfc(text, origins);
  if (step == NormalStep::Table && table != nullptr) return table->apply(text, origins);
  Written out{origins};
  std::size_t begin = 0, end = text.size();
  if (step == NormalStep::StripLeft || step == NormalStep::StripRight) {
    std::tie(begin, end) = stripped(text, step);
  }
  if (step == NormalStep::MergeSpaces || step == NormalStep::RunsToMark) {
    replace_runs(text, 1, step == NormalStep::MergeSpaces ? " " : kSpaceMark, out);
    return std::move(out.text);
  }
  if (step == NormalStep::PrependMark && !text.empty()) out.add(kSpaceMark, 0);
  for (auto i = begin; i < end; ++i) {
    const bool marked = step == NormalStep::SpacesToMarks && text[i] == ' ';
    out.add(marked ? kSpaceMark : text.substr(i, 1), i);
  }
  return std::move(out.text);
}

}  // namespace

bool is_surely_normal(std::string_view text, const NormalSteps& steps) {
  return std::all_of(steps.begin(), steps.end(), [&](NormalStep step) {
    return step == NormalStep::Nfc && is_surely_nfc(text);
  });
}

std::string normalized(std::string_view text, const NormalSteps& steps, const CharsMap* table,
                       Origins* origins) {
  std::string result(text);
  Origins all(origins != nullptr ? text.size() : 0);
  std::iota(all.begin(), all.end(), std::size_t{0});
  for (const auto step : steps) {
    Origins made;
    result = take_step(result, step, table, origins != nullptr ? &made : nullptr);
    for (auto& origin : made) origin = all[origin];
    all = std::move(made);
  }
  if (origins != nullptr) *origins = std::move(all);
  return result;
}

std::string with_space_marks(std::string_view text) {
  return take_step(text, NormalStep::SpacesToMarks, nullptr, nullptr);
}

}  // namespace ubique::io
