// SPDX-License-Identifier: Apache-2.0
// Fused kernels, graph capture, copies, threads and caches.
#include <fmt/format.h>

#include <algorithm>

#include "ubique/plan/rules/rules.h"

namespace ubique::plan {
namespace {

using device::Kind;

Choice<bool> choose_fused(const Context& context) {
  const auto wish = context.wishes.fused;
  if (wish == Toggle::Off) return {false, "as asked", {}};
  std::string why;
  if (context.is(Kind::Mps)) why = "we have no kernels of our own for Metal: torch's ops run";
  if (context.is(Kind::Xpu)) why = "never tested on XPU";
  if (context.is(Kind::Cuda) && context.facts.capability < 75) {
    why = fmt::format("our kernels begin with sm75; this is sm{}", context.facts.capability);
  }
  check(wish != Toggle::On || why.empty(), ErrorKind::Device,
        "[plan.fused] fused kernels are not possible on {}: {}; got fused on, expected auto.",
        context.facts.label(), why);
  if (!why.empty()) return {false, why, {}};
  if (wish == Toggle::On) return {true, "as asked", {}};
  return {true,
          context.is(Kind::Cuda) ? "one pass over memory instead of several"
                                 : "torch's fused optimizer steps exist for CPUs too",
          {{"off", "more passes over memory"}}};
}

std::string why_captured(const Context& context) {
  const bool fixed = context.needs.fixed_shapes;
  if (context.train()) {
    return fixed ? "fixed shapes: one launch for a whole update"
                 : "a few shapes come again and again: one launch for a whole update of each";
  }
  return fixed ? "fixed shapes: one launch for a whole inference"
               : "shapes repeat within an inference: one launch for each of its passes";
}

Choice<bool> choose_graph_capture(const Context& context) {
  const auto wish = context.wishes.graph_capture;
  if (wish == Toggle::Off) return {false, "as asked", {}};
  std::string why;
  if (context.is(Kind::Mps)) {
    why = "neither graph capture nor torch.compile works for training on Metal";
  } else if (!context.is(Kind::Cuda)) {
    why = "CUDA only";
  } else if (context.train() && !context.needs.train_capturable) {
    why = "this model's inference is recorded, its training steps are not";
  } else if (!context.needs.graph_capturable) {
    why = "the model synchronises with the host within a step";
  } else if (context.train() && !context.needs.fixed_shapes && !context.needs.shapes_repeat) {
    why = "shapes vary: every shape would need a graph";
  }
  check(
      wish != Toggle::On || why.empty(), ErrorKind::Device,
      "[plan.graph] graph capture is not possible on {}: {}; got graph_capture on, expected auto.",
      context.facts.label(), why);
  if (!why.empty()) return {false, why, {}};
  return {true,
          wish == Toggle::On ? "as asked" : why_captured(context),
          {{"off", "a launch per kernel"}}};
}

Choice<bool> choose_pinned(const Context& context) {
  const auto wish = context.wishes.pin_memory;
  if (wish == Toggle::Off) return {false, "as asked", {}};
  const bool cuda = context.is(Kind::Cuda);
  check(wish != Toggle::On || cuda, ErrorKind::Device,
        "[plan.pinned] pinned memory is for CUDA only; got pin_memory on for {}, expected auto.",
        context.facts.label());
  if (cuda) return {true, "copies to the device overlap with work", {{"off", "copies would wait"}}};
  return {false,
          context.is(Kind::Mps) ? "CUDA only: host and device share memory here"
                                : "CUDA only: there is nothing to copy to",
          {}};
}

Choice<bool> choose_non_blocking(const Context& context, bool pinned) {
  if (const auto* fault = context.evidence.fault("transfer.non_blocking")) {
    return {false, describe(*fault), {}};
  }
  if (context.is(Kind::Mps)) {
    return {false, "copies that do not wait gave stale or freed memory on Metal", {}};
  }
  if (!pinned) return {false, "needs pinned memory", {}};
  return {true, "from pinned memory, kept alive until the copy is done", {}};
}

Choice<int> choose_prefetch(const Context& context) {
  const int wish = context.wishes.prefetch_threads;
  if (wish >= 0) return {wish, "as asked", {}};
  if (context.is(Kind::Cpu)) {
    const int threads = std::clamp(context.facts.cores / 4, 1, 4);
    return {
        threads, fmt::format("a quarter of {} cores: the rest computes", context.facts.cores), {}};
  }
  return {4, "threads, not processes: the device computes while they decode", {}};
}

Choice<int> choose_threads(const Context& context) {
  if (!context.is(Kind::Cpu)) return {0, "the device computes", {}};
  const int wish = context.wishes.threads;
  if (wish > 0) return {wish, "as asked", {}};
  return {std::max(1, context.facts.cores),
          "every core this process may use; fewer while other programs keep them busy",
          {}};
}

Choice<bool> choose_clear_cache(const Context& context) {
  if (!context.is(Kind::Mps)) return {false, "the allocator's cache saves time here", {}};
  if (!context.needs.fixed_shapes) {
    return {true, "every new shape leaves a graph in Metal's cache, which grows", {}};
  }
  if (!context.train()) return {true, "unified memory goes back to the system after a job", {}};
  return {false, "fixed shapes: Metal's graph cache does not grow", {{"on", "a pause per phase"}}};
}

}  // namespace

void choose_runtime(const Context& context, Plan& plan) {
  plan.fused_kernels = choose_fused(context);
  plan.graph_capture = choose_graph_capture(context);
  plan.pinned_memory = choose_pinned(context);
  plan.non_blocking = choose_non_blocking(context, plan.pinned_memory.value);
  plan.prefetch_threads = choose_prefetch(context);
  plan.compute_threads = choose_threads(context);
  plan.threads_follow_load =
      context.is(Kind::Cpu) && context.wishes.threads == 0 && !context.wishes.deterministic;
  plan.clear_cache = choose_clear_cache(context);
}

}  // namespace ubique::plan
