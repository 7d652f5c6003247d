// SPDX-License-Identifier: Apache-2.0
// What the learners of several ranks tell each other.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/nn/module.h>

#include "ubique/base/files/digest.h"
#include "ubique/base/text/json.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/engine/loop/learner.h"

namespace ubique::engine {

void Learner::agree_on_weight(double mine, std::int64_t micro_batches) {
  if (ranks_) sum_->set_first_weight(ranks_->agree_on_weight(mine, micro_batches));
}

std::vector<Json> Learner::share(const Json& news) {
  return ranks_ ? ranks_->share(news) : std::vector<Json>{news};
}

void Learner::collect_state(const Shard& shard) {
  if (!ranks_) return;
  const c10::NoGradGuard no_gradients;
  for (const auto& [name, tensor] : model_.persistent_state()) {
    if (tensor.dim() == 0 || tensor.size(0) != shard.per_update) continue;
    for (std::int64_t rank = 0; rank < shard.ranks; ++rank) {
      const auto [first, last] = shard.samples_of(rank);
      world_.broadcast(tensor.narrow(0, first, last - first), static_cast<int>(rank));
    }
  }
}

std::string Learner::weights_digest() const {
  std::string digests;
  for (const auto& [name, tensor] : state_dict(model_.network())) {
    const auto host = tensor.detach().contiguous().cpu();
    const auto* data = static_cast<const std::byte*>(host.const_data_ptr());
    digests += digest_of({data, host.nbytes()});
  }
  return digest_of(digests);
}

}  // namespace ubique::engine
