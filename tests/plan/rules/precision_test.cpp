// SPDX-License-Identifier: Apache-2.0
// Rules about dtype, autocast and loss scaling.
#include "tests/plan/table.h"

using namespace ubique;
using namespace ubique::plan;

namespace {

// matmul in one dtype, timed; 1 ms is far above what a launch takes.
Verdict matmul(DType dtype, double ms) { return pass("matmul", dtype, Layout::Contiguous, ms); }

}  // namespace

TEST_CASE("dtype: defaults of each kind of device where nothing was measured") {
  const auto needs = linear_model();
  check_rows({
      {"Ampere", "a100-80g", unmeasured, needs, "", "dtype=bf16",
       "not measured: default for CUDA sm80"},
      {"Ada", "rtx4090", unmeasured, needs, "", "dtype=bf16", "no loss scaling"},
      {"Hopper rejects f16", "h200", unmeasured, needs, "", "dtype=bf16",
       "f16: needs loss scaling"},
      {"Turing", "t4", unmeasured, needs, "", "dtype=f16", "bf16: emulated on sm75"},
      {"Metal, M1", "m1-16g", unmeasured, needs, "", "dtype=f32",
       "not measured: default for Metal"},
      {"Metal, M4", "m4-max-64g", unmeasured, needs, "", "dtype=f32", "until probes have passed"},
      {"CPU with AVX2", "cpu-laptop", unmeasured, needs, "", "dtype=f32",
       "neither AMX nor AVX-512-BF16"},
      {"CPU with AMX", "cpu-server-amx", unmeasured, needs, "", "dtype=f32", "not measured"},
  });
}

TEST_CASE("dtype: the verdicts of probes decide") {
  const auto needs = linear_model();
  const auto all_pass =
      probed({matmul(DType::F32, 1), matmul(DType::BF16, 0.6), matmul(DType::F16, 0.5)});
  const auto untimed = probed({pass("matmul", DType::F32), pass("matmul", DType::BF16)});
  const auto slow =
      probed({matmul(DType::F32, 1), matmul(DType::BF16, 1.4), matmul(DType::F16, 1.5)});
  const auto bf16_wrong =
      probed({matmul(DType::F32, 1), fault("matmul", DType::BF16), matmul(DType::F16, 0.5)});
  const auto no_autocast = probed({matmul(DType::F32, 1), matmul(DType::BF16, 0.6),
                                   fault("autocast.effective_dtype", DType::BF16)});
  const auto f32_wrong = probed({fault("matmul", DType::F32), matmul(DType::BF16, 1)});
  check_rows({
      {"M3 with passing bf16", "m3-max-36g", all_pass, needs, "", "dtype=bf16",
       "0.60 of f32's time"},
      {"M3, proven but not timed", "m3-max-36g", untimed, needs, "", "dtype=bf16",
       "passed its probes"},
      {"M1 emulates bf16", "m1-16g", all_pass, needs, "", "dtype=f16", "emulated on M1 and M2"},
      {"M3 where bf16 is slower", "m3-max-36g", slow, needs, "", "dtype=f32", "1.40 of f32's time"},
      {"bf16 wrong on M3", "m3-max-36g", bf16_wrong, needs, "", "dtype=f16",
       "matmul/bf16/contiguous failed"},
      {"autocast silently off", "m3-max-36g", no_autocast, needs, "", "dtype=f32",
       "autocast.effective_dtype"},
      {"f32 itself wrong", "m3-max-36g", f32_wrong, needs, "", "dtype=bf16", "f32: matmul/f32"},
      {"AMX measured faster", "cpu-server-amx", all_pass, needs, "", "dtype=bf16", "0.60"},
      {"AMX measured slower", "cpu-server-amx", slow, needs, "", "dtype=f32", "no gain"},
      {"AMX proven but not timed", "cpu-server-amx", untimed, needs, "", "dtype=f32", ""},
      {"AVX2 stays f32 whatever was timed", "cpu-laptop", all_pass, needs, "", "dtype=f32", "bf16"},
      {"CUDA where bf16 is far slower", "rtx4090", slow, needs, "", "dtype=f32", "1.40"},
      {"CUDA where bf16 is wrong", "rtx4090", bf16_wrong, needs, "", "dtype=f16", "bf16: matmul"},
  });
}

TEST_CASE("dtype: a small op that is wrong rules the dtype out, one that is refused does not") {
  const auto needs = linear_model();
  const auto with = [](Verdict verdict) {
    return probed({matmul(DType::F32, 1), matmul(DType::BF16, 0.6), matmul(DType::F16, 0.5),
                   std::move(verdict)});
  };
  const auto wrong = with(fault("elementary.pointwise", DType::BF16));
  const auto refused = with(verdict(Outcome::Refused, "elementary.index", DType::BF16));
  const auto pooling = with(fault("image", DType::BF16));
  check_rows({
      {"wrong in bf16", "h200", wrong, needs, "", "dtype=f16", "bf16: elementary.pointwise/bf16"},
      {"refused in bf16", "h200", refused, needs, "", "dtype=bf16", "passed its probes"},
      {"a model without pictures", "h200", pooling, needs, "", "dtype=bf16", "passed its probes"},
      {"one with pictures", "h200", pooling, conv_model(2), "", "dtype=f16", "bf16: image/bf16"},
  });
  // Losses and norms stay in f32 under autocast: no dtype is right without them.
  const auto nowhere = refusal(ErrorKind::Device, machine("h200"),
                               with(fault("elementary.loss", DType::F32)), needs, "");
  CHECK(contains(nowhere, "no dtype gives"));
  CHECK(contains(nowhere, "--device cpu"));
}

TEST_CASE("dtype: the candidates are f32 and the first half precision that may be used") {
  const auto candidates = [](const char* profile, const std::string& wishes) {
    std::string names;
    for (const auto dtype :
         dtype_candidates(machine(profile), linear_model(), wishes_from(wishes))) {
      names += std::string(to_string(dtype)) + " ";
    }
    return names;
  };
  CHECK(candidates("h200", "") == "f32 bf16 ");
  CHECK(candidates("t4", "") == "f32 f16 ");
  CHECK(candidates("cpu-laptop", "") == "f32 ");
  CHECK(candidates("cpu-server-amx", "") == "f32 bf16 ");
  CHECK(candidates("h200", "numerics: strict") == "f32 ");
  CHECK(candidates("h200", "dtype: f16") == "f16 ");
}

TEST_CASE("dtype: probes that only timed a launch do not count on accelerators") {
  const auto tiny = probed({matmul(DType::F32, 0.01), matmul(DType::BF16, 0.04)});
  check_rows({
      {"GPU", "h200", tiny, linear_model(), "", "dtype=bf16", "passed its probes"},
      {"CPU", "cpu-server-amx", tiny, linear_model(), "", "dtype=f32", "4.00"},
  });
}

TEST_CASE("dtype: gradient verdicts count in training only") {
  const auto report = probed({matmul(DType::F32, 1), matmul(DType::BF16, 0.5),
                              matmul(DType::F16, 0.5), gradient(fault("matmul", DType::BF16))});
  check_rows({
      {"train", "h200", report, linear_model(), "", "dtype=f16", "gradient failed"},
      {"run", "h200", report, linear_model(), "mode: run", "dtype=bf16", "passed"},
  });
}

TEST_CASE("dtype: wishes") {
  auto intolerant = linear_model();
  intolerant.tolerates_bf16 = intolerant.tolerates_f16 = false;
  const auto needs = linear_model();
  check_rows({
      {"asked", "h200", unmeasured, needs, "dtype: fp16", "dtype=f16", "as asked"},
      {"long name", "h200", unmeasured, needs, "dtype: torch.bfloat16", "dtype=bf16", "as asked"},
      {"f64 on CUDA", "h200", unmeasured, needs, "dtype: f64", "dtype=f64", "as asked"},
      {"emulated, said so", "t4", unmeasured, needs, "dtype: bf16", "dtype=bf16", "emulated"},
      {"f16 on a CPU", "cpu-laptop", unmeasured, needs, "dtype: fp16", "dtype=f16",
       "as asked; no f16 arithmetic on this CPU: emulated, slower than f32"},
      {"bf16 on M1", "m1-16g", unmeasured, needs, "dtype: bf16", "dtype=bf16",
       "as asked; emulated on M1 and M2: no gain over f16"},
      {"strict", "h200", unmeasured, needs, "numerics: strict", "dtype=f32", "strict"},
      {"intolerant model", "h200", unmeasured, intolerant, "", "dtype=f32", "does not tolerate"},
      {"soft preference kept", "h200", unmeasured, needs, "training: {use_fp16: true}", "dtype=f16",
       "preferred"},
      {"soft preference gives way", "t4", unmeasured, needs, "model: {use_bf16: true}", "dtype=f16",
       "bf16, as preferred, was given up: emulated on sm75"},
      {"mixed precision off", "h200", unmeasured, needs, "training: {use_mixed_precision: false}",
       "dtype=f32", "off"},
      {"a preference for Metal", "m2-16g", unmeasured, needs, "model: {mps_prefer_fp16: true}",
       "dtype=f16", "preferred"},
      {"which others ignore", "h200", unmeasured, needs, "model: {mps_prefer_fp16: true}",
       "dtype=bf16", ""},
  });
}

TEST_CASE("dtype: old macOS has no bf16") {
  const auto old = with_os(machine("m3-16g"), "macOS 13.6");
  const auto report =
      probed({matmul(DType::F32, 1), matmul(DType::BF16, 0.5), matmul(DType::F16, 0.5)});
  check_rows({
      {"auto", old, report, linear_model(), "", "dtype=f16", "needs macOS 14"},
  });
  CHECK(contains(refusal(ErrorKind::Device, old, {}, linear_model(), "dtype: bf16"), "macOS 14"));
}

TEST_CASE("dtype: half precision on Metal if f32 does not fit") {
  auto needs = linear_model();
  needs.parameters[0].count = 3'000'000'000;
  needs.parameters[0].trainable = false;
  needs.activations.saved = 0;
  check_rows({
      {"half fits", "m4-16g", unmeasured, needs, "mode: run", "dtype=bf16", "f32 does not fit"},
      {"M1 takes f16", "m1-16g", unmeasured, needs, "mode: run", "dtype=f16", "f32: does not fit"},
      {"more memory", "m4-max-36g", unmeasured, needs, "mode: run", "dtype=f32", "f32 fits"},
  });
}

TEST_CASE("autocast and loss scaling follow the dtype on every device") {
  const auto needs = linear_model();
  const auto f16 = probed({matmul(DType::F32, 1), matmul(DType::F16, 0.5)});
  check_rows({
      {"bf16 needs no scaler", "h200", unmeasured, needs, "", "grad_scaler=off", "exponent range"},
      {"f16 on CUDA", "t4", unmeasured, needs, "", "grad_scaler=on", "underflow"},
      {"f16 on Metal", "m1-16g", f16, needs, "", "grad_scaler=on", "every device"},
      {"f32", "cpu-laptop", unmeasured, needs, "", "grad_scaler=off", "do not underflow"},
      {"inference", "t4", unmeasured, needs, "mode: run", "grad_scaler=off", "no gradients"},
      {"bf16", "h200", unmeasured, needs, "", "autocast=on", "master weights"},
      {"f32", "h200", unmeasured, needs, "dtype: f32", "autocast=off",
       "everything computes in f32"},
      {"half on Metal", "m1-16g", f16, needs, "", "autocast=on", ""},
      {"fast inference", "h200", unmeasured, needs, "{mode: run, numerics: fast}", "autocast=off",
       "fast"},
      {"inference", "h200", unmeasured, needs, "mode: run", "autocast=on", "softmax in f32"},
  });
}

TEST_CASE("dtype: impossible wishes are refused before anything runs, naming the verdict") {
  const auto bad = probed({fault("matmul", DType::BF16)});
  auto message =
      refusal(ErrorKind::Device, machine("m3-max-36g"), bad, linear_model(), "dtype: bf16");
  CHECK(contains(message, "matmul/bf16/contiguous failed its probe"));
  CHECK(contains(message, "tolerance 0.001"));
  auto stopped = fault("matmul", DType::BF16);
  stopped.error = stopped.tolerance = 0;
  stopped.detail = "no primitive";
  message = refusal(ErrorKind::Device, machine("m3-max-36g"), probed({stopped}), linear_model(),
                    "dtype: bf16");
  CHECK(contains(message, "matmul/bf16/contiguous failed its probe (no primitive)"));
  auto refused = pass("matmul", DType::F16);
  refused.outcome = Outcome::Refused;
  refused.detail = "no half";
  message =
      refusal(ErrorKind::Device, machine("t4"), probed({refused}), linear_model(), "dtype: f16");
  CHECK(contains(message, "refused by the device (no half)"));
  CHECK(contains(refusal(ErrorKind::Device, machine("m3-16g"), {}, linear_model(), "dtype: f64"),
                 "Metal has no float64"));
  auto intolerant = linear_model();
  intolerant.tolerates_f16 = false;
  CHECK(contains(refusal(ErrorKind::Usage, machine("t4"), {}, intolerant, "dtype: f16"),
                 "does not tolerate f16"));
  const auto nothing_right = probed(
      {fault("matmul", DType::F32), fault("matmul", DType::BF16), fault("matmul", DType::F16)});
  CHECK(contains(refusal(ErrorKind::Device, machine("m3-16g"), nothing_right, linear_model(), ""),
                 "--device cpu"));
}
