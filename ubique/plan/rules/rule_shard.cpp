// SPDX-License-Identifier: Apache-2.0
// What the processes of a training split among themselves: nothing while everything fits, since
// splitting sends more.
#include <fmt/format.h>

#include "ubique/plan/rules/rules.h"

namespace ubique::plan {

std::vector<Shard> shard_levels(const Context& context) {
  const auto& [facts, needs, wishes, evidence] = context;
  if (!context.train() || wishes.world_size == 1) return {Shard::None};
  const auto wish = wishes.shard;
  check(!needs.own_optimizer || !wish || *wish == Shard::None, ErrorKind::Usage,
        "[plan.shard] {} has an optimizer of its own, which is not split; got shard {}, expected "
        "none.",
        needs.name, to_string(*wish));
  check(needs.blocks > 0 || wish != Shard::Weights, ErrorKind::Usage,
        "[plan.shard] the weights of {} cannot be split; got shard weights, expected optimizer or "
        "none.",
        needs.name);
  if (wish) return {*wish};
  std::vector<Shard> levels = {Shard::None};
  if (!needs.own_optimizer) levels.push_back(Shard::Optimizer);
  if (!needs.own_optimizer && needs.blocks > 0) levels.push_back(Shard::Weights);
  return levels;
}

Choice<Shard> explain_shard(const Context& context, Shard chosen, const std::string& without) {
  const int world = context.wishes.world_size;
  if (world == 1) return {Shard::None, "one process", {}};
  const std::string cost = chosen == Shard::Weights
                               ? "each block's weights are sent twice in every micro-batch"
                               : "each process sends the weights that it updated";
  if (chosen == Shard::None) {
    return {chosen, context.wishes.shard ? "as asked" : "everything fits whole", {}};
  }
  if (without.empty()) return {chosen, "as asked: " + cost, {}};
  return {chosen,
          fmt::format("{} processes share the memory; {}", world, cost),
          {{chosen == Shard::Weights ? "optimizer" : "none", without}}};
}

}  // namespace ubique::plan
