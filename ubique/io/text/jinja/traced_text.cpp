// SPDX-License-Identifier: Apache-2.0
// Joins and slices of traced text.
#include "ubique/io/text/jinja/traced_text.h"

#include <algorithm>

namespace ubique::io::jinja {

TracedText TracedText::given(std::string bytes, std::int32_t source) {
  TracedText text(std::move(bytes));
  if (text.size() > 0) text.spans_.push_back({0, text.size(), source});
  return text;
}

void TracedText::append(const TracedText& more) {
  const auto shift = size();
  bytes_ += more.bytes_;
  for (const auto& span : more.spans_) {
    const TracedSpan moved{span.begin + shift, span.end + shift, span.source};
    auto* last = spans_.empty() ? nullptr : &spans_.back();
    if (last != nullptr && last->end == moved.begin && last->source == moved.source) {
      last->end = moved.end;
    } else {
      spans_.push_back(moved);
    }
  }
}

TracedText TracedText::slice(std::size_t begin, std::size_t end) const {
  TracedText part(bytes_.substr(begin, end - begin));
  const auto ends_before = [](const TracedSpan& span, std::size_t at) { return span.end <= at; };
  auto span = std::lower_bound(spans_.begin(), spans_.end(), begin, ends_before);
  for (; span != spans_.end() && span->begin < end; ++span) {
    part.spans_.push_back(
        {std::max(span->begin, begin) - begin, std::min(span->end, end) - begin, span->source});
  }
  return part;
}

TracedText TracedText::derived(std::string bytes) const {
  return spans_.empty() ? TracedText(std::move(bytes))
                        : given(std::move(bytes), spans_.front().source);
}

}  // namespace ubique::io::jinja
