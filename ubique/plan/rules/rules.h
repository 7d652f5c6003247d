// SPDX-License-Identifier: Apache-2.0
// The rules of make_plan, one file per topic. Inside plan/ only.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/plan/plan.h"
#include "ubique/plan/rules/evidence.h"

namespace ubique::plan {

/// All that a rule may look at.
struct Question {
  const device::Facts& facts;
  const Needs& needs;
  const Wishes& wishes;
  Evidence evidence;

  bool train() const { return wishes.mode == Mode::Train; }
  bool is(device::Kind kind) const { return facts.kind == kind; }
  std::string device_name() const;  ///< "Metal", "CUDA sm75", "the CPU"
  /// False where the system is not macOS: a pretend Metal device on Linux has no such limits.
  bool macos_older_than(int major, int minor) const;
};

/// Is a dotted version ("2.12.1", "macOS 15.0") older than this? Unknown versions are not.
bool older_than(std::string_view version, int major, int minor);

// rule_device.cpp
void refuse_impossible(const Question& question);
Choice<std::string> choose_device(const Question& question);
Choice<std::string> choose_distributed(const Question& question);

// rule_precision.cpp: dtypes to try, best first. Later ones serve when the first do not fit.
struct DTypeOption {
  DType dtype = DType::F32;
  std::string reason;
};
struct DTypeRanking {
  std::vector<DTypeOption> options;
  std::vector<Rejected> rejected;
};
DTypeRanking rank_dtypes(const Question& question);
Choice<bool> choose_autocast(const Question& question, DType dtype);
Choice<bool> choose_scaler(const Question& question, DType dtype);

// rule_layout.cpp
/// A verdict that rules out every layout for a convolution the model has, or nullptr.
const probe::Verdict* conv_fault(const Question& question, DType dtype);
Choice<probe::Layout> choose_layout(const Question& question, DType dtype);
Choice<std::int64_t> choose_padding(const Question& question, DType dtype);

// rule_attention.cpp: an empty reason means that none is possible and right in this dtype.
Choice<Attention> choose_attention(const Question& question, DType dtype);

// rule_batch.cpp
struct BatchTarget {
  std::int64_t effective = 1;   ///< per optimizer step, all devices
  std::int64_t per_device = 1;  ///< effective / processes
  std::string reason;
};
BatchTarget choose_target(const Question& question);
/// Sizes to try, largest first: in training the divisors of the effective batch, so that every
/// update has the same number of samples.
std::vector<std::int64_t> batch_sizes(const Question& question, const BatchTarget& target);

// rule_fit.cpp
struct Fit {
  DTypeOption option;
  Choice<Attention> attention;
  Choice<bool> checkpointing;
  CheckpointLevel level;  ///< if checkpointing
  Choice<std::int64_t> micro_batch;
  MemoryParts memory;
  std::vector<Rejected> rejected_dtypes;
};
/// Device error (DoesNotFit) if nothing fits.
Fit find_fit(const Question& question, const BatchTarget& target, const DTypeRanking& ranking);

// rule_runtime.cpp
void choose_runtime(const Question& question, Plan& plan);
// rule_numerics.cpp
void choose_numerics(const Question& question, Plan& plan);
// rule_workarounds.cpp
std::vector<Workaround> choose_workarounds(const Question& question, DType dtype);

}  // namespace ubique::plan
