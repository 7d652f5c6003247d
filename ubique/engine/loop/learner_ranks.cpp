// SPDX-License-Identifier: Apache-2.0
// What the learners of several ranks tell each other.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/nn/module.h>

#include <map>
#include <set>

#include "ubique/base/error.h"
#include "ubique/base/files/digest.h"
#include "ubique/base/text/json.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/engine/loop/learner.h"

namespace ubique::engine {
namespace {

std::map<std::string, at::Tensor> without(const NamedTensors& tensors,
                                          const std::set<std::string>& names) {
  std::map<std::string, at::Tensor> kept;
  for (const auto& [name, tensor] : tensors) {
    if (!names.contains(name)) kept[name] = tensor;
  }
  return kept;
}

}  // namespace

/// Splits the weights of blocks if the plan says so.
NamedTensors Learner::leaves_to_train() {
  if (!world_.is_alone() && plan_.shard.value == plan::Shard::Weights) {
    auto* blocks = dynamic_cast<HasBlocks*>(&model_);
    check(blocks != nullptr, ErrorKind::Usage,
          "[engine.shards] the weights of {} cannot be split; got --shard weights, expected "
          "optimizer or none.",
          model_.family());
    shards_.emplace(world_, *blocks, device_);
  }
  auto leaves = whole_parameters();
  if (!shards_) return leaves;
  for (const auto& own : shards_->own_slices()) {
    leaves.insert(leaves.end(), own.slices.begin(), own.slices.end());
  }
  return leaves;
}

/// The trained parameters that this rank has whole.
NamedTensors Learner::whole_parameters() const {
  auto parameters = trainable_parameters(model_.network());
  if (shards_) {
    std::erase_if(parameters,
                  [&](const auto& item) { return shards_->names().contains(item.first); });
  }
  return parameters;
}

std::unique_ptr<Optimizer> Learner::choose_optimizer() const {
  const auto& options = task_.recipe().optimizer;
  auto own = task_.make_optimizer(options);
  const bool split = !world_.is_alone() && plan_.shard.value != plan::Shard::None;
  check(!split || own == nullptr, ErrorKind::Usage,
        "[engine.shards] {} has an optimizer of its own, which is not split; got --shard {}, "
        "expected none.",
        model_.family(), plan::to_string(plan_.shard.value));
  if (own) return own;
  const auto make = [&](NamedTensors parameters) {
    return make_optimizer(options, std::move(parameters), plan_.fused_kernels.value);
  };
  if (!split) return make(parameters_);
  return std::make_unique<ShardedOptimizer>(
      world_, whole_parameters(), shards_ ? shards_->own_slices() : std::vector<OwnSlices>(), make);
}

void Learner::agree_on_weight(double mine, std::int64_t micro_batches) {
  if (!ranks_) return;
  sum_->set_first_weight(ranks_->agree_on_weight(mine, micro_batches));
  if (shards_) shards_->begin(ranks_->micro_batches());
}

/// The passes of a micro-batch, and with split weights of a round.
void Learner::add_in_step(const Batch& batch) {
  if (!shards_) return ranks_->add(*sum_, to_device(batch, device_, plan_));
  shards_->begin_round();
  try {
    ranks_->add(*sum_, to_device(batch, device_, plan_));
  } catch (const std::exception&) {
    shards_->end_round();
    throw;
  }
  shards_->end_round();
}

void Learner::sit_out() {
  if (!shards_) return;
  shards_->begin_round();
  shards_->end_round();
}

void Learner::collect_shards() {
  optimizer_->collect_state();
  if (!shards_) return;
  collected_weights_ = shards_->collect();
  if (!averages_.enabled()) return;
  const AveragedWeights::InPlace scope(averages_);
  collected_averages_ = shards_->collect();
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
  const auto split = shards_ ? shards_->names() : std::set<std::string>();
  for (const auto& [name, tensor] : without(state_dict(model_.network()), split)) {
    const auto host = tensor.detach().contiguous().cpu();
    const auto* data = static_cast<const std::byte*>(host.const_data_ptr());
    digests += digest_of({data, host.nbytes()});
  }
  return digest_of(digests);
}

}  // namespace ubique::engine
