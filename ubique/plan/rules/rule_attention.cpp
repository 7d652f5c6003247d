// SPDX-License-Identifier: Apache-2.0
// Which attention kernel runs, by what torch really does on each device. A kernel that failed its
// causality probe is out, whatever its version.
#include <fmt/format.h>

#include <algorithm>

#include "ubique/base/text/text.h"
#include "ubique/plan/rules/rules.h"

namespace ubique::plan {
namespace {

using device::Kind;

/// The properties of all attention layers that matter for this choice.
struct AttentionFacts {
  bool causal = false, mask = false, dropout = false, window = false, grouped = false;
  std::int64_t head_dim = 0;
};

AttentionFacts summarize(const Needs& needs) {
  AttentionFacts all;
  for (const auto& attention : needs.attention) {
    all.causal = all.causal || attention.causal;
    all.mask = all.mask || attention.mask;
    all.dropout = all.dropout || attention.dropout;
    all.window = all.window || (attention.window > 0 && attention.window < attention.keys);
    all.grouped = all.grouped || attention.kv_heads < attention.heads;
    all.head_dim = std::max(all.head_dim, attention.head_dim);
  }
  return all;
}

/// Why the device has no flash kernel for this model, or an empty text.
std::string flash_obstacle(const Context& context, DType dtype, const AttentionFacts& facts) {
  if (context.is(Kind::Mps)) return "there is no flash attention in torch for Metal";
  if (context.is(Kind::Xpu)) return "never tested on XPU";
  if (facts.mask) return "takes no mask of the model's own";
  if (context.is(Kind::Cpu)) {
    if (facts.window) return "the CPU kernel knows no sliding window";
    return facts.dropout ? "no dropout in the CPU kernel" : "";
  }
  const int capability = context.facts.capability;
  if (capability < 80) return fmt::format("needs sm80 (Ampere); this is sm{}", capability);
  if (!is_half(dtype))
    return fmt::format("needs f16 or bf16; this plan computes in {}", to_string(dtype));
  if (facts.head_dim > 256 || facts.head_dim % 8 != 0) {
    return fmt::format("head size {} is not a multiple of 8 up to 256", facts.head_dim);
  }
  return {};
}

std::string efficient_obstacle(const Context& context, DType dtype, const AttentionFacts& facts) {
  if (context.is(Kind::Cpu)) return "a CUDA and Metal kernel";
  if (context.is(Kind::Xpu)) return "never tested on XPU";
  if (facts.window) return "knows no sliding window";
  if (context.is(Kind::Cuda)) {
    const bool emulated = dtype == DType::BF16 && context.facts.capability < 80;
    return emulated ? "bf16 needs sm80" : "";
  }
  if (context.train()) return "on Metal gradients take the composite path: it would be math";
  // On Metal the fused kernel applies a causal mask to groups of four queries in half precision.
  const bool leaks = facts.causal && is_half(dtype) &&
                     older_than(context.facts.torch_version, 2, 13) &&
                     !context.evidence.proven("attention.fused_causal", dtype);
  return leaks ? "half-precision is_causal leaks up to three future tokens before torch 2.13" : "";
}

std::string mask_obstacle(const AttentionFacts& facts) {
  return facts.causal || facts.mask || facts.window ? "" : "nothing to mask";
}

std::string obstacle(const Context& context, DType dtype, Attention attention) {
  const auto facts = summarize(context.needs);
  switch (attention) {
    case Attention::Flash:
      return flash_obstacle(context, dtype, facts);
    case Attention::Efficient:
      return efficient_obstacle(context, dtype, facts);
    case Attention::ExplicitMask:
      return mask_obstacle(facts);
    case Attention::Math:
    case Attention::None:
      break;
  }
  return {};
}

/// The verdict that rules this kernel out, or nullptr.
const probe::Verdict* backend_fault(const Context& context, DType dtype, Attention attention) {
  const auto facts = summarize(context.needs);
  const auto fault = [&](std::string_view op) { return context.evidence.fault(op, dtype); };
  if (attention == Attention::Math) return fault("attention.math");
  if (attention == Attention::ExplicitMask) return fault("attention.explicit_mask");
  if (facts.window) {
    if (const auto* window = fault("attention.window")) return window;
  }
  return fault(facts.causal ? "attention.fused_causal" : "attention.fused_full");
}

std::vector<Attention> preference(const Context& context, DType dtype) {
  if (!context.is(Kind::Mps)) {
    return {Attention::Flash, Attention::Efficient, Attention::ExplicitMask, Attention::Math};
  }
  // In half precision the mask costs nothing (the scores are written anyway) and cannot leak.
  if (is_half(dtype)) return {Attention::Efficient, Attention::ExplicitMask, Attention::Math};
  return {Attention::Efficient, Attention::Math, Attention::ExplicitMask};
}

std::string attention_reason(const Context& context, DType dtype, Attention attention) {
  const auto facts = summarize(context.needs);
  std::string reason;
  switch (attention) {
    case Attention::Flash:
      reason = context.is(Kind::Cpu) ? "torch's CPU flash kernel: no matrix of scores in memory"
                                     : "flash kernel of torch's SDPA: sm80 and half precision";
      break;
    case Attention::Efficient:
      reason = context.is(Kind::Mps)
                   ? "Metal's fused kernel, for inference"
                   : "memory-efficient kernel of torch's SDPA: no matrix of scores";
      break;
    case Attention::ExplicitMask:
      reason = "SDPA with the mask as a tensor: right where is_causal is not to be trusted";
      break;
    default:
      reason = context.is(Kind::Mps) && context.train()
                   ? "what torch runs on Metal under gradients: scores are written to memory"
                   : "plain matrix products: scores are written to memory";
  }
  if (facts.grouped && attention == Attention::Efficient && context.is(Kind::Cuda)) {
    reason += "; keys and values are repeated for grouped queries";
  }
  const char* op = attention == Attention::Math           ? "attention.math"
                   : attention == Attention::ExplicitMask ? "attention.explicit_mask"
                   : facts.causal                         ? "attention.fused_causal"
                                                          : "attention.fused_full";
  return reason + (context.evidence.proven(op, dtype) ? "; passed its probe" : "; not measured");
}

}  // namespace

Choice<Attention> choose_attention(const Context& context, DType dtype) {
  if (context.needs.attention.empty()) return {Attention::None, "the model has no attention", {}};
  const auto wish = context.wishes.attention;
  const auto order = wish ? std::vector<Attention>{*wish} : preference(context, dtype);
  Choice<Attention> choice;
  for (const auto attention : order) {
    const auto name = std::string(to_string(attention));
    if (const auto why = obstacle(context, dtype, attention); !why.empty()) {
      choice.rejected.push_back({name, why});
    } else if (const auto* fault = backend_fault(context, dtype, attention)) {
      choice.rejected.push_back({name, describe(*fault)});
    } else if (choice.reason.empty()) {
      choice.value = attention;
      choice.reason = wish ? "as asked" : attention_reason(context, dtype, attention);
    } else {
      choice.rejected.push_back({name, "slower, or more memory"});
    }
  }
  return choice;
}

}  // namespace ubique::plan
