// SPDX-License-Identifier: Apache-2.0
// What tests of training share: a plan for a small machine, options without output.
#pragma once

#include <string>

#include "tests/device.h"
#include "ubique/engine/loop/trainer.h"

namespace ubique::test {

/// f32, one thread, `micro` samples at once.
inline plan::Plan training_plan(const std::string& needs, std::int64_t micro,
                                std::int64_t accumulation = 1) {
  plan::Plan plan;
  plan.machine = "a test";
  plan.needs = needs;
  plan.mode = plan::Mode::Train;
  plan.device.value = device_name();
  plan.dtype.value = DType::F32;
  plan.micro_batch = {micro, "as planned", {}};
  plan.accumulation.value = accumulation;
  plan.effective_batch.value = micro * accumulation;
  plan.fused_kernels.value = true;
  plan.prefetch_threads.value = 1;
  plan.compute_threads.value = 1;
  plan.memory.total = 1 << 20;
  return plan;
}

/// Logs every step, draws nothing, writes no report.
inline engine::TrainOptions training_options(const std::filesystem::path& folder,
                                             const std::string& family) {
  engine::TrainOptions options;
  options.folder = folder;
  options.progress = ProgressStyle::Silent;
  options.log_every = 1;
  options.report = false;
  options.configuration = "family: " + family + "\n";
  return options;
}

}  // namespace ubique::test
