// SPDX-License-Identifier: Apache-2.0
// Searches the text that is held back.
#include "ubique/nn/decode/stop_filter.h"

#include <algorithm>

namespace ubique::nn {

bool StopFilter::add(std::string_view bytes) {
  held_ += bytes;
  auto end = std::string::npos;
  for (const auto& stop : stops_) end = std::min(end, held_.find(stop));
  found_ = end != std::string::npos;
  return pass(found_ ? end : held_.size() - could_begin_stop());
}

bool StopFilter::finish() { return (found_ || pass(held_.size())) && out_.finish(); }

bool StopFilter::pass(std::size_t count) {
  const auto certain = held_.substr(0, count);
  held_.erase(0, count);
  return certain.empty() || out_.add(certain);
}

/// Bytes at the end that a stop text may begin with.
std::size_t StopFilter::could_begin_stop() const {
  std::size_t longest = 0;
  for (const auto& stop : stops_) {
    for (auto n = std::min(stop.size() - 1, held_.size()); n > longest; --n) {
      if (std::string_view(held_).ends_with(std::string_view(stop).substr(0, n))) longest = n;
    }
  }
  return longest;
}

}  // namespace ubique::nn
