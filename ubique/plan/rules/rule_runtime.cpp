// SPDX-License-Identifier: Apache-2.0
// What surrounds the arithmetic: kernels, graphs, copies, threads, caches.
#include <fmt/format.h>

#include <algorithm>

#include "ubique/plan/rules/rules.h"

namespace ubique::plan {
namespace {

using device::Kind;

Choice<bool> choose_fused(const Question& question) {
  const auto wish = question.wishes.fused;
  if (wish == Toggle::Off) return {false, "as asked", {}};
  std::string why;
  if (question.is(Kind::Mps)) why = "we have no kernels of our own for Metal: torch's ops run";
  if (question.is(Kind::Xpu)) why = "never tested on XPU";
  if (question.is(Kind::Cuda) && question.facts.capability < 75) {
    why = fmt::format("our kernels begin with sm75; this is sm{}", question.facts.capability);
  }
  check(wish != Toggle::On || why.empty(), ErrorKind::Device,
        "[plan.fused] fused kernels are not possible on {}: {}; got fused on, expected auto.",
        question.facts.label(), why);
  if (!why.empty()) return {false, why, {}};
  if (wish == Toggle::On) return {true, "as asked", {}};
  return {true,
          question.is(Kind::Cuda) ? "one pass over memory instead of several"
                                  : "torch's fused optimizer steps exist for CPUs too",
          {{"off", "more passes over memory"}}};
}

Choice<bool> choose_graph_capture(const Question& question) {
  const auto wish = question.wishes.graph_capture;
  if (wish == Toggle::Off) return {false, "as asked", {}};
  std::string why;
  if (question.is(Kind::Mps)) {
    why = "neither graph capture nor torch.compile works for training on Metal";
  } else if (!question.is(Kind::Cuda)) {
    why = "a CUDA matter";
  } else if (question.train() && !question.needs.train_capturable) {
    why = "this model's inference is recorded, its training steps are not";
  } else if (!question.needs.graph_capturable) {
    why = "the model asks the host in the middle of a step";
  } else if (!question.needs.fixed_shapes) {
    why = "shapes vary: every shape would need a graph";
  }
  check(
      wish != Toggle::On || why.empty(), ErrorKind::Device,
      "[plan.graph] graph capture is not possible on {}: {}; got graph_capture on, expected auto.",
      question.facts.label(), why);
  if (!why.empty()) return {false, why, {}};
  return {true,
          wish == Toggle::On ? "as asked"
          : question.train() ? "fixed shapes: one launch for a whole update"
                             : "fixed shapes: one launch for a whole inference",
          {{"off", "a launch per kernel"}}};
}

Choice<bool> choose_pinned(const Question& question) {
  const auto wish = question.wishes.pin_memory;
  if (wish == Toggle::Off) return {false, "as asked", {}};
  const bool cuda = question.is(Kind::Cuda);
  check(wish != Toggle::On || cuda, ErrorKind::Device,
        "[plan.pinned] pinned memory is for CUDA only; got pin_memory on for {}, expected auto.",
        question.facts.label());
  if (cuda) return {true, "copies to the device overlap with work", {{"off", "copies would wait"}}};
  return {false,
          question.is(Kind::Mps) ? "CUDA only: host and device share memory here"
                                 : "CUDA only: there is nothing to copy to",
          {}};
}

Choice<bool> choose_non_blocking(const Question& question, bool pinned) {
  if (const auto* fault = question.evidence.fault("transfer.non_blocking")) {
    return {false, describe(*fault), {}};
  }
  if (question.is(Kind::Mps)) {
    return {false, "copies that do not wait gave stale or freed memory on Metal", {}};
  }
  if (!pinned) return {false, "needs pinned memory", {}};
  return {true, "from pinned memory, kept alive until the copy is done", {}};
}

Choice<int> choose_prefetch(const Question& question) {
  const int wish = question.wishes.prefetch_threads;
  if (wish >= 0) return {wish, "as asked", {}};
  if (question.is(Kind::Cpu)) {
    const int threads = std::clamp(question.facts.cores / 4, 1, 4);
    return {
        threads, fmt::format("a quarter of {} cores: the rest computes", question.facts.cores), {}};
  }
  return {4, "threads, not processes: the device computes while they decode", {}};
}

Choice<int> choose_threads(const Question& question) {
  if (!question.is(Kind::Cpu)) return {0, "the device computes", {}};
  const int wish = question.wishes.threads;
  if (wish > 0) return {wish, "as asked", {}};
  return {std::max(1, question.facts.cores), "every core this process may use", {}};
}

Choice<bool> choose_clear_cache(const Question& question) {
  if (!question.is(Kind::Mps)) return {false, "the allocator's cache is an asset here", {}};
  if (!question.needs.fixed_shapes) {
    return {true, "every new shape leaves a graph in Metal's cache, which grows", {}};
  }
  if (!question.train()) return {true, "unified memory goes back to the system after a job", {}};
  return {false, "fixed shapes: Metal's graph cache does not grow", {{"on", "a pause per phase"}}};
}

}  // namespace

void choose_runtime(const Question& question, Plan& plan) {
  plan.fused_kernels = choose_fused(question);
  plan.graph_capture = choose_graph_capture(question);
  plan.pinned_memory = choose_pinned(question);
  plan.non_blocking = choose_non_blocking(question, plan.pinned_memory.value);
  plan.prefetch_threads = choose_prefetch(question);
  plan.compute_threads = choose_threads(question);
  plan.clear_cache = choose_clear_cache(question);
}

}  // namespace ubique::plan
