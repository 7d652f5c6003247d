// SPDX-License-Identifier: Apache-2.0
#include "ubique/models/meshnet/layer_peak.h"

#include <algorithm>
#include <vector>

namespace ubique::meshnet {
namespace {

std::int64_t count_alive(const std::vector<bool>& outputs) {
  return std::count(outputs.begin(), outputs.end(), true);
}

}  // namespace

bool chain_keeps(std::int64_t layer, std::int64_t layers, std::int64_t segments) {
  if (segments == 0) return true;
  for (std::int64_t part = 1; part < segments; ++part) {
    if (layer == part * layers / segments) return layer > 0;
  }
  return false;
}

std::int64_t chain_peak(std::int64_t layers, std::int64_t segments) {
  std::vector<bool> outputs;
  for (std::int64_t i = 0; i < layers; ++i) outputs.push_back(chain_keeps(i, layers, segments));
  // Forward's end: the last output, kept or not, and what the norm and activation make of it.
  std::int64_t peak = count_alive(outputs) + (outputs.back() ? 1 : 2);
  for (std::int64_t i = layers; i-- > 0;) {
    const std::int64_t gradient = i + 1 < layers ? 1 : 0;  // the logits' own is counted elsewhere
    for (auto known = i; known >= 0 && !outputs[static_cast<std::size_t>(known)]; --known) {
      outputs[static_cast<std::size_t>(known)] = true;
    }
    // What is computed again, the same activated, its gradient, and the gradient it came from.
    peak = std::max(peak, count_alive(outputs) + 2 + gradient);
    outputs[static_cast<std::size_t>(i)] = false;
  }
  return peak;
}

}  // namespace ubique::meshnet
