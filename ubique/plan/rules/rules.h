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

/// The input of every rule.
struct Context {
  const device::Facts& facts;
  const Needs& needs;
  const Wishes& wishes;
  Evidence evidence;

  bool train() const { return wishes.mode == Mode::Train; }
  bool is(device::Kind kind) const { return facts.kind == kind; }
  std::string device_name() const;  ///< "Metal", "CUDA sm75", "the CPU"
  /// False if the system is not macOS: a pretend Metal device on Linux has no such limits.
  bool macos_older_than(int major, int minor) const;
};

/// Is a dotted version ("2.12.1", "macOS 15.0") older than this? Unknown versions are not.
bool older_than(std::string_view version, int major, int minor);

// rule_device.cpp
void refuse_impossible(const Context& context);
Choice<std::string> choose_device(const Context& context);
Choice<std::string> choose_distributed(const Context& context);

// rule_precision.cpp: dtypes to try, best first. Later ones are used if the first do not fit.
struct DTypeOption {
  DType dtype = DType::F32;
  std::string reason;
};
struct DTypeRanking {
  std::vector<DTypeOption> options;
  std::vector<Rejected> rejected;
};
DTypeRanking rank_dtypes(const Context& context);
/// "; f16, as preferred, was given up: ..." for a preference that the choice does not follow.
std::string given_up(const Context& context, const Choice<DType>& chosen);
/// What to try where f32 is too large: a half precision that the device does well, else one that
/// the model tolerates.
std::optional<DType> suggested_half(const Context& context);
Choice<bool> choose_autocast(const Context& context, DType dtype);
Choice<bool> choose_scaler(const Context& context, DType dtype);

// rule_layout.cpp
/// A verdict that rules out every layout for one of the model's convolutions, or nullptr.
const probe::Verdict* conv_fault(const Context& context, DType dtype);
Choice<probe::Layout> choose_layout(const Context& context, DType dtype);
Choice<std::int64_t> choose_padding(const Context& context, DType dtype);

// rule_attention.cpp: an empty reason means that no kernel is usable in this dtype.
Choice<Attention> choose_attention(const Context& context, DType dtype);

// rule_batch.cpp
struct BatchTarget {
  std::int64_t effective = 1;   ///< per optimizer step, all devices
  std::int64_t per_device = 1;  ///< effective / processes
  std::string reason;
};
BatchTarget choose_target(const Context& context);
/// Sizes to try, largest first: in training the divisors of the effective batch, so that every
/// update has the same number of samples.
std::vector<std::int64_t> batch_sizes(const Context& context, const BatchTarget& target);

// rule_fit.cpp
struct Fit {
  DTypeOption option;
  Choice<Attention> attention;
  Choice<bool> checkpointing;
  CheckpointLevel level;  ///< if checkpointing
  Choice<std::int64_t> micro_batch;
  Choice<bool> in_turn;
  Choice<Shard> shard;
  bool keeps_busy = false;  ///< the device, by samples at once
  double longest = 0;       ///< that fits, of Needs::length
  MemoryParts memory;
  std::vector<Rejected> rejected_dtypes;
};
/// Device error (DoesNotFit) if nothing fits.
Fit find_fit(const Context& context, const BatchTarget& target, const DTypeRanking& ranking);

// rule_shard.cpp
/// What may be split, least first; only one if the user says it. Usage error for a wish that the
/// model cannot fulfil.
std::vector<Shard> shard_levels(const Context& context);
/// `without`: what less splitting would need, in words; empty if nothing less was tried.
Choice<Shard> explain_shard(const Context& context, Shard chosen, const std::string& without);

// rule_runtime.cpp
void choose_runtime(const Context& context, Plan& plan);
// rule_numerics.cpp
void choose_numerics(const Context& context, Plan& plan);
// rule_workarounds.cpp
std::vector<Workaround> choose_workarounds(const Context& context, DType dtype);

}  // namespace ubique::plan
