// SPDX-License-Identifier: Apache-2.0
// The parts of a pass in their order, and what is read of its logits.
#include "ubique/nn/decode/host_step.h"

#include <cmath>

#include "ubique/nn/decode/host_pass.h"

namespace ubique::nn {

HostStep::HostStep(HostNetwork network)
    : network_(std::move(network)), buffers_(std::make_unique<Buffers>(network_)) {}

HostStep::~HostStep() = default;

Predictions HostStep::run(std::span<const HostToken> tokens, std::size_t first_predicted,
                          Wanted wanted, std::span<const KvCache> caches) {
  const auto rows = tokens.size() - first_predicted;
  const auto width = static_cast<std::size_t>(network_.head.out);
  auto& kept = buffers_->logits;
  Predictions found;
  const bool all = wanted != Wanted::Likeliest;
  auto& logits = all ? found.logits : kept;
  logits.resize(std::max(rows * width, all ? 0 : kept.size()));
  kernels::HostTeam::run([&](kernels::HostTeam& team) {
    Pass pass(network_, *buffers_, tokens, caches, team);
    pass.embed();
    for (std::size_t layer = 0; layer < network_.blocks.size(); ++layer) pass.block(layer);
    pass.head(first_predicted, logits.data());
    if (all) return;
    for (std::size_t row = 0; row < rows; ++row) {
      const auto id = pass.likeliest(logits.data() + row * width);
      found.likeliest.push_back(static_cast<std::int32_t>(id));
    }
  });
  for (std::size_t row = 0; row < found.likeliest.size(); ++row) {
    const auto id = found.likeliest[row];
    check_logit(logits[row * width + static_cast<std::size_t>(id)], id);
  }
  return found;
}

}  // namespace ubique::nn
