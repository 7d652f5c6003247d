// SPDX-License-Identifier: Apache-2.0
// Every device rule of the five documents this project grew from: the rule where it is right, the
// better rule where it is not. docs/why/device-rules.md has the same list with the reasons.
#include "tests/plan/table.h"

using namespace ubique;
using namespace ubique::plan;

namespace {

Needs shipped_model(const std::string& name) {
  return read_needs_file(std::string(UBIQUE_SOURCE_DIR) + "/configs/needs/" + name + ".yaml");
}

probe::Report half_proven(const std::string& op) {
  std::vector<Verdict> verdicts;
  for (const auto dtype : {DType::F32, DType::BF16, DType::F16}) {
    const double ms = dtype == DType::F32 ? 2 : 1;
    verdicts.push_back(pass(op, dtype, Layout::Contiguous, ms));
    verdicts.push_back(pass("batch_norm3d", dtype));
  }
  return probed(verdicts);
}

}  // namespace

TEST_CASE("first origin (arc-meshchop: MeshNet on Mac, Linux and WSL2)") {
  const auto meshnet = shipped_model("meshnet26");
  const auto fp16 = "training: {use_fp16: true}";
  check_rows({
      // "CUDA: GradScaler enabled with use_fp16, autocast in float16"
      {"CUDA takes the fp16 of the file", "a100-80g", unmeasured, meshnet, fp16, "dtype=f16",
       "preferred"},
      {"and scales its loss", "a100-80g", unmeasured, meshnet, fp16, "grad_scaler=on", "underflow"},
      {"Turing without a wish", "t4", unmeasured, meshnet, "", "grad_scaler=on", ""},
      // "MPS has limited FP16 support: use FP32, no scaling": true until a probe says otherwise
      {"Metal unmeasured is f32", "m3-max-64g", unmeasured, meshnet, fp16, "dtype=f32",
       "not measured"},
      {"and scales nothing", "m3-max-64g", unmeasured, meshnet, fp16, "grad_scaler=off", ""},
      {"Metal measured takes the fp16 of the file", "m3-max-64g", half_proven("conv3d.dilated"),
       meshnet, fp16, "dtype=f16", "preferred"},
      {"with a scaler of our own", "m3-max-64g", half_proven("conv3d.dilated"), meshnet, fp16,
       "grad_scaler=on", "every device"},
      // "CPU: no scaler, float32"
      {"CPU", "cpu-server-amx", unmeasured, meshnet, fp16, "dtype=f32", ""},
      {"CPU scaler", "cpu-server-amx", unmeasured, meshnet, fp16, "grad_scaler=off", ""},
      // "autocast(device_type=...)" on every device
      {"autocast follows the dtype", "m3-max-64g", half_proven("conv3d.dilated"), meshnet, "",
       "autocast=on", ""},
      // "pin_memory" is platform-aware
      {"pinned on CUDA", "a100-80g", unmeasured, meshnet, "", "pinned_memory=on", ""},
      {"not on Metal", "m3-max-64g", unmeasured, meshnet, "", "pinned_memory=off", ""},
      // "torch.mps.empty_cache() periodically": after jobs; training has one shape
      {"cache after a job", "m3-max-64g", unmeasured, meshnet, "mode: run", "clear_cache=on", ""},
      {"no cache clearing in training", "m3-max-64g", unmeasured, meshnet, "", "clear_cache=off",
       "fixed shapes"},
  });
  // "No distributed training: single-GPU only" on MPS
  CHECK(contains(refusal(ErrorKind::Device, machine("m3-max-64g"), {}, meshnet, "world_size: 2"),
                 "not supported on MPS"));
  // "If not available, falls back": an explicit device that is missing is an error
  CHECK(contains(refusal(ErrorKind::Device, machine("m3-max-64g"), {}, meshnet, "device: cuda"),
                 "no such device"));
  // "fits comfortably in 4-8GB VRAM (FP16)": training at 256^3 does not
  CHECK(
      contains(refusal(ErrorKind::Device, machine("rtx2060-6g"), {}, meshnet, ""), "does not fit"));
  CHECK(
      contains(refusal(ErrorKind::Device, machine("rtx3070-8g"), {}, meshnet, ""), "does not fit"));
  check_rows({
      {"12 GB with checkpointing", "rtx3060-12g", unmeasured, meshnet, "", "checkpointing=on", ""},
      {"24 GB without", "rtx4090", unmeasured, meshnet, "", "checkpointing=off", ""},
      {"inference does fit in 6", "rtx2060-6g", unmeasured, meshnet, "mode: run", "micro_batch=1",
       ""},
  });
}

TEST_CASE("second origin (saliency: MSI-Net on Metal)") {
  const auto msinet = shipped_model("msinet");
  check_rows({
      // "metal: channels_last is required": the reverse is true in LibTorch
      {"Metal is contiguous", "m3-ultra-96g", unmeasured, msinet, "device: metal",
       "memory_format=contiguous", "slower"},
      // "gpu: channels_first": tensor cores want channels last
      {"CUDA is channels last", "rtx3090", unmeasured, msinet, "device: gpu",
       "memory_format=channels_last", "tensor cores"},
      // "cpu: channels_last"
      {"CPU is channels last", "cpu-laptop", unmeasured, msinet, "device: cpu",
       "memory_format=channels_last", ""},
      // "one GPU only"
      {"one device", "rtx3090", unmeasured, msinet, "", "distributed=none", ""},
  });
  // "warn if no Metal GPU is detected": asking for what is not there is an error
  CHECK(contains(refusal(ErrorKind::Device, machine("cpu-laptop"), {}, msinet, "device: metal"),
                 "no such device"));
  CHECK(contains(refusal(ErrorKind::Device, machine("m1-16g"), {}, msinet, "device: cuda"),
                 "expected auto or metal (mps)."));
  CHECK(contains(refusal(ErrorKind::Device, machine("h200"), {}, msinet, "device: tpu"),
                 "no such device"));
}

TEST_CASE("third origin (StarCoder on Metal and CUDA): dtype and attention") {
  const auto text = attention_model();
  check_rows({
      // "Metal: bf16 or float32, doesn't support fp16"
      {"Metal unmeasured", "m1-pro-16g", unmeasured, text, "", "dtype=f32", ""},
      {"f16 on M1 once proven", "m1-pro-16g", half_proven("matmul"), text, "", "dtype=f16",
       "bf16: emulated"},
      {"bf16 on M3 once proven", "m3-max-36g", half_proven("matmul"), text, "", "dtype=bf16",
       "passed its probes"},
      // "Supports bf16: True" on any CUDA device
      {"not on Turing", "rtx2060-12g", unmeasured, text, "", "dtype=f16", "emulated on sm75"},
      // "use bf16 when possible"
      {"Ampere", "rtx3070-8g", unmeasured, text, "", "dtype=bf16", ""},
      // "Ampere+: xFormers": flash through torch's own SDPA
      {"RTX 30", "rtx3070-8g", unmeasured, text, "", "attention=flash", ""},
      {"RTX 40", "rtx4090", unmeasured, text, "", "attention=flash", ""},
      // "Turing or older: PyTorch SDPA", which there is the memory-efficient kernel
      {"RTX 20", "rtx2060-12g", unmeasured, text, "", "attention=efficient", "sm75"},
      // "Metal FlashAttention if available, else SDPA": Metal FlashAttention's gradients are wrong
      {"Metal trains with what is right", "m3-max-36g", unmeasured, text, "", "attention=math", ""},
      {"Metal runs SDPA", "m3-max-36g", unmeasured, text, "mode: run", "attention=efficient", ""},
      // "CPU: native PyTorch attention"
      {"CPU", "cpu-laptop", unmeasured, text, "", "attention=flash", "CPU flash kernel"},
      // device_backend: {force_device: null, attention_backend: auto}
      {"the universal file", "rtx4090", unmeasured, text,
       "device_backend: {force_device: null, attention_backend: auto}", "attention=flash", ""},
      {"forced", "rtx4090", unmeasured, text,
       "device_backend: {force_device: cuda, attention_backend: sdpa}", "device=cuda:0", ""},
  });
}

TEST_CASE("third origin (StarCoder on Metal and CUDA): batch, checkpointing, memory") {
  const auto codelm = shipped_model("codelm-starcoder2-3b-lora");
  check_rows({
      // "gradient_checkpointing: false on Metal (can cause issues)": ours restores the generator
      {"Metal may checkpoint", "m1-pro-16g", unmeasured, codelm, "", "checkpointing=on", ""},
      // "gradient_checkpointing: true on CUDA": only when it is needed
      {"not without need", "h200", unmeasured, codelm,
       "optimization: {gradient_checkpointing: true}", "checkpointing=off", "enough fits"},
      // "batch_size 2 on Metal (conservative), 4+ on CUDA": predicted
      {"a large Mac takes more", "m4-max-128g", unmeasured, codelm, "", "micro_batch=8", ""},
      {"an H200 takes all", "h200", unmeasured, codelm, "", "micro_batch=16", ""},
      // "increase gradient accumulation instead of batch size when OOM"
      {"the rest is accumulated", "rtx4090", unmeasured, codelm, "", "accumulation=4",
       "keeps the effective batch at 16"},
      {"the file's product is kept", "m1-pro-16g", unmeasured, codelm,
       "optimization: {batch_size: 1, gradient_accumulation_steps: 16}", "effective_batch=16", ""},
  });
  // "RTX 2060 (8GB), context 512, batch 2": a 3B model's base alone is more than 6 GB
  CHECK(
      contains(refusal(ErrorKind::Device, machine("rtx2060-6g"), {}, codelm, ""), "does not fit"));
}

TEST_CASE(
    "third origin (StarCoder on Metal and CUDA): 80 % of RAM only where nothing better is known") {
  auto mac = machine("m1-pro-16g");
  CHECK(contains(device::memory_budget(mac).reason, "recommended working set"));
  mac.recommended_bytes = 0;
  const auto budget = device::memory_budget(mac);
  CHECK(contains(budget.reason, "80 %"));
  CHECK(budget.bytes == mac.total_bytes / 10 * 8);
}

TEST_CASE("fourth origin (AceForge: ACE-Step on macOS)") {
  const auto song = shipped_model("acestep");
  const auto proven = probed({pass("matmul", DType::F32, Layout::Contiguous, 2),
                              pass("matmul", DType::BF16, Layout::Contiguous, 1),
                              pass("linear", DType::F32), pass("linear", DType::BF16),
                              pass("conv2d", DType::F32), pass("conv2d", DType::BF16)});
  check_rows({
      // "MPS doesn't support bfloat16": it does from macOS 14 on, in hardware from M3 on
      {"bf16 on M4", "m4-max-64g", proven, song, "mode: run", "dtype=bf16", "passed its probes"},
      // "float16 or float32 automatically": 16 GB hold it in half precision only
      {"16 GB", "m1-16g", unmeasured, song, "mode: run", "dtype=f16", "f32 does not fit"},
      {"64 GB", "m1-max-64g", unmeasured, song, "mode: run", "dtype=f32", ""},
      // "ACE_PIPELINE_DTYPE=float32" (the command line turns it into this wish)
      {"asked for", "m4-max-64g", proven, song, "{mode: run, dtype: float32}", "dtype=f32",
       "as asked"},
      // "cudnn.benchmark = False": right here, because songs differ in length
      {"no autotuning", "rtx4090", unmeasured, song, "mode: run", "autotune=off", "every shape"},
      // "cudnn.deterministic = True": only if asked
      {"determinism is a wish", "rtx4090", unmeasured, song, "mode: run", "deterministic=off", ""},
      // "allow_tf32 = True" if CUDA is there, set_float32_matmul_precision("high") everywhere
      {"TF32 on Ada", "rtx4090", unmeasured, song, "mode: run", "tf32=on", ""},
      {"no TF32 on Turing", "t4", unmeasured, song, "mode: run", "tf32=off", ""},
      {"no TF32 on Metal", "m4-max-64g", unmeasured, song, "mode: run", "tf32=off", ""},
      // "MPS cache clearing"
      {"cache", "m4-max-64g", unmeasured, song, "mode: run", "clear_cache=on", ""},
      // "device-agnostic autocast"
      {"autocast", "m4-max-64g", proven, song, "mode: run", "autocast=on", ""},
  });
  // "start with conservative memory settings": predicted before anything loads
  CHECK(contains(refusal(ErrorKind::Device, machine("m1-8g"), {}, song, "mode: run"),
                 "needs 9.3 GiB"));
}

TEST_CASE("fifth origin (TinyRecursiveModels on Apple silicon)") {
  const auto trm = shipped_model("trm-sudoku");
  check_rows({
      // "torch.compile() not yet supported on MPS"
      {"no capture on Metal", "m3-max-36g", unmeasured, trm, "", "graph_capture=off", "Metal"},
      {"capture on CUDA", "h200", unmeasured, trm, "mode: run", "graph_capture=on", "inference"},
      {"of whole updates too", "h200", unmeasured, trm, "", "graph_capture=on", "update"},
      // "start with smaller batch for MPS: global_batch_size=8": the effective batch stays
      {"effective batch stays", "m3-max-36g", unmeasured, trm, "global_batch_size: 768",
       "effective_batch=768", "as asked"},
      {"Metal does it in parts", "m3-max-36g", unmeasured, trm, "global_batch_size: 768",
       "accumulation=3", ""},
      {"the H200 at once", "h200", unmeasured, trm, "global_batch_size: 768", "accumulation=1", ""},
      // bf16 gave its author NaNs on MPS: f32 until the probes have passed
      {"f32 on Metal", "m3-max-36g", unmeasured, trm, "arch: {forward_dtype: bfloat16}",
       "dtype=f32", "not measured"},
      {"bf16 on CUDA", "h200", unmeasured, trm, "arch: {forward_dtype: bfloat16}", "dtype=bf16",
       "preferred"},
      {"Turing has none", "t4", unmeasured, trm, "arch: {forward_dtype: bfloat16}", "dtype=f32",
       "emulated"},
  });
  // "Distributed training is not supported on MPS"
  CHECK(contains(
      refusal(ErrorKind::Device, machine("m3-max-36g"), {}, trm, "world_size: 2"),
      "Distributed training is not supported on MPS. Please use CUDA or run on a single device."));
}
