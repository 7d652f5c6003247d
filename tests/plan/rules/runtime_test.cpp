// SPDX-License-Identifier: Apache-2.0
// Rules about kernels, graph capture, copies, threads, numerics, processes and workarounds.
#include "tests/plan/table.h"

using namespace ubique;
using namespace ubique::plan;

namespace {

Needs varying_model() {
  auto needs = conv_model(2);
  needs.fixed_shapes = false;
  return needs;
}

bool has_workaround(const Plan& plan, const std::string& id, const std::string& word) {
  for (const auto& item : plan.workarounds) {
    if (item.id == id && contains(item.why, word)) return true;
  }
  return false;
}

Plan plan_for(const device::Facts& facts, const probe::Report& report, const Needs& needs,
              const std::string& wishes = "") {
  return make_plan(facts, report, needs, wishes_from(wishes));
}

}  // namespace

TEST_CASE("runtime: graphs, kernels, pinned memory and copies") {
  auto host_bound = conv_model(2);
  host_bound.graph_capturable = false;
  auto varying_updates = varying_model();
  varying_updates.train_capturable = true;
  auto repeated = varying_updates;
  repeated.shapes_repeat = true;
  auto volta = machine("t4");
  volta.capability = 70;
  const auto stale = probed({fault("transfer.non_blocking", DType::F32)});
  check_rows({
      {"CUDA", "h200", unmeasured, conv_model(2), "mode: run", "graph_capture=on", "one launch"},
      {"training", "h200", unmeasured, conv_model(2), "", "graph_capture=off", "not"},
      {"Metal never", "m3-max-36g", unmeasured, conv_model(2), "", "graph_capture=off",
       "torch.compile"},
      {"CPU", "cpu-laptop", unmeasured, conv_model(2), "", "graph_capture=off", "CUDA only"},
      {"varying shapes", "h200", unmeasured, varying_model(), "mode: run", "graph_capture=on",
       "repeat within"},
      {"varying batches", "h200", unmeasured, varying_updates, "", "graph_capture=off",
       "shapes vary"},
      {"batches of a few shapes", "h200", unmeasured, repeated, "", "graph_capture=on", "of each"},
      {"host in the loop", "h200", unmeasured, host_bound, "mode: run", "graph_capture=off",
       "synchronises with the host"},
      {"unwanted", "h200", unmeasured, conv_model(2), "graph_capture: off", "graph_capture=off",
       "as asked"},
      {"CUDA", "h200", unmeasured, conv_model(2), "", "fused_kernels=on", "one pass"},
      {"before Turing", volta, unmeasured, conv_model(2), "", "fused_kernels=off", "sm75"},
      {"Metal", "m3-max-36g", unmeasured, conv_model(2), "", "fused_kernels=off",
       "no kernels of our own"},
      {"CUDA", "t4", unmeasured, conv_model(2), "", "pinned_memory=on", "overlap"},
      {"Metal", "m3-max-36g", unmeasured, conv_model(2), "", "pinned_memory=off", "CUDA only"},
      {"CPU", "cpu-laptop", unmeasured, conv_model(2), "", "pinned_memory=off", "CUDA only"},
      {"an old file that says false", "t4", unmeasured, conv_model(2),
       "training: {pin_memory: false}", "pinned_memory=off", "as asked"},
      {"an old file that says true, on a Mac", "m3-max-36g", unmeasured, conv_model(2),
       "training: {pin_memory: true}", "pinned_memory=off", "CUDA only"},
      {"CUDA", "t4", unmeasured, conv_model(2), "", "non_blocking=on", "pinned"},
      {"Metal", "m3-max-36g", unmeasured, conv_model(2), "", "non_blocking=off", "stale"},
      {"a device that fails the probe", "t4", stale, conv_model(2), "", "non_blocking=off",
       "transfer.non_blocking"},
  });
  CHECK(contains(
      refusal(ErrorKind::Device, machine("m3-max-36g"), {}, conv_model(2), "graph_capture: on"),
      "Metal"));
  CHECK(contains(
      refusal(ErrorKind::Device, machine("m3-max-36g"), {}, conv_model(2), "pin_memory: on"),
      "CUDA only"));
  CHECK(contains(refusal(ErrorKind::Device, machine("m3-max-36g"), {}, conv_model(2), "fused: on"),
                 "no kernels"));
}

TEST_CASE("runtime: threads") {
  check_rows({
      {"accelerator", "h200", unmeasured, conv_model(2), "", "prefetch_threads=4",
       "threads, not processes"},
      {"two cores", "ci-2core", unmeasured, conv_model(2), "", "prefetch_threads=1", "quarter"},
      {"many cores", "cpu-server-amx", unmeasured, conv_model(2), "", "prefetch_threads=4",
       "56 cores"},
      {"asked", "h200", unmeasured, conv_model(2), "prefetch_threads: 0", "prefetch_threads=0",
       "as asked"},
      {"old key", "h200", unmeasured, conv_model(2), "training: {num_workers: 7}",
       "prefetch_threads=7", "as asked"},
      {"all cores compute", "cpu-desktop", unmeasured, conv_model(2), "", "compute_threads=16",
       "every core"},
      {"asked", "cpu-desktop", unmeasured, conv_model(2), "threads: 3", "compute_threads=3",
       "as asked"},
      {"not the CPU's work", "t4", unmeasured, conv_model(2), "", "compute_threads=0",
       "device computes"},
  });
}

TEST_CASE("numerics: TF32, determinism, autotuning") {
  check_rows({
      {"Ampere", "a100-40g", unmeasured, conv_model(2), "", "tf32=on", "balanced"},
      {"strict", "a100-40g", unmeasured, conv_model(2), "numerics: strict", "tf32=off",
       "f32 means f32"},
      {"Turing", "t4", unmeasured, conv_model(2), "", "tf32=off", "sm80"},
      {"Metal", "m3-max-36g", unmeasured, conv_model(2), "", "tf32=off", "CUDA"},
      {"not asked", "h200", unmeasured, conv_model(2), "", "deterministic=off", "--deterministic"},
      {"asked", "h200", unmeasured, conv_model(2), "deterministic: true", "deterministic=on",
       "as asked"},
      {"old key", "h200", unmeasured, conv_model(2), "training: {deterministic_mode: true}",
       "deterministic=on", "as asked"},
      {"CPU", "cpu-laptop", unmeasured, conv_model(2), "", "deterministic=on", "number of threads"},
      {"cuDNN", "h200", unmeasured, conv_model(2), "", "autotune=on", "once"},
      {"deterministic", "h200", unmeasured, conv_model(2), "deterministic: true", "autotune=off",
       "run to run"},
      {"varying shapes", "h200", unmeasured, varying_model(), "", "autotune=off", "every shape"},
      {"Metal", "m3-max-36g", unmeasured, conv_model(2), "", "autotune=off", "cuDNN"},
  });
}

TEST_CASE("distributed: NCCL on CUDA, Gloo on CPUs, refused on Metal with the known message") {
  check_rows({
      {"one", "h200", unmeasured, conv_model(2), "", "distributed=none", "one process"},
      {"CUDA", "h200", unmeasured, conv_model(2), "world_size: 8", "distributed=nccl",
       "gloo: gradients too"},
      {"CPU", "cpu-laptop", unmeasured, conv_model(2), "world_size: 2", "distributed=gloo",
       "nccl: needs CUDA"},
  });
  const auto message =
      refusal(ErrorKind::Device, machine("m3-max-36g"), {}, conv_model(2), "world_size: 2");
  CHECK(contains(
      message,
      "Distributed training is not supported on MPS. Please use CUDA or run on a single device."));
}

TEST_CASE("device: named, refused if it is another, remarked on if slow or untested") {
  auto slow = pass("conv2d", DType::F32, Layout::Contiguous, 3);
  slow.cpu_ms = 1;
  auto xpu = machine("cpu-laptop");
  xpu.backend = "xpu";
  xpu.kind = device::Kind::Xpu;
  xpu.untested = "XPU";
  auto here = machine("h200");
  here.profile.clear();
  check_rows({
      {"profile", "h200", unmeasured, conv_model(2), "", "device=cuda:0", "not here"},
      {"detected", here, unmeasured, conv_model(2), "", "device=cuda:0", "found here"},
      {"metal is mps", "m3-max-36g", unmeasured, conv_model(2), "device: metal", "device=mps", ""},
      {"gpu is any accelerator", "m3-max-36g", unmeasured, conv_model(2), "device: gpu",
       "device=mps", ""},
      {"index", "h200", unmeasured, conv_model(2), "device: 'cuda:0'", "device=cuda:0", ""},
      {"slower than the CPU", "m1-8g", probed({slow}), conv_model(2), "", "device=mps",
       "slower here than on this CPU"},
      {"untested", xpu, unmeasured, conv_model(2), "", "device=xpu", "never tested by us"},
  });
  CHECK(
      contains(refusal(ErrorKind::Device, machine("m3-max-36g"), {}, conv_model(2), "device: cuda"),
               "no such device"));
  CHECK(
      contains(refusal(ErrorKind::Device, machine("cpu-laptop"), {}, conv_model(2), "device: gpu"),
               "no such device"));
  CHECK(contains(refusal(ErrorKind::Device, machine("h200"), {}, conv_model(2),
                         "device_backend: {force_device: mps}"),
                 "no such device"));
}

TEST_CASE("caches: cleared on Metal when shapes vary or a job ends") {
  check_rows({
      {"fixed shapes", "m3-max-36g", unmeasured, conv_model(2), "", "clear_cache=off",
       "does not grow"},
      {"varying shapes", "m3-max-36g", unmeasured, varying_model(), "", "clear_cache=on", "grows"},
      {"inference", "m3-max-36g", unmeasured, conv_model(2), "mode: run", "clear_cache=on",
       "after a job"},
      {"CUDA", "h200", unmeasured, varying_model(), "", "clear_cache=off", "saves time"},
  });
}

TEST_CASE("workarounds: faults that the engine can work around") {
  const auto mac = machine("m3-max-36g");
  auto lora = attention_model();
  lora.ops.push_back("layer_norm.frozen_input");
  lora.ops.push_back("cumsum");
  lora.attention[0].kv_heads = 1;
  const auto faults =
      probed({fault("layer_norm.frozen_input", DType::F32), fault("views.sliced", DType::BF16),
              fault("views.strided", DType::F32), fault("attention.gqa", DType::F32),
              fault("cumsum", DType::F32), pass("matmul", DType::F32)});
  const auto plan = plan_for(mac, faults, lora, "dtype: f32");
  CHECK(has_workaround(plan, "input_requires_grad", "layer_norm.frozen_input/f32"));
  CHECK(has_workaround(plan, "contiguous_inputs", "views.strided"));
  CHECK(has_workaround(plan, "repeat_kv", "attention.gqa"));
  CHECK(has_workaround(plan, "cumsum_on_host", "cumsum"));
  CHECK(plan.workarounds.size() == 4);
  CHECK(plan_for(mac, {}, lora).workarounds.empty());
  CHECK_FALSE(has_workaround(plan_for(mac, faults, lora, "mode: run"), "input_requires_grad", ""));
}

TEST_CASE("workarounds: known limits of Metal") {
  auto needs = small_model();
  needs.convs = {{.dims = 1, .in = 8, .out = 8, .length = 100'000}};
  needs.ops = {"float64"};
  needs.fixed_shapes = false;
  const auto old = plan_for(with_os(machine("m1-16g"), "macOS 14.5"), {}, needs);
  CHECK(has_workaround(old, "tile_conv1d", "macOS 15.1"));
  CHECK(has_workaround(old, "float64_on_host", "no float64"));
  CHECK(has_workaround(old, "shape_buckets", "every shape"));
  CHECK_FALSE(has_workaround(plan_for(machine("m1-16g"), {}, needs), "tile_conv1d", ""));
  CHECK(plan_for(machine("h200"), {}, needs).workarounds.empty());
}
