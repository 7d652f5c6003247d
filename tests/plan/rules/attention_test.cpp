// SPDX-License-Identifier: Apache-2.0
// Rules about attention kernels, per device.
#include "tests/plan/table.h"

using namespace ubique;
using namespace ubique::plan;

namespace {

Needs grouped_model() {
  auto needs = attention_model();
  needs.attention[0].kv_heads = 1;
  return needs;
}

Needs window_model() {
  auto needs = attention_model();
  needs.attention[0].window = 64;
  return needs;
}

Needs masked_model() {
  auto needs = attention_model(false);
  needs.attention[0].mask = true;
  return needs;
}

}  // namespace

TEST_CASE("attention: CUDA by capability, dtype and shape") {
  auto odd_heads = attention_model();
  odd_heads.attention[0].head_dim = 36;
  auto short_window = window_model();
  short_window.attention[0].window = 4096;  // longer than the sequence: no window at all
  check_rows({
      {"Ampere", "a100-80g", unmeasured, attention_model(), "", "attention=flash",
       "sm80 and half precision"},
      {"Ada", "rtx4090", unmeasured, attention_model(), "", "attention=flash", "not measured"},
      {"Hopper in f32", "h200", unmeasured, attention_model(), "dtype: f32", "attention=efficient",
       "flash: needs f16 or bf16"},
      {"Turing", "t4", unmeasured, attention_model(), "", "attention=efficient",
       "needs sm80 (Ampere); this is sm75"},
      {"Turing, grouped queries", "t4", unmeasured, grouped_model(), "", "attention=efficient",
       "repeated for grouped"},
      {"odd head size", "h200", unmeasured, odd_heads, "", "attention=efficient", "head size 36"},
      {"own mask", "h200", unmeasured, masked_model(), "", "attention=efficient", "takes no mask"},
      {"window", "h200", unmeasured, window_model(), "", "attention=flash",
       "knows no sliding window"},
      {"window on Turing", "t4", unmeasured, window_model(), "", "attention=explicit_mask",
       "mask as a tensor"},
      {"a window beyond the sequence", "t4", unmeasured, short_window, "", "attention=efficient",
       ""},
      {"none", "h200", unmeasured, linear_model(), "", "attention=none", "no attention"},
  });
}

TEST_CASE("attention: Metal by version, dtype and mode, and by probe where there is one") {
  const auto mac = machine("m3-max-36g");
  const auto old = with_torch(mac, "2.12.1");
  const auto proven = probed({pass("attention.fused_causal", DType::BF16)});
  const auto leak = probed(
      {fault("attention.fused_causal", DType::BF16), pass("attention.explicit_mask", DType::BF16)});
  check_rows({
      {"inference, torch 2.13", mac, unmeasured, attention_model(), "{mode: run, dtype: bf16}",
       "attention=efficient", "fused kernel"},
      {"inference, torch 2.12.1", old, unmeasured, attention_model(), "{mode: run, dtype: bf16}",
       "attention=explicit_mask", "three future tokens"},
      {"f16 leaks too", old, unmeasured, attention_model(), "{mode: run, dtype: f16}",
       "attention=explicit_mask", "before torch 2.13"},
      {"f32 does not leak", old, unmeasured, attention_model(), "{mode: run, dtype: f32}",
       "attention=efficient", ""},
      {"no causal mask, no leak", old, unmeasured, attention_model(false),
       "{mode: run, dtype: f16}", "attention=efficient", ""},
      {"an old torch that passes its probe", old, proven, attention_model(),
       "{mode: run, dtype: bf16}", "attention=efficient", "passed its probe"},
      {"a new torch that fails it", mac, leak, attention_model(), "{mode: run, dtype: bf16}",
       "attention=explicit_mask", "efficient: attention.fused_causal/bf16"},
      {"training in f32", mac, unmeasured, attention_model(), "", "attention=math",
       "composite path"},
      {"training in half", mac, unmeasured, attention_model(), "dtype: bf16",
       "attention=explicit_mask", ""},
  });
}

TEST_CASE("attention: CPU") {
  auto dropout = attention_model();
  dropout.attention[0].dropout = true;
  check_rows({
      {"plain", "cpu-laptop", unmeasured, attention_model(), "", "attention=flash",
       "CPU flash kernel"},
      {"dropout", "cpu-laptop", unmeasured, dropout, "", "attention=explicit_mask", "no dropout"},
      {"window", "cpu-laptop", unmeasured, window_model(), "", "attention=explicit_mask",
       "no sliding window"},
      {"flash is wrong", "cpu-laptop", probed({fault("attention.fused_causal", DType::F32)}),
       attention_model(), "", "attention=explicit_mask", "failed its probe"},
      {"mask is wrong too", "cpu-laptop",
       probed({fault("attention.fused_causal", DType::F32),
               fault("attention.explicit_mask", DType::F32)}),
       attention_model(), "", "attention=math", ""},
  });
}

TEST_CASE("attention: a dtype without a correct attention kernel is not used") {
  const auto report =
      probed({fault("attention.fused_causal", DType::BF16),
              fault("attention.explicit_mask", DType::BF16), fault("attention.math", DType::BF16)});
  check_rows({
      {"f16 instead", "h200", report, attention_model(), "", "dtype=f16", "bf16: math attention"},
  });
}

TEST_CASE("attention: wishes") {
  check_rows({
      {"as asked", "h200", unmeasured, attention_model(), "attention: math", "attention=math",
       "as asked"},
      {"xformers chooses", "h200", unmeasured, attention_model(),
       "device_backend: {attention_backend: xformers}", "attention=flash", ""},
      {"on Turing too", "t4", unmeasured, attention_model(),
       "device_backend: {attention_backend: xformers}", "attention=efficient", ""},
      {"native", "h200", unmeasured, attention_model(),
       "device_backend: {attention_backend: native}", "attention=math", "as asked"},
  });
  CHECK(contains(
      refusal(ErrorKind::Device, machine("m3-max-36g"), {}, attention_model(), "attention: flash"),
      "no flash attention in torch for Metal"));
  CHECK(
      contains(refusal(ErrorKind::Device, machine("t4"), {}, attention_model(), "attention: flash"),
               "sm75"));
  CHECK(contains(refusal(ErrorKind::Device, machine("h200"), {}, attention_model(),
                         "{attention: flash, numerics: strict}"),
                 "needs f16 or bf16"));
  const auto wrong = probed({fault("attention.fused_causal", DType::F32),
                             fault("attention.fused_causal", DType::BF16),
                             fault("attention.fused_causal", DType::F16)});
  CHECK(contains(
      refusal(ErrorKind::Device, machine("h200"), wrong, attention_model(), "attention: efficient"),
      "attention.fused_causal"));
}
