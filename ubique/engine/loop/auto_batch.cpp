// SPDX-License-Identifier: Apache-2.0
// Halves the micro-batch, then raises gradient checkpointing; the trial step.
#include "ubique/engine/loop/auto_batch.h"

#include <fmt/format.h>

#include "ubique/base/error.h"
#include "ubique/base/text/text.h"
#include "ubique/device/runtime.h"
#include "ubique/engine/loop/loader.h"

namespace ubique::engine {

plan::Plan reduce_memory(plan::Plan plan, const plan::Needs& needs, const std::string& why) {
  auto& micro = plan.micro_batch;
  if (micro.value > 1) {
    const auto whole = plan.effective_batch.value;
    const auto before = micro.value;
    micro.value = (before + 1) / 2;
    micro.reason = fmt::format("memory ran out at {}", before);
    micro.rejected = {{std::to_string(before), why}};
    plan.accumulation.value = (whole + micro.value - 1) / micro.value;
    plan.accumulation.reason = fmt::format("keeps the effective batch at {}", whole);
    return plan;
  }
  for (const auto& level : needs.checkpointing.all()) {  // least work first
    if (plan.checkpointing.value && level.segments <= plan.segments) continue;
    plan.checkpointing = {true, "memory ran out at one sample at once", {{"less of it", why}}};
    plan.segments = level.segments;
    return plan;
  }
  fail(ErrorKind::Device,
       "[engine.memory] {} does not fit on {}, not even one sample at once{}; predicted were {}, "
       "got \"{}\". Try {}a smaller model or input, or another device.",
       needs.name, plan.machine, plan.checkpointing.value ? " with gradient checkpointing" : "",
       human_bytes(plan.memory.total), why,
       plan.dtype.value == DType::F32 && needs.tolerates_bf16 ? "--dtype bf16 or f16, " : "");
}

std::string try_batch(Learner& learner, const Dataset& dataset, const plan::Plan& plan) {
  data::MicroBatch micro_batch;
  micro_batch.indices = dataset.largest(std::min(plan.micro_batch.value, dataset.size()));
  const auto loaded = load_batch(dataset, std::move(micro_batch), 0, plan.pinned_memory.value);
  std::string message;
  learner.begin();
  try {
    learner.add(loaded.batch);
  } catch (const std::exception& error) {
    if (!device::is_out_of_memory(error)) throw;
    message = first_line(error);
  }
  learner.discard();
  return message;
}

std::string first_line(const std::exception& error) {
  const std::string message = error.what();
  constexpr std::size_t kMost = 160;
  return message.substr(0, std::min(message.find('\n'), kMost));
}

}  // namespace ubique::engine
