// SPDX-License-Identifier: Apache-2.0
// How a model is to run on a device: every choice with its value, its reason and the rejected
// options. make_plan is a pure function (no clock, environment, files or tensors), so the same code
// plans for this machine and for the profile of another.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ubique/base/error.h"
#include "ubique/device/facts.h"
#include "ubique/plan/memory.h"
#include "ubique/plan/needs.h"
#include "ubique/plan/wishes.h"
#include "ubique/probe/core/verdict.h"

namespace ubique::plan {

struct Rejected {
  std::string option;  ///< "f16"
  std::string why;
};

template <typename T>
struct Choice {
  T value{};
  std::string reason;
  std::vector<Rejected> rejected;
};

/// A fault of the device (or of its libraries) that the engine must work around.
struct Workaround {
  std::string id;  ///< "contiguous_inputs": what the engine looks for
  std::string why;
};

/// The longest of what a model makes that fits.
struct Longest {
  std::string unit = {};  ///< "seconds"; empty: the model has no such length
  double most = 0;        ///< the model's own limit
  double fits = 0;        ///< at the plan's dtype and batch
};

struct Plan {
  std::string machine;  ///< how reports name the device
  std::string profile;  ///< id, or empty for a device of this machine
  std::string needs;    ///< name of the model
  Mode mode = Mode::Train;

  Choice<std::string> device;  ///< "cuda:0", "mps", "cpu"
  Choice<DType> dtype;         ///< what the heavy ops compute in
  Choice<bool> autocast;
  Choice<bool> grad_scaler;
  Choice<probe::Layout> memory_format;
  Choice<Attention> attention;
  Choice<std::int64_t> micro_batch;  ///< samples at once on one device
  bool micro_batch_asked = false;    ///< given by the user, not predicted
  Choice<std::int64_t> accumulation;
  Choice<std::int64_t>
      effective_batch;         ///< micro_batch * accumulation * processes, the same everywhere
  Choice<bool> checkpointing;  ///< of activations in the backward pass
  std::int64_t segments = 0;   ///< of checkpointing; 0 = off, or as the model does it
  Choice<bool> in_turn;        ///< stages of inference are in memory one after the other
  Longest longest;
  Choice<std::int64_t> pad_channels;  ///< to a multiple of this; 1 = as they are
  Choice<bool> fused_kernels;
  Choice<bool> graph_capture;
  Choice<bool> pinned_memory;
  Choice<bool> non_blocking;  ///< copies that overlap with work
  Choice<int> prefetch_threads;
  Choice<int> compute_threads;       ///< of the CPU; 0 where the CPU does not compute
  bool threads_follow_load = false;  ///< neither given by the user nor bound by determinism
  Choice<bool> tf32;
  Choice<bool> deterministic;
  Choice<bool> autotune;            ///< the convolution library times its algorithms
  Choice<bool> clear_cache;         ///< empty the device allocator's cache between phases
  Choice<std::string> distributed;  ///< "none", "nccl", "gloo"
  Choice<Shard> shard;              ///< what those processes split
  std::vector<Workaround> workarounds;

  MemoryParts memory;
  std::string budget_reason;
  double floor_ms =
      0;  ///< of one update (train) or batch (run) at the datasheet's peak; 0 = unknown
};

/// The Device error of a model that is too large, with the two numbers for a table's cell.
class DoesNotFit : public Error {
 public:
  DoesNotFit(const std::string& message, std::int64_t needed, std::int64_t budget)
      : Error(ErrorKind::Device, message), needed_(needed), budget_(budget) {}
  std::int64_t needed() const { return needed_; }
  std::int64_t budget() const { return budget_; }

 private:
  std::int64_t needed_, budget_;
};

/// The dtypes that a plan may choose on this device before its probes say more: the one that was
/// asked for, or f32 and the first half precision that model and device allow (a preferred one
/// too).
std::vector<DType> dtype_candidates(const device::Facts& facts, const Needs& needs,
                                    const Wishes& wishes);

/// With an empty report the choices are defaults, and their reasons say so. Device error for a wish
/// that the device cannot fulfil, DoesNotFit if its memory is too small, Usage error for wishes
/// that contradict each other.
Plan make_plan(const device::Facts& facts, const probe::Report& report, const Needs& needs,
               const Wishes& wishes);

}  // namespace ubique::plan
