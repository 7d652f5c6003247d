// SPDX-License-Identifier: Apache-2.0
// The memory formulas: weights, gradients, optimizer, activations, workspace.
#include "ubique/plan/memory.h"

#include <algorithm>

namespace ubique::plan {
namespace {

using device::Kind;

constexpr double kF32 = 4;

/// Sums are computed in double and clamped: a file may state numbers whose product overflows int64.
std::int64_t to_bytes(double bytes) {
  constexpr double kMost = 9.2e18;
  return static_cast<std::int64_t>(std::min(bytes, kMost));
}

double bytes_of(DType dtype) { return static_cast<double>(size_of(dtype)); }

/// Scratch space that the vendors' matrix and convolution kernels always take: on CUDA the cuBLAS
/// workspace of the newest cards. Convolutions take more only if they are autotuned
/// (rule_numerics.cpp) or the model states it (Needs::workspace_cuda).
double kernel_scratch(Kind kind) {
  constexpr double kMiB = 1 << 20;
  switch (kind) {
    case Kind::Cuda:
    case Kind::Xpu:
      return 32 * kMiB;
    case Kind::Mps:
      return 128 * kMiB;
    case Kind::Cpu:
      break;
  }
  return 64 * kMiB;
}

/// Does the model use its own CPU kernels for this choice?
bool on_own_kernels(const Needs& needs, const MemoryChoice& choice) {
  return needs.host.own_kernels && choice.kind == Kind::Cpu && choice.dtype == DType::F32;
}

double scratch_bytes(const Needs& needs, const MemoryChoice& choice) {
  if (!on_own_kernels(needs, choice)) return kernel_scratch(choice.kind);
  return choice.mode == Mode::Train ? static_cast<double>(needs.host.train) * kF32 : 0;
}

/// Of split weights a process has its share, and whole the block that is computed and the next one.
constexpr double kWholeBlocks = 2;

/// Numbers of a group that are in memory at once.
double present(const ParameterGroup& group, std::int64_t blocks, const MemoryChoice& choice) {
  const auto all = static_cast<double>(group.count);
  if (choice.shard != Shard::Weights || blocks == 0) return all;
  const auto split = static_cast<double>(group.in_blocks);
  const auto whole = std::min(kWholeBlocks / static_cast<double>(blocks), 1.0);
  return all - split + split * std::min(1.0, 1.0 / choice.processes + whole);
}

double weight_bytes(const std::vector<ParameterGroup>& groups, const MemoryChoice& choice,
                    std::int64_t blocks = 0) {
  double bytes = 0;
  for (const auto& group : groups) {
    const auto count = present(group, blocks, choice);
    if (group.bytes > 0) {
      bytes += count * group.bytes;
    } else if (choice.mode == Mode::Train && group.trainable) {
      // f32 (or f64) master weights, and autocast's copies of them in the compute dtype.
      bytes += count * std::max(kF32, bytes_of(choice.dtype));
      if (is_half(choice.dtype)) bytes += count * bytes_of(choice.dtype);
    } else {
      bytes += count * bytes_of(choice.dtype);
    }
  }
  return bytes;
}

/// Elements of the attention scores: of all layers, or of the largest single layer.
double score_elements(const Needs& needs, bool all_layers) {
  double sum = 0, widest = 0;
  for (const auto& attention : needs.attention) {
    const double one = static_cast<double>(attention.heads) *
                       static_cast<double>(attention.queries) * static_cast<double>(attention.keys);
    sum += one * static_cast<double>(attention.layers);
    widest = std::max(widest, one);
  }
  return all_layers ? sum : widest;
}

/// Factor by which channel padding enlarges an activation.
double padding_factor(const Needs& needs, const MemoryChoice& choice) {
  const auto multiple = channel_multiple(needs, choice.kind, choice.dtype);
  if (multiple == 1) return 1;
  const auto padded = (needs.pad_width + multiple - 1) / multiple * multiple;
  return static_cast<double>(padded) / static_cast<double>(needs.pad_width);
}

double saved_bytes(const Needs& needs, const MemoryChoice& choice) {
  const auto& activations = needs.activations;
  const auto levels = needs.checkpointing.all();
  const bool recomputes = choice.checkpointing && choice.level < levels.size();
  const double kept = recomputes ? levels[choice.level].kept : 1;
  const bool fewer = activations.saved_cuda > 0 && choice.kind == Kind::Cuda && choice.batch == 1;
  const auto saved = fewer ? activations.saved_cuda : activations.saved;
  const auto saved_f32 = fewer ? 0 : activations.saved_f32;
  double half = static_cast<double>(saved) * kept * padding_factor(needs, choice);
  if (writes_scores(choice.kind, choice.attention)) {
    half += std::max(score_elements(needs, true) * kept, score_elements(needs, false));
  }
  const double full = static_cast<double>(saved_f32) * kept + static_cast<double>(activations.loss);
  return half * bytes_of(choice.dtype) + full * kF32;
}

double transient_bytes(const Needs& needs, const MemoryChoice& choice) {
  double elements =
      static_cast<double>(needs.activations.transient) * padding_factor(needs, choice);
  if (writes_scores(choice.kind, choice.attention)) elements += score_elements(needs, false);
  return elements * bytes_of(choice.dtype);
}

double input_bytes(const Needs& needs) {
  double bytes = 0;
  for (const auto& input : needs.inputs) {
    double elements = 1;
    for (const auto extent : input.shape) elements *= static_cast<double>(extent);
    bytes += elements * bytes_of(input.dtype);
  }
  return bytes;
}

/// One T x T mask shared by all heads and samples.
double mask_bytes(const Needs& needs, const MemoryChoice& choice) {
  if (choice.attention != Attention::ExplicitMask) return 0;
  double widest = 0;
  for (const auto& attention : needs.attention) {
    widest = std::max(widest,
                      static_cast<double>(attention.queries) * static_cast<double>(attention.keys));
  }
  return widest * bytes_of(choice.dtype);
}

/// Weights and activations of inference.
struct RunBytes {
  double weights = 0, activations = 0;
};

/// Of the stage that takes most; all weights at once unless stages take turns.
RunBytes staged_bytes(const Needs& needs, const MemoryChoice& choice) {
  RunBytes most;
  double all = 0, largest = -1;
  const auto batch = static_cast<double>(choice.batch);
  for (const auto& stage : needs.stages) {
    const auto weights = weight_bytes(stage.parameters, choice);
    const auto values = batch * (static_cast<double>(stage.run) * bytes_of(choice.dtype) +
                                 static_cast<double>(stage.run_f32) * kF32);
    const auto counted = choice.in_turn ? weights + values : values;
    if (counted > largest) most = {weights, values};
    largest = std::max(largest, counted);
    all += weights;
  }
  if (!choice.in_turn) most.weights = all;
  return most;
}

RunBytes run_bytes(const Needs& needs, const MemoryChoice& choice) {
  if (!needs.stages.empty()) return staged_bytes(needs, choice);
  const auto values = on_own_kernels(needs, choice) ? needs.host.run : needs.activations.run;
  return {weight_bytes(needs.parameters, choice),
          static_cast<double>(choice.batch) * static_cast<double>(values) * bytes_of(choice.dtype) *
              padding_factor(needs, choice)};
}

}  // namespace

std::int64_t channel_multiple(const Needs& needs, Kind kind, DType dtype) {
  constexpr std::int64_t kTensorCore = 8;
  const bool useful = needs.pad_width > 0 && needs.pad_width % kTensorCore != 0;
  return useful && kind == Kind::Cuda && is_half(dtype) ? kTensorCore : 1;
}

bool is_half(DType dtype) { return size_of(dtype) < 4; }

bool writes_scores(Kind kind, Attention attention) {
  if (attention == Attention::None) return false;
  // Metal's fused kernel stores them too, and with gradients torch takes the composite path there.
  return attention == Attention::Math || kind == Kind::Mps;
}

namespace {

/// Trained numbers that have a gradient in memory at once. Those on their way between processes
/// count twice: with their sums.
double gradient_numbers(const Needs& needs, const MemoryChoice& choice) {
  double numbers = 0;
  for (const auto& group : needs.parameters) {
    if (!group.trainable) continue;
    numbers += present(group, needs.blocks, choice);
    if (choice.processes == 1) continue;
    const auto in_blocks = choice.shard == Shard::Weights ? group.in_blocks : 0;
    numbers += static_cast<double>(group.count - in_blocks);
  }
  return numbers;
}

/// Numbers of averaged weights on one process.
double averaged_numbers(const Needs& needs, const MemoryChoice& choice) {
  double numbers = 0;
  for (const auto& group : needs.parameters) {
    const bool split = choice.shard == Shard::Weights && needs.blocks > 0;
    const auto in_blocks = split ? static_cast<double>(group.in_blocks) : 0;
    if (group.trainable) {
      numbers += static_cast<double>(group.count) - in_blocks + in_blocks / choice.processes;
    }
  }
  return numbers;
}

/// While split weights are whole: in a validation.
double whole_bytes(const Needs& needs, const MemoryChoice& choice, double optimizer) {
  auto whole = choice;
  whole.shard = Shard::None;
  const double weights = weight_bytes(needs.parameters, whole);
  return weights + weights / choice.processes + optimizer +
         static_cast<double>(needs.activations.run) * bytes_of(choice.dtype);
}

}  // namespace

MemoryParts predict_memory(const Needs& needs, const MemoryChoice& choice, std::int64_t budget) {
  const bool train = choice.mode == Mode::Train;
  const auto batch = static_cast<double>(choice.batch);
  const auto trainable = train ? static_cast<double>(needs.trainable_count()) : 0;
  const double master = std::max(kF32, bytes_of(choice.dtype));
  const auto run = train ? RunBytes() : run_bytes(needs, choice);
  // Training overlaps the copy of the next batch with the computation; inference does not.
  const double batches_in_flight = train ? 2 : 1;

  MemoryParts parts;
  parts.weights =
      to_bytes(train ? weight_bytes(needs.parameters, choice, needs.blocks) : run.weights);
  parts.gradients = to_bytes(train ? gradient_numbers(needs, choice) * master : 0);
  const double owners = choice.shard == Shard::None ? 1 : choice.processes;
  const double averaged = train ? averaged_numbers(needs, choice) * needs.weight_averages : 0;
  parts.optimizer = to_bytes(master * (trainable / owners * needs.optimizer_states + averaged));
  const double piece = train ? static_cast<double>(needs.activations.loss_piece) * kF32 : 0;
  parts.activations =
      to_bytes(train ? batch * saved_bytes(needs, choice) + piece : run.activations);
  parts.kv_cache = train ? 0
                         : to_bytes(batch * static_cast<double>(needs.activations.kv_cache) *
                                    bytes_of(choice.dtype));
  const double per_sample =
      batches_in_flight * input_bytes(needs) + (train ? transient_bytes(needs, choice) : 0);
  double run_scores = 0;
  if (!train && writes_scores(choice.kind, choice.attention)) {
    run_scores = batch * score_elements(needs, false) * bytes_of(choice.dtype);
  }
  parts.workspace = to_bytes(batch * per_sample + run_scores + mask_bytes(needs, choice) +
                             scratch_bytes(needs, choice));
  double required = static_cast<double>(parts.weights) + static_cast<double>(parts.gradients) +
                    static_cast<double>(parts.optimizer) + static_cast<double>(parts.activations) +
                    static_cast<double>(parts.kv_cache) + static_cast<double>(parts.workspace);
  if (train && choice.shard == Shard::Weights) {
    const auto optimizer = static_cast<double>(parts.optimizer);
    const double more = whole_bytes(needs, choice, optimizer) - required;
    parts.workspace += to_bytes(std::max(0.0, more));
    required += std::max(0.0, more);
  }
  parts.total = to_bytes(required);
  parts.budget = budget;
  parts.fits = parts.total <= budget;
  if (parts.fits && train && choice.kind == Kind::Cuda) {
    const auto extra = std::min(needs.workspace_cuda, budget - parts.total);
    parts.workspace += extra;
    parts.total += extra;
  }
  return parts;
}

}  // namespace ubique::plan
