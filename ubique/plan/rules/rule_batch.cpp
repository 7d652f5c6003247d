// SPDX-License-Identifier: Apache-2.0
// How many samples make one update. The effective batch is the same on every machine: what does not
// fit at once is accumulated.
#include <fmt/format.h>

#include <algorithm>

#include "ubique/plan/rules/rules.h"

namespace ubique::plan {
namespace {

std::int64_t product_of(std::int64_t a, std::int64_t b, std::int64_t c) {
  const double product = static_cast<double>(a) * static_cast<double>(b) * static_cast<double>(c);
  check(product <= static_cast<double>(kMostSamples), ErrorKind::Usage,
        "[plan.batch] the effective batch is too large; got {} x {} x {}, expected at most {}.", a,
        b, c, kMostSamples);
  return a * b * c;
}

BatchTarget training_target(const Context& context) {
  const auto& [facts, needs, wishes, evidence] = context;
  const std::int64_t world = wishes.world_size;
  const auto product = product_of(wishes.batch, wishes.accumulation, world);
  if (wishes.effective_batch > 0) {
    check(product == 0 || product == wishes.effective_batch, ErrorKind::Usage,
          "[plan.batch] the batch sizes contradict each other; got batch {} x accumulation {} x {} "
          "processes = {}, expected effective_batch {}.",
          wishes.batch, wishes.accumulation, world, product, wishes.effective_batch);
    return {wishes.effective_batch, 0, "as asked"};
  }
  if (product > 0) return {product, 0, "as asked: batch x accumulation x processes"};
  if (wishes.accumulation > 0) {
    return {product_of(needs.effective_batch, wishes.accumulation, 1), 0,
            fmt::format("as asked: {} x the model's batch of {}", wishes.accumulation,
                        needs.effective_batch)};
  }
  if (product_of(wishes.batch, world, 1) > needs.effective_batch) {
    return {wishes.batch * world, 0,
            fmt::format("as asked: more than the recommended {}", needs.effective_batch)};
  }
  return {needs.effective_batch, 0, "recommended by the model, the same on every machine"};
}

}  // namespace

BatchTarget choose_target(const Context& context) {
  const auto& [facts, needs, wishes, evidence] = context;
  check(needs.max_batch == 0 || wishes.batch <= needs.max_batch, ErrorKind::Usage,
        "[plan.batch] {} takes fewer samples at once; got batch {}, expected at most {}.",
        needs.name, wishes.batch, needs.max_batch);
  const std::int64_t world = wishes.world_size;
  if (!context.train()) {
    const auto most = wishes.batch > 0 ? wishes.batch : needs.run_batch;
    return {product_of(most, world, 1), most, "inference: no optimizer step"};
  }
  auto target = training_target(context);
  // Processes may have unequal shares; micro-batches are equal.
  const auto share =
      wishes.batch > 0 ? wishes.batch : std::max<std::int64_t>(1, wishes.accumulation);
  check(target.effective % share == 0, ErrorKind::Usage,
        "[plan.batch] the effective batch cannot be split evenly; got {} over batch {} and "
        "accumulation {}, expected a multiple of {}.",
        target.effective, wishes.batch, wishes.accumulation, share);
  check(target.effective >= world, ErrorKind::Usage,
        "[plan.batch] there are more processes than samples in an update; got {} processes and an "
        "effective batch of {}. Raise --effective-batch, or take fewer processes.",
        world, target.effective);
  target.per_device = (target.effective + world - 1) / world;
  return target;
}

std::vector<std::int64_t> batch_sizes(const Context& context, const BatchTarget& target) {
  if (context.wishes.batch > 0) return {context.wishes.batch};
  if (context.train() && context.wishes.accumulation > 0) {
    return {std::max<std::int64_t>(1, target.per_device / context.wishes.accumulation)};
  }
  const auto limit = context.needs.max_batch;
  const auto most = limit > 0 ? std::min(target.per_device, limit) : target.per_device;
  std::vector<std::int64_t> sizes;
  if (!context.train()) {  // no divisors needed: each size is three quarters of the last
    for (auto size = most; size > 0; size = size * 3 / 4) sizes.push_back(size);
    return sizes;
  }
  for (std::int64_t size = 1; size * size <= target.per_device; ++size) {
    if (target.per_device % size != 0) continue;
    const auto partner = target.per_device / size;
    if (size <= most) sizes.push_back(size);
    if (partner != size && partner <= most) sizes.push_back(partner);
  }
  std::sort(sizes.rbegin(), sizes.rend());
  return sizes;
}

}  // namespace ubique::plan
