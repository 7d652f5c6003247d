// SPDX-License-Identifier: Apache-2.0
// Which dtype the heavy ops compute in: correctness first (probes), then what the hardware
// supports, then measured speed. Where nothing was measured it is the default of the device's kind,
// and the reason says so.
#include <fmt/format.h>

#include <algorithm>

#include "ubique/plan/rules/rules.h"

namespace ubique::plan {
namespace {

using device::Kind;

/// Ops whose fault in a dtype forbids that dtype. (Faults of others have workarounds.)
std::vector<std::string> deciding_ops(const Needs& needs) {
  std::vector<std::string> ops;
  for (const char* op : {"matmul", "linear", "batch_norm2d", "batch_norm3d"}) {
    if (needs.uses_op(op)) ops.emplace_back(op);
  }
  return ops;
}

/// The ops whose time represents the model's.
std::vector<std::string> timed_ops(const Needs& needs) {
  std::vector<std::string> ops;
  for (const int dims : {2, 3}) {
    if (needs.has_conv(dims)) ops.push_back(fmt::format("conv{}d", dims));
  }
  for (const char* op : {"matmul", "linear"}) {
    if (needs.uses_op(op)) ops.emplace_back(op);
  }
  return ops;
}

/// Activations, reductions, losses and the like: every model has them, and under autocast part of
/// them stays in f32.
const probe::Verdict* wrong_small_op(const Context& context, DType dtype) {
  for (const char* op : {"elementary", "image"}) {
    if (op == std::string_view("image") && !context.needs.has_conv(2)) continue;
    if (const auto* wrong = context.evidence.wrong(op, dtype)) return wrong;
    if (const auto* wrong = context.evidence.wrong(op, DType::F32)) return wrong;
  }
  return nullptr;
}

const probe::Verdict* dtype_fault(const Context& context, DType dtype) {
  if (const auto* wrong = wrong_small_op(context, dtype)) return wrong;
  for (const auto& op : deciding_ops(context.needs)) {
    if (const auto* fault = context.evidence.fault(op, dtype)) return fault;
  }
  if (is_half(dtype)) {
    if (const auto* fault = context.evidence.fault("autocast.effective_dtype", dtype)) return fault;
  }
  return conv_fault(context, dtype);
}

bool is_proven(const Context& context, DType dtype) {
  const auto& evidence = context.evidence;
  const auto ops = deciding_ops(context.needs);
  const bool convs_proven = std::all_of(
      context.needs.convs.begin(), context.needs.convs.end(), [&](const ConvNeed& conv) {
        const auto op = fmt::format("conv{}d", conv.dims);
        return conv.dims == 1 || evidence.proven(op, dtype, probe::Layout::Contiguous) ||
               evidence.proven(op, dtype, probe::Layout::ChannelsLast);
      });
  return !evidence.empty() && convs_proven &&
         std::all_of(ops.begin(), ops.end(),
                     [&](const auto& op) { return evidence.proven(op, dtype); });
}

/// Time in this dtype over time in f32, by the probes of the model's heavy ops; 0 = not timed.
double time_ratio(const Context& context, DType dtype) {
  double half = 0, full = 0;
  for (const auto& op : timed_ops(context.needs)) {
    const double a = context.evidence.best_time(op, dtype);
    const double b = context.evidence.best_time(op, DType::F32);
    if (a <= 0 || b <= 0) continue;
    half += a;
    full += b;
  }
  return full > 0 ? half / full : 0;
}

bool tolerates(const Needs& needs, DType dtype) {
  return !is_half(dtype) || (dtype == DType::BF16 ? needs.tolerates_bf16 : needs.tolerates_f16);
}

/// Why a half-precision dtype gains nothing on this hardware, or an empty text.
std::string hardware_limit(const Context& context, DType dtype) {
  const auto& [facts, needs, wishes, evidence] = context;
  const bool bf16 = dtype == DType::BF16;
  if (context.is(Kind::Xpu)) return "never tested on XPU";
  if (context.is(Kind::Cuda) && facts.capability < 70) return "no fast half precision before sm70";
  if (context.is(Kind::Cuda) && bf16 && facts.capability < 80) {
    return fmt::format("emulated on sm{}: bf16 arithmetic begins with sm80", facts.capability);
  }
  if (context.is(Kind::Mps) && bf16 && context.macos_older_than(14, 0)) {
    return "bf16 on Metal needs macOS 14";
  }
  if (context.is(Kind::Mps) && bf16 && !facts.has_dtype(DType::BF16)) {
    return "emulated on M1 and M2: no gain over f16";
  }
  if (context.is(Kind::Cpu) && needs.host.own_kernels) {
    return "the model's own kernels for CPUs are f32 and faster";
  }
  if (context.is(Kind::Cpu) && !facts.has_dtype(dtype)) {
    return bf16 ? "this CPU has neither AMX nor AVX-512-BF16: emulated, slower than f32"
                : "no f16 arithmetic on this CPU: emulated, slower than f32";
  }
  return {};
}

/// Why a half-precision dtype cannot be used here, or an empty text.
std::string why_not(const Context& context, DType dtype) {
  const auto& [facts, needs, wishes, evidence] = context;
  if (!tolerates(needs, dtype)) return fmt::format("{} does not tolerate it", needs.name);
  if (context.is(Kind::Mps) && needs.f32_on_metal) return "it gave NaNs on Metal";
  if (wishes.numerics == Numerics::Strict) return "numerics are strict: f32 means f32";
  if (wishes.preferred_dtype == DType::F32) return "the configuration turns mixed precision off";
  if (const auto* fault = dtype_fault(context, dtype)) return describe(*fault);
  return hardware_limit(context, dtype);
}

std::string half_reason(const Context& context, DType dtype) {
  const std::string scaler = dtype == DType::BF16 ? "needs no loss scaling" : "with loss scaling";
  const double ratio = time_ratio(context, dtype);
  std::string evidence = is_proven(context, dtype)
                             ? "passed its probes"
                             : fmt::format("not measured: default for {}", context.device_name());
  if (ratio > 0) evidence += fmt::format(", {:.2f} of f32's time", ratio);
  return context.train() ? evidence + "; " + scaler : evidence;
}

/// Is this half-precision dtype faster than f32 here, not only smaller?
bool beats_f32(const Context& context, DType dtype) {
  const double ratio = time_ratio(context, dtype);
  switch (context.facts.kind) {
    case Kind::Cuda:
      return ratio < 1.25;  // tensor cores; 0 = not timed
    case Kind::Mps:
      return is_proven(context, dtype) && ratio < 0.95;
    case Kind::Cpu:
      return is_proven(context, dtype) && ratio > 0 && ratio < 0.95;
    case Kind::Xpu:
      break;
  }
  return false;
}

/// A preference counts where the dtype is known to work; one for Metal only always counts there.
bool is_preferred(const Context& context, DType dtype) {
  const auto& wishes = context.wishes;
  if (context.is(Kind::Mps) && wishes.preferred_on_mps) return wishes.preferred_on_mps == dtype;
  return wishes.preferred_dtype == dtype && (context.is(Kind::Cuda) || is_proven(context, dtype));
}

std::string f32_reason(const Context& context, const std::vector<DType>& halves) {
  if (context.wishes.numerics == Numerics::Strict) return "numerics are strict";
  if (context.wishes.preferred_dtype == DType::F32) {
    return "the configuration turns mixed precision off";
  }
  for (const auto dtype : halves) {
    if (const double ratio = time_ratio(context, dtype); ratio > 0) {
      return fmt::format("{} takes {:.2f} of f32's time in the probes: no gain worth its rounding",
                         to_string(dtype), ratio);
    }
  }
  if (halves.empty()) return "no half precision is usable here";
  return fmt::format("not measured: default for {}, the exact choice until probes have passed",
                     context.device_name());
}

DTypeRanking rank_asked(const Context& context, DType dtype) {
  const auto& [facts, needs, wishes, evidence] = context;
  check(dtype != DType::F64 || !context.is(Kind::Mps), ErrorKind::Device,
        "[plan.dtype] Metal has no float64; got dtype f64, expected f32, bf16 or f16.");
  check(tolerates(needs, dtype), ErrorKind::Usage,
        "[plan.dtype] {} does not tolerate {}; got dtype {}, expected f32.", needs.name,
        to_string(dtype), to_string(dtype));
  if (const auto* fault = dtype_fault(context, dtype)) {
    fail(ErrorKind::Device,
         "[plan.dtype] {} on {} would be wrong: {}; got dtype {}, expected auto.", to_string(dtype),
         facts.label(), describe(*fault), to_string(dtype));
  }
  const bool needs_macos14 = context.is(Kind::Mps) && dtype == DType::BF16;
  check(!needs_macos14 || !context.macos_older_than(14, 0), ErrorKind::Device,
        "[plan.dtype] bf16 on Metal needs macOS 14; got {}, expected dtype f16 or f32.",
        facts.os_version);
  const auto limit = is_half(dtype) ? hardware_limit(context, dtype) : std::string();
  return {{{dtype, wishes.dtype_reason + (limit.empty() ? "" : "; " + limit)}}, {}};
}

/// The dtype that the configuration prefers on this kind of device.
std::optional<DType> preferred_dtype(const Context& context) {
  const auto& wishes = context.wishes;
  return context.is(Kind::Mps) && wishes.preferred_on_mps ? wishes.preferred_on_mps
                                                          : wishes.preferred_dtype;
}

}  // namespace

std::string given_up(const Context& context, const Choice<DType>& chosen) {
  const auto preferred = preferred_dtype(context);
  const auto was_wanted = [&](const Rejected& other) {
    if (preferred) return other.option == to_string(*preferred);
    return context.wishes.prefers_half && !is_half(chosen.value);
  };
  std::string text;
  for (const auto& other : chosen.rejected) {
    if (was_wanted(other)) {
      text += fmt::format("; {}, as preferred, was given up: {}", other.option, other.why);
    }
  }
  return text;
}

std::optional<DType> suggested_half(const Context& context) {
  std::optional<DType> suggested;
  for (const auto dtype : {DType::BF16, DType::F16}) {
    if (why_not(context, dtype).empty()) return dtype;
    if (!suggested && tolerates(context.needs, dtype)) suggested = dtype;
  }
  return suggested;
}

DTypeRanking rank_dtypes(const Context& context) {
  const auto& wishes = context.wishes;
  if (wishes.dtype) return rank_asked(context, *wishes.dtype);
  DTypeRanking ranking;
  std::vector<DType> halves;  // usable, bf16 first: it needs no loss scaling
  for (const auto dtype : {DType::BF16, DType::F16}) {
    const auto why = why_not(context, dtype);
    if (why.empty()) {
      halves.push_back(dtype);
    } else {
      ranking.rejected.push_back({std::string(to_string(dtype)), why});
    }
  }
  const auto is_first = [&](DType dtype) { return is_preferred(context, dtype); };
  std::stable_partition(halves.begin(), halves.end(), is_first);

  std::vector<DTypeOption> later;  // only if f32 does not fit
  for (const auto dtype : halves) {
    if (is_first(dtype)) {
      ranking.options.push_back({dtype, "preferred by the configuration, usable here"});
    } else if (beats_f32(context, dtype)) {
      ranking.options.push_back({dtype, half_reason(context, dtype)});
    } else {
      later.push_back({dtype, "f32 does not fit; " + half_reason(context, dtype)});
    }
  }
  if (const auto* fault = dtype_fault(context, DType::F32)) {
    ranking.rejected.push_back({"f32", describe(*fault)});
  } else {
    ranking.options.push_back({DType::F32, f32_reason(context, halves)});
  }
  ranking.options.insert(ranking.options.end(), later.begin(), later.end());
  check(!ranking.options.empty(), ErrorKind::Device,
        "[plan.dtype] no dtype gives {} right numbers on {}: {}. Use --device cpu.",
        context.needs.name, context.facts.label(),
        ranking.rejected.empty() ? "" : ranking.rejected.back().why);
  return ranking;
}

std::vector<DType> dtype_candidates(const device::Facts& facts, const Needs& needs,
                                    const Wishes& wishes) {
  if (wishes.dtype) return {*wishes.dtype};
  const probe::Report nothing;
  const Context context{facts, needs, wishes,
                        Evidence(nothing, wishes.mode == Mode::Train, /*launch_ms=*/0)};
  std::vector<DType> candidates = {DType::F32};
  for (const auto dtype : {DType::BF16, DType::F16}) {
    if (!why_not(context, dtype).empty()) continue;
    const bool preferred = wishes.preferred_dtype == dtype || wishes.preferred_on_mps == dtype;
    if (candidates.size() < 2 || preferred) candidates.push_back(dtype);
  }
  return candidates;
}

Choice<bool> choose_autocast(const Context& context, DType dtype) {
  if (!is_half(dtype)) {
    return {false, fmt::format("everything computes in {}", to_string(dtype)), {}};
  }
  const bool pure = !context.train() && context.wishes.numerics == Numerics::Fast;
  if (pure) return {false, "numerics are fast: the whole model runs in half precision", {}};
  return {true,
          context.train() ? "f32 master weights, norms and loss; heavy ops in half precision"
                          : "weights in half precision, norms and softmax in f32",
          {{"off", "norms, softmax and loss would lose digits"}}};
}

Choice<bool> choose_scaler(const Context& context, DType dtype) {
  if (!context.train()) return {false, "no gradients in inference", {}};
  if (dtype == DType::F16) {
    return {true,
            "f16 gradients underflow without loss scaling (ours keeps its state in f32, on "
            "every device)",
            {{"off", "small gradients would become zero"}}};
  }
  const bool bf16 = dtype == DType::BF16;
  return {false,
          bf16 ? "bf16 has the exponent range of f32: nothing to scale"
               : fmt::format("{} gradients do not underflow", to_string(dtype)),
          {}};
}

}  // namespace ubique::plan
