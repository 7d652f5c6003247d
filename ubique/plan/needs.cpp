// SPDX-License-Identifier: Apache-2.0
// Queries on Needs, the checks that hold for every source of them, and the probe cases of a model.
#include "ubique/plan/needs.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "ubique/base/error.h"
#include "ubique/base/text/text.h"

namespace ubique::plan {
namespace {

struct Range {
  const char* key;
  double value;
  double least;
};

void check_ranges(const Needs& needs, const std::vector<Range>& ranges) {
  for (const auto& range : ranges) {
    check(std::isfinite(range.value) && range.value >= range.least, ErrorKind::Usage,
          "[plan.needs] {}: {} is out of range; got {}, expected at least {}.", needs.name,
          range.key, range.value, range.least);
  }
}

void check_parameters(const Needs& needs) {
  check(!needs.parameters.empty(), ErrorKind::Usage,
        "[plan.needs] {}: no parameters; got an empty list, expected groups with name and count.",
        needs.name);
  for (const auto& group : needs.parameters) {
    check(
        group.count > 0 && group.bytes >= 0 && group.bytes <= 8, ErrorKind::Usage,
        "[plan.needs] {}: parameter group '{}' is invalid; got {} parameters of {} bytes, expected "
        "a positive count and 0 to 8 bytes.",
        needs.name, group.name, group.count, group.bytes);
    check(!group.trainable || group.bytes == 0, ErrorKind::Usage,
          "[plan.needs] {}: parameter group '{}' is trainable and packed; got {} bytes each, "
          "expected 0: what is trained is kept in f32.",
          needs.name, group.name, group.bytes);
  }
}

void check_convs(const Needs& needs) {
  for (const auto& conv : needs.convs) {
    check(conv.dims >= 1 && conv.dims <= 3 && conv.in > 0 && conv.out > 0 && conv.kernel > 0 &&
              conv.dilation > 0 && conv.length >= 0,
          ErrorKind::Usage,
          "[plan.needs] {}: a convolution is invalid; got {} dimensions, in {}, out {}, kernel {}, "
          "dilation {}, expected 1 to 3 dimensions and positive numbers.",
          needs.name, conv.dims, conv.in, conv.out, conv.kernel, conv.dilation);
  }
}

void check_attention(const Needs& needs) {
  for (const auto& attention : needs.attention) {
    check(attention.layers > 0 && attention.heads > 0 && attention.head_dim > 0 &&
              attention.queries > 0 && attention.keys > 0 && attention.window >= 0,
          ErrorKind::Usage,
          "[plan.needs] {}: an attention is invalid; got layers {}, heads {}, head_dim {}, queries "
          "{}, keys {}, expected positive numbers.",
          needs.name, attention.layers, attention.heads, attention.head_dim, attention.queries,
          attention.keys);
    check(attention.kv_heads > 0 && attention.heads % attention.kv_heads == 0, ErrorKind::Usage,
          "[plan.needs] {}: kv_heads must divide heads; got {} and {}, expected e.g. heads 24, "
          "kv_heads 2.",
          needs.name, attention.kv_heads, attention.heads);
  }
}

constexpr std::int64_t kLeastExtent = 9;

/// Extent of a scaled-down convolution: small, and wide enough that every kernel tap reads data
/// somewhere (the outermost tap is half a kernel away).
std::int64_t probe_extent(const ConvNeed& conv) {
  return std::max<std::int64_t>(kLeastExtent, conv.dilation * (conv.kernel - 1) / 2 + 3);
}

/// Makes a convolution small enough for a probe, whatever a model's file says: fewer channels, then
/// smaller extents. A tenth of a second of arithmetic at most.
void bound_work(probe::Case& conv) {
  constexpr double kMostWork = 4e8, kMostElements = 1 << 23;
  const auto elements = [&] {
    return std::accumulate(conv.shape.begin(), conv.shape.end(), 1.0, std::multiplies<>());
  };
  while (probe::conv_work(conv) > kMostWork || elements() > kMostElements) {
    auto& widest = conv.shape[1] > conv.out_channels ? conv.shape[1] : conv.out_channels;
    const auto extent = std::max(kLeastExtent, conv.shape.back() / 2);
    if (widest > 1) {
      widest /= 2;
    } else if (extent < conv.shape.back()) {
      std::fill(conv.shape.begin() + 2, conv.shape.end(), extent);
    } else {
      return;
    }
  }
}

std::vector<DType> probed_dtypes(const Needs& needs) {
  std::vector<DType> dtypes = {DType::F32};
  if (needs.tolerates_bf16) dtypes.push_back(DType::BF16);
  if (needs.tolerates_f16) dtypes.push_back(DType::F16);
  return dtypes;
}

}  // namespace

std::string_view to_string(Mode mode) { return mode == Mode::Train ? "train" : "run"; }

std::int64_t Needs::parameter_count() const {
  std::int64_t count = 0;
  for (const auto& group : parameters) count += group.count;
  return count;
}

std::int64_t Needs::trainable_count() const {
  std::int64_t count = 0;
  for (const auto& group : parameters) count += group.trainable ? group.count : 0;
  return count;
}

std::vector<CheckpointLevel> CheckpointingNeed::all() const {
  if (!supported) return {};
  return levels.empty() ? std::vector<CheckpointLevel>{{0, kept, extra}} : levels;
}

bool Needs::uses_op(std::string_view op) const {
  return std::find(ops.begin(), ops.end(), op) != ops.end();
}

bool Needs::has_conv(int dims) const {
  return std::any_of(convs.begin(), convs.end(),
                     [&](const ConvNeed& conv) { return conv.dims == dims; });
}

Needs at_length(const Needs& needs, double length) {
  auto other = needs;
  for (auto& stage : other.stages) {
    stage.run += static_cast<std::int64_t>(stage.run_each * (length - needs.length.value));
  }
  for (auto& attention : other.attention) {
    const auto queries = static_cast<double>(attention.queries) * length / needs.length.value;
    attention.queries = std::max<std::int64_t>(1, static_cast<std::int64_t>(queries));
  }
  other.length.value = length;
  return other;
}

void check_needs(const Needs& needs) {
  check(!needs.name.empty(), ErrorKind::Usage,
        "[plan.needs] the name is missing; got an empty text, expected e.g. meshnet-26.");
  const auto as_double = [](std::int64_t value) { return static_cast<double>(value); };
  const auto& activations = needs.activations;
  check_ranges(needs, {{"activations.saved", as_double(activations.saved), 0},
                       {"activations.saved_f32", as_double(activations.saved_f32), 0},
                       {"activations.saved_cuda", as_double(activations.saved_cuda), 0},
                       {"activations.loss", as_double(activations.loss), 0},
                       {"activations.transient", as_double(activations.transient), 0},
                       {"activations.run", as_double(activations.run), 1},
                       {"activations.largest", as_double(activations.largest), 0},
                       {"flops.run", needs.flops_run, 0},
                       {"flops.train", needs.flops_train, 0},
                       {"optimizer_states", needs.optimizer_states, 0},
                       {"weight_averages", as_double(needs.weight_averages), 0},
                       {"batch.effective", as_double(needs.effective_batch), 1},
                       {"batch.run", as_double(needs.run_batch), 1},
                       {"batch.busy", as_double(needs.busy_batch), 1},
                       {"batch.max", as_double(needs.max_batch), 0},
                       {"checkpointing.kept", needs.checkpointing.kept, 1e-6},
                       {"checkpointing.extra", needs.checkpointing.extra, 0},
                       {"workspace_cuda", as_double(needs.workspace_cuda), 0}});
  for (const auto size :
       {needs.effective_batch, needs.run_batch, needs.busy_batch, needs.max_batch}) {
    check(size <= std::int64_t{1} << 30, ErrorKind::Usage,
          "[plan.needs] {}: a batch size is out of range; got {}, expected at most {}.", needs.name,
          size, std::int64_t{1} << 30);
  }
  check(needs.checkpointing.kept <= 1, ErrorKind::Usage,
        "[plan.needs] {}: checkpointing.kept is a share; got {}, expected at most 1.", needs.name,
        needs.checkpointing.kept);
  check_parameters(needs);
  check_convs(needs);
  check_attention(needs);
}

std::vector<probe::Case> probe_cases(const Needs& needs) {
  std::vector<probe::Case> cases;
  for (const auto& conv : needs.convs) {
    probe::Case probe;
    probe.op = "conv" + std::to_string(conv.dims) + "d";
    probe.shape = {1, conv.in};
    probe.shape.insert(probe.shape.end(), static_cast<std::size_t>(conv.dims), probe_extent(conv));
    probe.out_channels = conv.out;
    probe.kernel = conv.kernel;
    probe.dilation = conv.dilation;
    bound_work(probe);
    probe.dtypes = probed_dtypes(needs);
    if (conv.dims > 1) probe.layouts.push_back(probe::Layout::ChannelsLast);
    probe.timed = conv.dims > 1;
    probe.gradient = needs.can_train();
    cases.push_back(std::move(probe));
  }
  for (const auto& attention : needs.attention) {
    probe::Case probe;
    probe.op = "attention";
    const auto length = std::min<std::int64_t>(70, std::max(attention.queries, attention.keys));
    probe.shape = {1, length};  // self-attention; queries and keys may differ only without a mask
    if (!attention.causal && attention.window == 0) {
      probe.shape = {1, std::min(length, attention.queries), std::min(length, attention.keys)};
    }
    probe.heads = attention.heads;
    probe.kv_heads = attention.kv_heads;
    probe.head_dim = attention.head_dim;
    probe.causal = attention.causal;
    probe.window = attention.window > 0 ? std::min(attention.window, length / 2) : 0;
    probe.dtypes = probed_dtypes(needs);
    probe.gradient = needs.can_train();
    cases.push_back(std::move(probe));
  }
  cases.insert(cases.end(), needs.probes.begin(), needs.probes.end());
  return cases;
}

}  // namespace ubique::plan
